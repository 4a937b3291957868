package quant

// gptq rounds a row column by column, and moves each column by what those before it leave to make up for: with
// H = R·Rᵀ and R an upper triangle, the output changes by the sum over j of (Σ_{i≤j} Δ_i·R_ij)², and the j-th term is
// least when column j is rounded from w_j + Σ_{i<j} Δ_i·R_ij/R_jj. This is the rounding of GPTQ (arXiv:2210.17323) in
// the form of QuIP (arXiv:2307.13304, section 4), which proves the two the same. Groups, scales and zero points are
// those of the row before any of it is rounded, so that columns may be taken in any order.
type gptq struct {
	integers
	h *Hessian
	d []float32 // what rounding changed
}

func newGPTQ(s *Survey) (Coder, error) {
	plain := newIntegers(s, 4, 128, true, scaleF16)
	if s.Inputs == nil {
		return plain, nil // no input but 0
	}
	h, err := s.Inputs.Hessian()
	if err != nil {
		return nil, err
	}
	return &gptq{integers: *plain, h: h, d: make([]float32, s.Cols)}, nil
}

func (c *gptq) Encode(dst []byte, x, w []float32) {
	n := c.groups()
	ds, zs := make([]float32, n), make([]int32, n)
	zeros := dst[c.zerosAt():]
	clear(zeros)
	for g := range n {
		from, to := g*c.group, min((g+1)*c.group, c.cols)
		ds[g], zs[g] = c.choose(x[from:to], w[from:to])
		c.scale.put(dst[c.codeBytes()+g*c.scale.bytes:], ds[g])
		c.putCode(zeros, g, zs[g])
	}
	for b := range c.h.Blocks {
		c.block(dst, x, b, ds, zs)
	}
}

// block rounds the columns of one block of the Hessian.
func (c *gptq) block(dst []byte, x []float32, b int, ds []float32, zs []int32) {
	f, at := &c.h.Blocks[b], b*c.h.Size
	lo, hi := c.low(), c.high()
	for j, o := range f.Order {
		i := at + int(o)
		g := i / c.group
		v := x[i] + dot(f.Back[j], c.d)
		q := zs[g]
		if inverse(ds[g]) != 0 {
			q = max(lo, min(hi, nearest(clip(v/ds[g]))+q))
		}
		c.d[j] = x[i] - float32(q-zs[g])*ds[g]
		c.putEither(dst, i, q)
	}
}

// putEither stores a code in any order, leaving the other half of its byte.
func (c *gptq) putEither(dst []byte, i int, q int32) {
	u, shift := byte(q-c.low()), i%2*4
	dst[i/2] = dst[i/2]&^(15<<shift) | u<<shift
}
