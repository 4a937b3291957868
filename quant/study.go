package quant

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// Measured is the cost of each format on one tensor.
type Measured struct {
	*Tensor
	// Kept is why no format was tried; see Tensor.Kept and Survey.Finite.
	Kept   string
	Survey *Survey // of all its matrices; nil if not read
	Tried  []Tried // of the formats that take it
	// Weighed reports that the importance of its columns is known.
	Weighed bool
}

// Tried is one format on one tensor.
type Tried struct {
	Format *Format    `json:"-"`
	Bytes  unit.Bytes `json:"bytes"`
	Error  Error      `json:"error"`
}

// Of returns the trial of a format; nil if it was not tried.
func (m *Measured) Of(f *Format) *Tried {
	for i := range m.Tried {
		if m.Tried[i].Format == f {
			return &m.Tried[i]
		}
	}
	return nil
}

// Work measures tensors. Measure may be called concurrently for different tensors, each with its own Work.
type Work struct {
	Formats []*Format
	// Inputs returns the inputs of a tensor; it may be nil, or return nil, if nothing is known.
	Inputs func(*Tensor) (*Inputs, error)
	// Done is called with the number of bytes processed; work stops if it returns false.
	Done func(bytes int64) bool

	numbers []float32
	raw     []byte
}

// ErrStopped is returned when Done ended the work.
var ErrStopped = errors.New("stopped")

// chunk is about how many elements are read at a time: what a processor's own cache holds.
const chunk = 1 << 16

// Measure surveys a tensor and tries the formats.
func (w *Work) Measure(t *Tensor) (*Measured, error) {
	m := &Measured{Tensor: t, Kept: t.Kept()}
	if m.Kept != "" {
		return m, nil
	}
	if t.Across {
		return m, w.across(m)
	}
	inputs, err := w.inputs(t)
	if err != nil {
		return nil, err
	}
	m.Weighed = inputs != nil
	for _, f := range w.Formats {
		if t.Takes(f) && f.Asks <= inputs.tells() {
			m.Tried = append(m.Tried, Tried{Format: f, Bytes: f.Bytes(t.Batch, t.Rows, t.Cols)})
		}
	}
	m.Survey = NewSurvey(t.Batch*t.Rows, t.Cols)
	for b := range t.Batch {
		if err := w.matrix(m, b, inputs.ofMatrix(b, t.Cols)); err != nil {
			return nil, err
		}
	}
	if !m.Survey.Finite() {
		m.broken()
	}
	m.Tried = slices.DeleteFunc(m.Tried, func(t Tried) bool { return !t.Error.finite() })
	return m, nil
}

// inputs of the tensor's columns, of each matrix where there are several; anything else is of another model.
func (w *Work) inputs(t *Tensor) (*Inputs, error) {
	if w.Inputs == nil {
		return nil, nil
	}
	in, err := w.Inputs(t)
	if err != nil || in == nil {
		return nil, err
	}
	if n := int64(len(in.Columns)); n != t.Cols && n != t.Batch*t.Cols {
		return nil, fmt.Errorf("inputs of %s columns for tensor %s, which has %s: the statistics are of another model", unit.Count(n),
			t.Name, unit.Count(t.Cols))
	}
	return in, nil
}

// broken: a matrix with numbers that are none cannot be stored in any format that shares scales.
func (m *Measured) broken() {
	m.Tried = nil
	switch s := m.Survey; {
	case s.Inf == 0:
		m.Kept = unit.Count(s.NaN) + " NaN in it"
	case s.NaN == 0:
		m.Kept = unit.Count(s.Inf) + " infinities in it"
	default:
		m.Kept = unit.Count(s.NaN) + " NaN and " + unit.Count(s.Inf) + " infinities in it"
	}
}

// Reading returns the total bytes that Done will be called with: most tensors are read once, and again if a format
// needs the whole matrix beforehand.
func Reading(tensors []*Tensor, formats []*Format) (n int64) {
	for _, t := range tensors {
		if t.Kept() != "" {
			continue
		}
		n += int64(t.Bytes)
		if !t.Across && slices.ContainsFunc(formats, func(f *Format) bool { return f.Whole && t.Takes(f) }) {
			n += int64(t.Bytes)
		}
	}
	return n
}

// Bytes returns the size of the tensors that are read.
func Bytes(tensors []*Tensor) (b unit.Bytes) {
	for _, t := range tensors {
		if t.Kept() == "" {
			b += t.Bytes
		}
	}
	return b
}

// matrix surveys and tries one of the tensor's matrices: in one reading, but for formats that ask for the whole of it
// beforehand.
func (w *Work) matrix(m *Measured, b int64, in *Inputs) error {
	s := NewSurvey(m.Rows, m.Cols)
	s.Inputs, s.Outliers = in, in.Outliers()
	per := max(1, chunk/m.Cols)
	soon, err := w.trials(m, s, false)
	if err != nil {
		return err
	}
	rows := multiple(multiple(m.Cols, flatRun), m.Cols*Together(m.Cols, soon)) / m.Cols
	if err := w.stream(m.Tensor, b, rows, per, func(x []float32) {
		s.Add(x)
		try(soon, x)
	}); err != nil {
		return err
	}
	m.Survey.merge(s)
	if !s.Finite() {
		return nil
	}
	later, err := w.trials(m, s, true)
	if err != nil {
		return err
	}
	if len(later) > 0 {
		if err := w.stream(m.Tensor, b, Together(m.Cols, later), per, func(x []float32) { try(later, x) }); err != nil {
			return err
		}
	}
	for _, t := range append(soon, later...) {
		t.surveyed(s)
		tried := m.Of(t.Format)
		tried.Bytes += t.outside(s)
		tried.Error.Add(&t.Error)
	}
	return nil
}

