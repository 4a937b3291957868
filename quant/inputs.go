package quant

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Inputs is what is known of the numbers that a matrix is multiplied with.
type Inputs struct {
	// Columns is the mean square of each input; of a stack of matrices one row after the other, or the same for all.
	// Only the ratios count.
	Columns []float32
	// Largest magnitudes of the inputs; nil when only mean squares are known.
	Largest []float32
	// Sketch is up to sketchRows mixtures of inputs, whose products with an error are on average as large as those of
	// all inputs. nil when only mean squares are known: then inputs count as if they did not correlate.
	Sketch [][]float32
	// Hessian gives Σ x·xᵀ in blocks of columns; nil when inputs are not known one by one.
	Hessian func() (*Hessian, error)

	method Method
	up     []float32 // of AWQ: what columns are multiplied with
}

// Method is how codes are found from inputs.
type Method string

const (
	Nearest Method = ""     // rounding
	GPTQ    Method = "gptq" // each column makes up for those before
	AWQ     Method = "awq"  // columns of large inputs are multiplied, and what makes these divided
)

// Improves reports whether a method finds the codes of a format: one with evenly spaced values.
func (m Method) Improves(f *Format) bool {
	if m == Nearest {
		return true
	}
	c, err := f.coder(NewSurvey(1, super))
	_, ok := c.(stepped)
	return err == nil && ok && f.Asks == Nothing
}

// coder finds codes by the method, where a format and what is known allow it.
func (in *Inputs) coder(c Coder, s *Survey) (Coder, error) {
	of, ok := c.(stepped)
	switch {
	case !ok:
	case in.method == GPTQ && in.Hessian != nil:
		return newGPTQ(of, s)
	case in.method == AWQ && in.up != nil:
		return &scaled{of: of, up: in.up, x: make([]float32, len(in.up)), w: make([]float32, len(in.up))}, nil
	}
	return c, nil
}

const sketchRows = 128

// outlier is the magnitude from which LLM.int8 keeps an input's column in 16 bits (arXiv:2208.07339, section 3).
const outlier = 6

// Outliers are the columns with inputs of at least 6, ascending.
func (in *Inputs) Outliers() (cols []int32) {
	if in == nil {
		return nil
	}
	for c, v := range in.Largest {
		if v >= outlier {
			cols = append(cols, int32(c))
		}
	}
	return cols
}

// ofMatrix are those of a matrix of a stack: its own columns, levelled to a mean of 1 so that matrices with inputs and matrices without
// add up. nil where all inputs were 0, as of an expert that no token reached.
func (in *Inputs) ofMatrix(b, cols int64) *Inputs {
	if in == nil {
		return nil
	}
	own := *in
	if int64(len(in.Columns)) > cols {
		own.Columns = in.Columns[b*cols : (b+1)*cols]
	}
	if own.Columns = levelled(own.Columns); own.Columns == nil {
		return nil
	}
	return &own
}

// levelled numbers have a mean of 1; nil where they have none.
func levelled(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil
	}
	out, by := make([]float32, len(v)), float64(len(v))/sum
	for i, x := range v {
		out[i] = float32(float64(x) * by)
	}
	return out
}

// columns of inputs, nil when nothing is known.
func (in *Inputs) columns() []float32 {
	if in == nil {
		return nil
	}
	return in.Columns
}

// Activations makes Inputs of a tensor whose rows are inputs of a matrix. Errors are measured on a quarter of the rows,
// and GPTQ sees the others, so that it is not judged by what it was fitted to; fewer rows than fewRows serve for both.
func Activations(t *Tensor) (*Inputs, error) {
	in := &Inputs{Columns: make([]float32, t.Cols), Largest: make([]float32, t.Cols)}
	squares := make([]float64, t.Cols)
	apart := heldOut(t)
	count := t.Batch * t.Rows
	if apart {
		count = unit.CeilDiv(count, judged)
	}
	rows := min(count, sketchRows)
	for range rows {
		in.Sketch = append(in.Sketch, make([]float32, t.Cols))
	}
	err := t.eachRow(func(n int64, x []float32) {
		for c, v := range x {
			squares[c] += float64(v) * float64(v)
			in.Largest[c] = max(in.Largest[c], v, -v)
		}
		switch {
		case !apart:
			in.sketch(n, count, x)
		case n%judged == 0:
			in.sketch(n/judged, count, x)
		}
	})
	if err != nil {
		return nil, err
	}
	for c, s := range squares {
		in.Columns[c] = float32(s)
	}
	in.level()
	in.Hessian = func() (*Hessian, error) { return newHessian(t) }
	return in, nil
}

