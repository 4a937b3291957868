package quant

import (
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/unit"
)

// Inputs is what is known of the inputs of a matrix.
type Inputs struct {
	// Columns is the mean square of each input; for a stack, one row per matrix, or one for all. Only ratios matter.
	Columns []float32
	// Largest is the maximum magnitude of each input; nil if only mean squares are known.
	Largest []float32
	// Sketch is up to sketchRows random mixtures of inputs, whose products with an error have the same mean magnitude as
	// those of all inputs. nil if only mean squares are known: inputs are then treated as uncorrelated.
	Sketch [][]float32
	// Hessian returns Σ x·xᵀ in blocks of columns; nil if individual inputs are not known.
	Hessian func() (*Hessian, error)

	method Method
	up     []float32 // for AWQ: column factors
}

// Method is how codes are chosen given the inputs.
type Method string

const (
	Nearest Method = ""     // rounding
	GPTQ    Method = "gptq" // each column compensates for those before
	AWQ     Method = "awq"  // columns with large inputs are multiplied, their source divided
)

// Improves reports whether a method applies to a format, which must have evenly spaced values.
func (m Method) Improves(f *Format) bool {
	if m == Nearest {
		return true
	}
	c, err := f.coder(NewSurvey(1, super))
	_, ok := c.(stepped)
	return err == nil && ok && f.Asks == Nothing
}

// coder returns the coder for the method, as far as the format and the known inputs allow.
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

// Outliers returns the columns with inputs of at least 6, ascending.
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

// ofMatrix returns the inputs of one matrix of a stack, normalized to a mean of 1 so that matrices with and without
// known inputs can be added. It returns nil if all inputs were 0, as of an expert that no token reached.
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

// levelled normalizes numbers to a mean of 1; nil if they are all 0.
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

// columns returns the inputs' mean squares, nil if unknown.
func (in *Inputs) columns() []float32 {
	if in == nil {
		return nil
	}
	return in.Columns
}

// Activations returns the Inputs of a tensor whose rows are inputs of a matrix. Errors are measured on a quarter of the
// rows and GPTQ uses the others, so that it is not judged by what it was fitted to; if there are fewer than fewRows,
// all serve both purposes.
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
	judged  = 4  // one of this many rows is used to measure errors
	fewRows = 64 // below which all rows are used for everything
)

func heldOut(t *Tensor) bool { return t.Batch*t.Rows >= fewRows }

// sketch adds row n of count to one of the mixtures, with a random sign.
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

// mixed returns a hash of a row's index (splitmix64), for reproducible sketches.
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

// product returns the noise of a row's error against the sketch: Σ (sketch · error)².
func (in *Inputs) product(d []float32) (sum float64) {
	for _, s := range in.Sketch {
		p := float64(dot(s, d))
		sum += p * p
	}
	return sum
}

// dot returns the inner product, in four partial sums for speed.
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

// Statistics holds the inputs of a model's matrices, by name.
type Statistics struct {
	// Importance is keyed by GGUF tensor names, Activations by names in their own file without ".weight" and ".input".
	Importance  map[string][]float32
	Activations map[string]*Tensor
	Identity    string // like that of a Model
	Method      Method

	scalings map[string]*Scaling // by tensor
	alike    map[string]*Tensor  // with the inputs of another
}

// Tells returns how much is known of the inputs, at most.
func (s *Statistics) Tells() Asks {
	switch {
	case len(s.Activations) > 0:
		return OfEach
	case len(s.Importance) > 0:
		return OfColumns
	}
	return Nothing
}

// Inputs returns the inputs of a tensor, by its own name or its GGUF name; nil if unknown.
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

// names returns a tensor's names, without ".weight".
func (t *Tensor) names() []string {
	names := []string{strings.TrimSuffix(t.Name, ".weight")}
	if n := t.ggufName(); n != "" && !slices.Contains(names, n) {
		names = append(names, n)
	}
	return names
}
