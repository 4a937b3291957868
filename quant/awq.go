package quant

import "math"

// awq multiplies columns by powers of their inputs' magnitude before rounding and divides by them afterwards, which
// shifts precision to columns with large inputs; files hold the multiplied matrix, and the preceding layer divides
// (arXiv:2306.00978, section 3.2). The power is the one with the least error on some rows; 0 leaves the columns
// unchanged.
type awq struct {
	integers
	up   []float32
	x, w []float32
}

// awqSteps is the number of powers tried from 0 up to 1.
const awqSteps = 20

func newAWQ(s *Survey) (Coder, error) {
	if s.Inputs == nil {
		return newIntegers(s, 4, 128, true, scaleF16), nil // all inputs are 0
	}
	cols := int(s.Cols)
	best, least := (*awq)(nil), math.Inf(1)
	for k := range awqSteps {
		c := &awq{integers: *newIntegers(s, 4, 128, true, scaleF16), up: powers(s.Inputs.Columns, float64(k)/awqSteps),
			x: make([]float32, cols), w: make([]float32, cols)}
		if e := sampled(c, s.Sample, s.Inputs); e < least {
			best, least = c, e
		}
	}
	return best, nil
}

// powers returns powers of the inputs' root mean squares, normalized to a geometric mean of 1.
func powers(squares []float32, power float64) []float32 {
	up := make([]float32, len(squares))
	var lo, hi float64 = math.Inf(1), 0
	for i, s := range squares {
		v := math.Pow(max(float64(s), 1e-8), power/2)
		up[i] = float32(v)
		lo, hi = min(lo, v), max(hi, v)
	}
	by := float32(1 / math.Sqrt(lo*hi))
	for i := range up {
		up[i] *= by
	}
	return up
}

// sampled returns the error of a row coder on some rows.
func sampled(c Coder, rows [][]float32, in *Inputs) (sum float64) {
	cols, size := c.Unit()
	code, back := make([]byte, size), make([]float32, cols)
	for _, row := range rows {
		c.Encode(code, row, in.Columns)
		c.Decode(back, code)
		for i, v := range row {
			back[i] = v - back[i]
		}
		sum += in.noise(back)
	}
	return sum
}

// noise returns the effect of a row's error on the output.
func (in *Inputs) noise(d []float32) (sum float64) {
	if in.Sketch != nil {
		return in.product(d)
	}
	for i, v := range d {
		sum += float64(in.Columns[i]) * float64(v) * float64(v)
	}
	return sum
}

func (c *awq) Encode(dst []byte, x, w []float32) {
	for i, u := range c.up {
		c.x[i] = x[i] * u
		c.w[i] = w[i] / (u * u)
	}
	c.integers.Encode(dst, c.x, c.w)
}

func (c *awq) Decode(x []float32, src []byte) {
	c.integers.Decode(x, src)
	for i, u := range c.up {
		x[i] /= u
	}
}

// tells returns how much is known of the inputs.
func (in *Inputs) tells() Asks {
	switch {
	case in == nil:
		return Nothing
	case in.Hessian == nil:
		return OfColumns
	}
	return OfEach
}