const (
	judged  = 4  // of so many rows one is what errors are measured on
	fewRows = 64 // below which all rows serve for everything
)

func heldOut(t *Tensor) bool { return t.Batch*t.Rows >= fewRows }

// sketch adds row n of count to one of the mixtures, with a sign.
func (in *Inputs) sketch(n, count int64, x []float32) {
	rows := int64(len(in.Sketch))
	to, sign := in.Sketch[n%rows], float32(1)
	if count > rows {
		to, sign = in.Sketch[mixed(n)%uint64(rows)], float32(int64(mixed(n)>>63)*2-1)
	}
	for c, v := range x {
		to[c] += sign * v
	}
}

// level scales the sketch so that the mean square of a column, summed over its rows, is 1.
func (in *Inputs) level() {
	var sum float64
	for _, row := range in.Sketch {
		sum += float64(dot(row, row))
	}
	by := float32(math.Sqrt(float64(len(in.Columns)) / max(sum, math.SmallestNonzeroFloat32)))
	for _, row := range in.Sketch {
		for c := range row {
			row[c] *= by
		}
	}
}

// mixed is a hash of a row's number (splitmix64), so that sketches are the same each time.
func mixed(n int64) uint64 {
	z := (uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// eachRow reads a tensor row by row.
func (t *Tensor) eachRow(use func(n int64, x []float32)) error {
	var buf []byte
	per := max(1, chunk/t.Cols)
	x := make([]float32, per*t.Cols)
	all := t.Batch * t.Rows
	for at := int64(0); at < all; at += per {
		n := min(per, all-at)
		if err := t.rows(x, at, n, &buf); err != nil {
			return err
		}
		for r := range n {
			use(at+r, x[r*t.Cols:(r+1)*t.Cols])
		}
	}
	return nil
}

// product is the noise of a row's error against the sketch: Σ (sketch · error)².
func (in *Inputs) product(d []float32) (sum float64) {
	for _, s := range in.Sketch {
		p := float64(dot(s, d))
		sum += p * p
	}
	return sum
}

// dot with four sums, which is as fast as this gets without vectors.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return s0 + s1 + (s2 + s3)
}

// Statistics are the inputs of a model's matrices by name.
type Statistics struct {
	// Importance by the names of GGUF files, and Activations by those of their own file without ".weight" and ".input".
	Importance  map[string][]float32
	Activations map[string]*Tensor
	Identity    string // as that of a Model
	Method      Method

	scalings map[string]*Scaling // by tensor
	alike    map[string]*Tensor  // with the inputs of another
}

// Tells how much is known of the inputs that it knows, at most.
func (s *Statistics) Tells() Asks {
	switch {
	case len(s.Activations) > 0:
		return OfEach
	case len(s.Importance) > 0:
		return OfColumns
	}
	return Nothing
}

// Inputs of a tensor, by its own name or by that which GGUF files give it; nil when nothing is known.
func (s *Statistics) Inputs(t *Tensor) (*Inputs, error) {
	of := t
	if s.alike[t.Name] != nil {
		of = s.alike[t.Name]
	}
	in, err := s.read(of)
	if in != nil {
		in.method = s.Method
		if c := s.scalings[t.Name]; c != nil {
			in.up = c.Columns
		}
	}
	return in, err
}

func (s *Statistics) read(t *Tensor) (*Inputs, error) {
	for _, name := range t.names() {
		if a := s.Activations[name]; a != nil {
			return Activations(a)
		}
		if v := s.Importance[name]; v != nil {
			return &Inputs{Columns: v}, nil
		}
	}
	return nil, nil
}

// names of a tensor, without ".weight".
func (t *Tensor) names() []string {
	names := []string{strings.TrimSuffix(t.Name, ".weight")}
	if n := t.ggufName(); n != "" && !slices.Contains(names, n) {
		names = append(names, n)
	}
	return names
}
