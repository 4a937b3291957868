package quant

import "math"

// Error is the difference between numbers and their stored form, summed over elements; errors of parts add up.
type Error struct {
	Elements int64
	Signal   float64 // Σ x²
	Noise    float64 // Σ (x−q)²
	Stored   float64 // Σ q²
	Max      float64 // the largest |x−q|
	// WeightedSignal is Σ w·x² and WeightedNoise Σ w·(x−q)², where w is the importance of an element's column: the error
	// of the layer's output for uncorrelated inputs. Without known inputs they equal Signal and Noise.
	WeightedSignal, WeightedNoise float64
}

// Add adds the error of another part.
func (e *Error) Add(o *Error) {
	e.Elements += o.Elements
	e.Signal, e.Noise, e.Stored = e.Signal+o.Signal, e.Noise+o.Noise, e.Stored+o.Stored
	e.WeightedSignal, e.WeightedNoise = e.WeightedSignal+o.WeightedSignal, e.WeightedNoise+o.WeightedNoise
	e.Max = max(e.Max, o.Max)
}

// finite reports whether the format can represent the numbers; f16 scales end at 65,504.
func (e *Error) finite() bool { return !math.IsNaN(e.Noise-e.Noise) && !math.IsNaN(e.Stored-e.Stored) }

// RMS returns the relative root mean square error; 0 for a matrix of zeros stored exactly.
func (e *Error) RMS() float64 { return relative(e.Noise, e.Signal) }

// WeightedRMS is RMS weighted by the importance of columns.
func (e *Error) WeightedRMS() float64 { return relative(e.WeightedNoise, e.WeightedSignal) }

func relative(noise, signal float64) float64 {
	if noise == 0 {
		return 0
	}
	return math.Sqrt(noise / signal)
}

// SQNR returns the signal-to-noise ratio in decibels; infinite without noise.
func (e *Error) SQNR() float64 { return -20 * math.Log10(e.RMS()) }

// Cosine returns the cosine similarity of the numbers and their stored form; 1 if both are zero, 0 if one is. Σxq
// follows from Σx², Σq² and Σ(x−q)².
func (e *Error) Cosine() float64 {
	switch {
	case e.Signal == 0 && e.Stored == 0:
		return 1
	case e.Signal == 0 || e.Stored == 0:
		return 0
	}
	return (e.Signal + e.Stored - e.Noise) / 2 / math.Sqrt(e.Signal*e.Stored)
}

// Exact returns the error of what is stored unchanged.
func (s *Survey) Exact() Error {
	return Error{Elements: s.Elements, Signal: s.Squares, Stored: s.Squares, WeightedSignal: s.Squares}
}

// add compares numbers with their stored form; w is nil if all have the same weight. The signal is known already unless
// weighted. Partial sums of 32 are accurate enough in float32, which makes this fast.
func (e *Error) add(x, q, w []float32) {
	e.Elements += int64(len(x))
	for i := 0; i < len(x); i += block {
		end := min(i+block, len(x))
		if w == nil {
			e.addBlocks(x[i:end], q[i:end])
		} else {
			e.weighted(x[i:end], q[i:end], w[i:end])
		}
	}
}

// addBlocks keeps four sums of each, so that an addition need not wait for the one before. Of whole blocks the compiler knows
// the length.
func (e *Error) addBlocks(x, q []float32) {
	if len(x) < block {
		e.rest(x, q)
		return
	}
	var n0, n1, n2, n3, s0, s1, s2, s3 float32
	var m0, m1 uint32
	x32, q32 := (*[block]float32)(x), (*[block]float32)(q)
	for i := 0; i < block; i += 4 {
		q0, q1, q2, q3 := q32[i], q32[i+1], q32[i+2], q32[i+3]
		d0, d1, d2, d3 := x32[i]-q0, x32[i+1]-q1, x32[i+2]-q2, x32[i+3]-q3
		n0, n1, n2, n3 = n0+d0*d0, n1+d1*d1, n2+d2*d2, n3+d3*d3
		s0, s1, s2, s3 = s0+q0*q0, s1+q1*q1, s2+q2*q2, s3+q3*q3
		m0 = max(m0, math.Float32bits(d0)&magnitude, math.Float32bits(d1)&magnitude)
		m1 = max(m1, math.Float32bits(d2)&magnitude, math.Float32bits(d3)&magnitude)
	}
	e.addUnweighted(float64(n0+n1)+float64(n2+n3), float64(s0+s1)+float64(s2+s3), math.Float32frombits(max(m0, m1)))
}

// rest is even of less than a block.
func (e *Error) rest(x, q []float32) {
	var noise, stored float64
	var most uint32
	q = q[:len(x)]
	for i, v := range x {
		d := v - q[i]
		noise, stored, most = noise+float64(d*d), stored+float64(q[i]*q[i]), max(most, math.Float32bits(d)&magnitude)
	}
	e.addUnweighted(noise, stored, math.Float32frombits(most))
}