// trials of the formats that ask for the whole of a matrix, or of those that do not.
func (w *Work) trials(m *Measured, s *Survey, whole bool) (out []*Trial, err error) {
	for i := range m.Tried {
		if m.Tried[i].Format.Whole != whole {
			continue
		}
		t, err := NewTrial(m.Tried[i].Format, s)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", m.Name, err)
		}
		out = append(out, t)
	}
	return out, nil
}

func try(trials []*Trial, x []float32) {
	for _, t := range trials {
		t.Rows(x)
	}
}

// outside are bytes of a matrix that no scheme counts: the outlier columns of LLM.int8.
func (t *Trial) outside(s *Survey) unit.Bytes {
	if _, ok := t.coder.(*llmInt8); ok {
		return 2 * unit.Bytes(s.Rows) * unit.Bytes(len(s.Outliers))
	}
	return 0
}

// stream reads a matrix in runs of at least so many rows, a multiple of unit.
func (w *Work) stream(t *Tensor, b, unit, least int64, use func([]float32)) error {
	step := (least + unit - 1) / unit * unit
	step = min(step, t.Rows)
	if int64(cap(w.numbers)) < step*t.Cols {
		w.numbers = make([]float32, step*t.Cols)
	}
	for at := int64(0); at < t.Rows; at += step {
		n := min(step, t.Rows-at)
		x := w.numbers[:n*t.Cols]
		if err := t.rows(x, b*t.Rows+at, n, &w.raw); err != nil {
			return err
		}
		use(x)
		if w.Done != nil && !w.Done(int64(t.Stored.Row(t.Cols))*n) {
			return ErrStopped
		}
	}
	return nil
}

// merge adds the survey of a further matrix.
func (s *Survey) merge(o *Survey) {
	s.Elements += o.Elements
	s.Min, s.Max, s.AbsMax = min(s.Min, o.Min), max(s.Max, o.Max), max(s.AbsMax, o.AbsMax)
	s.Sum, s.Squares, s.Fourths = s.Sum+o.Sum, s.Squares+o.Squares, s.Fourths+o.Fourths
	s.NaN, s.Inf, s.Zeros, s.ZeroRows = s.NaN+o.NaN, s.Inf+o.Inf, s.Zeros+o.Zeros, s.ZeroRows+o.ZeroRows
	s.BlockMax, s.Blocks = s.BlockMax+o.BlockMax, s.Blocks+o.Blocks
	for i, n := range o.Magnitudes {
		s.Magnitudes[i] += n
	}
}

// Uniform is one format on every tensor that takes it.
type Uniform struct {
	Format  *Format
	Bytes   unit.Bytes // of all tensors
	Tensors int        // number that take it
	Error   Error      // of all tensors that formats were tried on; those that do not take this one count as exact
}

// Uniforms returns the formats that at least one tensor takes, largest first.
func Uniforms(all []*Measured, formats []*Format) []Uniform {
	var out []Uniform
	for _, f := range formats {
		u := Uniform{Format: f}
		for _, m := range all {
			u.add(m)
		}
		if u.Tensors > 0 {
			out = append(out, u)
		}
	}
	stable.Sort(out, func(a, b Uniform) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return out
}

func (u *Uniform) add(m *Measured) {
	t := m.Of(u.Format)
	switch {
	case t != nil:
		u.Tensors++
		u.Bytes += t.Bytes
		u.Error.Add(&t.Error)
		return
	case m.Kept == "" && m.Survey != nil:
		e := m.exact()
		u.Error.Add(&e)
	}
	u.Bytes += m.Tensor.Bytes
}

// exact is the error of a tensor that stays as it is; its weighted signal is that of its trials.
func (m *Measured) exact() Error {
	e := m.Survey.Exact()
	if len(m.Tried) > 0 {
		e.WeightedSignal = m.Tried[0].Error.WeightedSignal
	}
	return e
}

// Part is the summed Error of the tensors of a Role, or of a layer.
type Part struct {
	Name  string
	Bytes unit.Bytes
	Error Error
}

// ByRole sums a format's errors over the tensors of each role, worst role first.
func ByRole(all []*Measured, f *Format) []Part {
	return sumsBy(all, f, func(t *Tensor) string { return cmp.Or(string(t.Role), t.Name) })
}

// ByLayer sums a format's errors over the tensors of each layer.
func ByLayer(all []*Measured, f *Format) []Part {
	return sumsBy(all, f, func(t *Tensor) string {
		if t.Layer < 0 {
			return "outside"
		}
		return fmt.Sprint(t.Layer)
	})
}

func sumsBy(all []*Measured, f *Format, name func(*Tensor) string) []Part {
	var parts []Part
	at := map[string]int{}
	for _, m := range all {
		t := m.Of(f)
		if t == nil {
			continue
		}
		n := name(m.Tensor)
		i, ok := at[n]
		if !ok {
			i, at[n] = len(parts), len(parts)
			parts = append(parts, Part{Name: n})
		}
		parts[i].Bytes += t.Bytes
		parts[i].Error.Add(&t.Error)
	}
	return parts
}
