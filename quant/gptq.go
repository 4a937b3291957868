package quant

// gptq rounds a row column by column, and adjusts each column to compensate for the errors of those before: with H =
// R·Rᵀ and R upper triangular, the output changes by the sum over j of (Σ_{i≤j} Δ_i·R_ij)², and the j-th term is
// minimal if column j is rounded from w_j + Σ_{i<j} Δ_i·R_ij/R_jj. This is GPTQ's rounding (arXiv:2210.17323) in the
// form of QuIP (arXiv:2307.13304, section 4), which proves them equal. Scales are those of the unrounded row, so that
// columns may be processed in any order. It encodes a row at a time.
type gptq struct {
	of          stepped
	cols        int
	elems, size int // of a unit
	run, top    int
	h           *Hessian

	step, low []float32 // by run of the row
	q         []uint8
	d         []float32 // rounding errors
}

// newGPTQ applies this rounding to the codes of another format; it returns that format itself if nothing is known of
// the inputs.
func newGPTQ(c stepped, s *Survey) (Coder, error) {
	if s.Inputs == nil {
		return c, nil // no input but 0
	}
	h, err := s.Inputs.Hessian()
	if err != nil {
		return nil, err
	}
	g := &gptq{of: c, cols: int(s.Cols), h: h}
	g.elems, g.size = c.Unit()
	g.run, g.top = c.runs()
	return g.fresh(), nil
}

// fresh returns a copy for concurrent use.
func (c *gptq) fresh() *gptq {
	g := *c
	runs := (g.elems + g.run - 1) / g.run * (g.cols / g.elems)
	g.step, g.low = make([]float32, runs), make([]float32, runs)
	g.q, g.d = make([]uint8, g.cols), make([]float32, g.cols)
	return &g
}

func (c *gptq) Unit() (int, int) { return c.cols, c.cols / c.elems * c.size }

func (c *gptq) Decode(x []float32, src []byte) {
	for at := 0; at < c.cols; at += c.elems {
		c.of.Decode(x[at:at+c.elems], src[at/c.elems*c.size:])
	}
}

func (c *gptq) Encode(dst []byte, x, w []float32) {
	per := (c.elems + c.run - 1) / c.run
	for u := range c.cols / c.elems {
		from, to, unit := u*c.elems, (u+1)*c.elems, dst[u*c.size:(u+1)*c.size]
		c.of.Encode(unit, x[from:to], w[from:to])
		c.of.steps(unit, c.step[u*per:(u+1)*per], c.low[u*per:(u+1)*per])
	}
	for b := range c.h.Blocks {
		c.block(x, b, per)
	}
	for u := range c.cols / c.elems {
		c.of.place(dst[u*c.size:(u+1)*c.size], c.q[u*c.elems:(u+1)*c.elems])
	}
}

// block rounds the columns of one block of the Hessian.
func (c *gptq) block(x []float32, b, per int) {
	f, at := &c.h.Blocks[b], b*c.h.Size
	top := int32(c.top)
	for j, o := range f.Order {
		i := at + int(o)
		r := i/c.elems*per + i%c.elems/c.run
		step, low := c.step[r], c.low[r]
		q := int32(0)
		if inverse(step) != 0 {
			q = max(0, min(top, nearest(clip((x[i]+dot(f.Back[j], c.d)-low)/step))))
		}
		c.q[i] = uint8(q)
		c.d[j] = x[i] - (float32(q)*step + low)
	}
}