// addUnweighted adds sums of numbers that weigh the same.
func (e *Error) addUnweighted(noise, stored float64, most float32) {
	e.Noise, e.WeightedNoise, e.Stored = e.Noise+noise, e.WeightedNoise+noise, e.Stored+stored
	e.Max = max(e.Max, float64(most))
}

func (e *Error) weighted(x, q, w []float32) {
	var noise, stored, most, ws, wn float32
	for i, v := range x {
		s := q[i]
		d := v - s
		noise, stored = noise+d*d, stored+s*s
		ws, wn = ws+w[i]*v*v, wn+w[i]*d*d
		most = max(most, d, -d)
	}
	e.Noise, e.Stored, e.Max = e.Noise+float64(noise), e.Stored+float64(stored), max(e.Max, float64(most))
	e.WeightedSignal, e.WeightedNoise = e.WeightedSignal+float64(ws), e.WeightedNoise+float64(wn)
}

// Trial stores the rows of one matrix in one format and measures the error.
type Trial struct {
	Format *Format
	Error  Error

	coder  Coder
	inputs *Inputs
	elems  int
	code   []byte
	back   []float32
}

// NewTrial returns a trial of a format on a surveyed matrix; errors are those of reading inputs.
func NewTrial(f *Format, s *Survey) (*Trial, error) {
	c, err := f.Coder(s)
	if err != nil {
		return nil, err
	}
	elems, bytes := c.Unit()
	t := &Trial{Format: f, coder: c, inputs: s.Inputs, elems: elems, code: make([]byte, bytes), back: make([]float32, elems)}
	t.surveyed(s)
	return t, nil
}

// surveyed takes the signal from a survey.
func (t *Trial) surveyed(s *Survey) {
	t.Error.Signal = s.Squares
	if s.Inputs == nil {
		t.Error.WeightedSignal = s.Squares
	}
}

// Rows processes further whole rows; all calls but the last must pass whole units (see Together).
func (t *Trial) Rows(x []float32) {
	columns := t.inputs.columns()
	if t.inputs != nil && t.inputs.Sketch != nil {
		t.sketched(x)
		return
	}
	t.units(x, func(at int, part, back []float32) {
		if w := window(columns, at, len(part)); columns == nil || w != nil {
			t.Error.add(part, back, w)
			return
		}
		t.wrapped(part, back, columns, at)
	})
}

// units stores and reads back one unit after the other.
func (t *Trial) units(x []float32, use func(at int, part, back []float32)) {
	columns := t.inputs.columns()
	for at := 0; at < len(x); at += t.elems {
		part := x[at:min(at+t.elems, len(x))]
		back := t.back[:len(part)]
		t.coder.Encode(t.code, part, window(columns, at, len(part)))
		t.coder.Decode(back, t.code)
		use(at, part, back)
	}
}

// sketched weighs the error of whole rows by what it does to the inputs that are known.
func (t *Trial) sketched(x []float32) {
	back := make([]float32, len(x))
	t.units(x, func(at int, _, part []float32) { copy(back[at:], part) })
	weighted := Error{}
	cols := len(t.inputs.Columns)
	d := make([]float32, cols)
	for at := 0; at < len(x); at += cols {
		row, q := x[at:at+cols], back[at:at+cols]
		for i, v := range row {
			d[i] = v - q[i]
		}
		weighted.WeightedSignal += t.inputs.product(row)
		weighted.WeightedNoise += t.inputs.product(d)
	}
	plain := Error{}
	plain.add(x, back, nil)
	plain.WeightedSignal, plain.WeightedNoise = weighted.WeightedSignal, weighted.WeightedNoise
	t.Error.Add(&plain)
}

// window is the importance of the elements from at on, where they lie in one row; else nil.
func window(columns []float32, at, n int) []float32 {
	if columns == nil {
		return nil
	}
	if from := at % len(columns); from+n <= len(columns) {
		return columns[from : from+n]
	}
	return nil
}

// wrapped measures a unit that goes on in the next row.
func (t *Trial) wrapped(x, back, columns []float32, at int) {
	for len(x) > 0 {
		from := at % len(columns)
		n := min(len(x), len(columns)-from)
		t.Error.add(x[:n], back[:n], columns[from:from+n])
		x, back, at = x[n:], back[n:], at+n
	}
}

// Together returns the smallest number of rows that consists of whole units of all the trials' formats.
func Together(cols int64, trials []*Trial) int64 {
	elems := cols
	for _, t := range trials {
		elems = multiple(elems, int64(t.elems))
	}
	return elems / cols
}

// multiple returns the least common multiple.
func multiple(a, b int64) int64 {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	return a / g * b
}
