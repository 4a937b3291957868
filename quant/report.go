package quant

import (
	"io"
	"math"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/unit"
)

// Model is the tensors of a model's files.
type Model struct {
	ID      string
	Files   []string
	Tensors []*Tensor
	// GGUF is the header of GGUF files, and Head the first file; nil for safetensors.
	GGUF *gguf.File
	Head io.ReaderAt
	// Identity identifies files by path, size and time.
	Identity string
}

// Bytes returns the size of all tensors as stored.
func (m *Model) Bytes() (b unit.Bytes) {
	for _, t := range m.Tensors {
		b += t.Bytes
	}
	return b
}

// Report is the result of measurements, for display.
type Report struct {
	Schema  string     `json:"schema"`
	Ask     string     `json:"ask"` // quant
	Model   string     `json:"model"`
	Bytes   unit.Bytes `json:"bytes"` // of all tensors as stored
	Tensors int        `json:"tensors"`
	// Matrices is the number of tensors that formats were tried on, Weighed of those with known inputs.
	Matrices int          `json:"matrices"`
	Weighed  int          `json:"weighed"`
	Formats  []Row        `json:"formats"`
	Kept     []KeptRow    `json:"kept,omitempty"`
	Mix      *MixRow      `json:"mix,omitempty"`
	Curve    []CurvePoint `json:"curve,omitempty"`
	Parts    []PartRow    `json:"parts,omitempty"`
	Each     []TensorRow  `json:"each,omitempty"`
	Spread   *Spread      `json:"spread,omitempty"`
	Cache    *CacheRow    `json:"cache,omitempty"`
	// Method is how codes were chosen given inputs; for AWQ, Gained places improved and Unfolded could not be scaled.
	Method   Method     `json:"method,omitempty"`
	Gained   int        `json:"awq_folds,omitempty"`
	Unfolded []Unfolded `json:"awq_unfolded,omitempty"`
	// Stopped reports that the user ended the work; Tensors counts those measured.
	Stopped bool `json:"stopped,omitempty"`
	// Written is the file that was written and verified.
	Written      string `json:"written,omitempty"`
	WrittenBytes int64  `json:"written_bytes,omitempty"`
}

// Figures of an error. Without noise there is no decibel figure.
type Figures struct {
	RMS      float64  `json:"rms"`          // of the error, relative
	Weighted float64  `json:"weighted_rms"` // with the importance of columns
	SQNR     *float64 `json:"sqnr_db"`
	Max      float64  `json:"max"`
	Cosine   float64  `json:"cosine"`
}

func figures(e *Error) Figures {
	f := Figures{RMS: e.RMS(), Weighted: e.WeightedRMS(), Max: e.Max, Cosine: e.Cosine()}
	if db := e.SQNR(); !math.IsInf(db, 0) && !math.IsNaN(db) {
		f.SQNR = &db
	}
	return f
}

// Row is one format on every matrix that takes it.
type Row struct {
	Format   string     `json:"format"`
	Family   string     `json:"family"`
	Note     string     `json:"note"`
	Bytes    unit.Bytes `json:"bytes"`    // of all tensors
	Bits     float64    `json:"bits"`     // of an element of what takes it
	Smaller  float64    `json:"smaller"`  // ratio to the tensors as stored
	Matrices int        `json:"matrices"` // number that take it
	Figures
}

// KeptRow is a reason to leave tensors unchanged.
type KeptRow struct {
	Why     string     `json:"why"`
	Tensors int        `json:"tensors"`
	First   string     `json:"first"`
	Bytes   unit.Bytes `json:"bytes"`
}

// MixRow is the mixture for a budget.
type MixRow struct {
	Budget unit.Bytes `json:"budget"`
	Bytes  unit.Bytes `json:"bytes"`
	Figures
	// Least is a lower bound on the weighted error of any mixture that fits.
	Least   float64    `json:"least_weighted_rms"`
	Exact   bool       `json:"exact"`
	Shares  []ShareRow `json:"shares"`
	Types   []string   `json:"tensor_types,omitempty"` // of llama-quantize
	Modules []Module   `json:"modules"`
	// Config is the modules' formats for llm-compressor, vLLM and SGLang; NoConfig says why there is none.
	Config     *ModuleConfig `json:"config,omitempty"`
	NoConfig   string        `json:"no_config,omitempty"`
	Uniform    string        `json:"uniform,omitempty"` // the best single format that fits
	UniformRMS float64       `json:"uniform_weighted_rms,omitempty"`
}

// ShareRow is the part of a mixture in one format; "" for unchanged.
type ShareRow struct {
	Format  string     `json:"format"`
	Tensors int        `json:"tensors"`
	Bytes   unit.Bytes `json:"bytes"`
}

// Module is the format of one tensor.
type Module struct {
	Tensor string     `json:"tensor"`
	Format string     `json:"format"`
	Bytes  unit.Bytes `json:"bytes"`
}

// CurvePoint is a Pareto-optimal mixture.
type CurvePoint struct {
	Bytes    unit.Bytes `json:"bytes"`
	Share    float64    `json:"share"` // of the size as stored
	Weighted float64    `json:"weighted_rms"`
}

// PartRow is one format on the tensors of a role or layer.
type PartRow struct {
	Part   string     `json:"part"`
	Format string     `json:"format"`
	Bytes  unit.Bytes `json:"bytes"`
	Figures
}

// TensorRow is one tensor with all that was tried on it.
type TensorRow struct {
	Tensor   string      `json:"tensor"`
	Elements int64       `json:"elements"`
	RMS      float64     `json:"rms"`
	AbsMax   float32     `json:"abs_max"`
	Kurtosis float64     `json:"kurtosis"`
	Beyond6  int64       `json:"beyond_6_sigma"`
	ZeroRows int64       `json:"zero_rows,omitempty"`
	Tried    []FormatRow `json:"tried"`
}

// FormatRow is one format on one tensor.
type FormatRow struct {
	Format string     `json:"format"`
	Bytes  unit.Bytes `json:"bytes"`
	Figures
}

// NewReport summarizes the measurements of a model.
func NewReport(m *Model, all []*Measured, formats []*Format) *Report {
	r := &Report{Ask: "quant", Model: m.ID, Tensors: len(all)}
	for _, x := range all {
		r.Bytes += x.Tensor.Bytes
		if len(x.Tried) > 0 {
			r.Matrices++
		}
		if x.Weighed {
			r.Weighed++
		}
		r.keep(x)
	}
	for _, u := range Uniforms(all, formats) {
		r.Formats = append(r.Formats, u.row(all, r.Bytes))
	}
	return r
}

func (r *Report) keep(m *Measured) {
	why := m.Kept
	if why == "" && len(m.Tried) == 0 {
		why = "not of these formats"
	}
	if why == "" {
		return
	}
	i := slices.IndexFunc(r.Kept, func(k KeptRow) bool { return k.Why == why })
	if i < 0 {
		i = len(r.Kept)
		r.Kept = append(r.Kept, KeptRow{Why: why, First: m.Name})
	}
	r.Kept[i].Tensors++
	r.Kept[i].Bytes += m.Tensor.Bytes
}

var families = [...]string{GGUF: "gguf", Hub: "hub"}

// String returns the name of the family.
func (f Family) String() string { return families[f] }

func (u *Uniform) row(all []*Measured, stored unit.Bytes) Row {
	row := Row{Format: u.Format.Name, Family: u.Format.Family.String(), Note: u.Format.Note, Bytes: u.Bytes, Matrices: u.Tensors,
		Figures: figures(&u.Error)}
	row.Smaller = float64(stored) / float64(max(1, u.Bytes))
	var bytes unit.Bytes
	var elements int64
	for _, m := range all {
		if t := m.Of(u.Format); t != nil {
			bytes += t.Bytes
			elements += m.Elements()
		}
	}
	row.Bits = 8 * float64(bytes) / float64(elements)
	return row
}

// SetMix adds a mixture, and the best single format of its family within the budget.
func (r *Report) SetMix(c *Choice, x *Mixed, budget unit.Bytes) {
	m := &MixRow{Budget: budget, Bytes: x.Bytes, Figures: figures(&x.Error), Exact: x.Exact}
	m.Least = relative(x.Bound, x.Error.WeightedSignal)
	for _, s := range x.Shares() {
		m.Shares = append(m.Shares, ShareRow(s))
	}
	for _, p := range x.Parts {
		m.Modules = append(m.Modules, Module{p.Tensor.Name, p.Format, p.Bytes})
	}
	switch {
	case c.Family == GGUF:
		m.Types = x.TensorTypes()
	case c.GGUF:
		m.NoConfig = "the tensors have the names of a GGUF file, and not those of modules"
	default:
		m.Config, m.NoConfig = x.Modules()
	}
	for _, f := range r.Formats {
		if f.Family == c.Family.String() && f.Bytes <= budget && (m.Uniform == "" || f.Weighted < m.UniformRMS) {
			m.Uniform, m.UniformRMS = f.Format, f.Weighted
		}
	}
	r.Mix = m
}

// SetCurve adds the trade-off curve of a choice.
func (r *Report) SetCurve(c *Choice) {
	signal := c.exact.WeightedSignal
	for _, members := range c.Members {
		for _, m := range members {
			e := m.exact()
			signal += e.WeightedSignal
		}
	}
	for _, p := range Curve(c.Groups) {
		r.Curve = append(r.Curve, CurvePoint{p.Bytes + c.Fixed, float64(p.Bytes+c.Fixed) / float64(max(1, r.Bytes)),
			relative(p.Noise, signal)})
	}
}

// SetParts adds sums over roles or layers.
func (r *Report) SetParts(all []*Measured, formats []*Format, by func([]*Measured, *Format) []Part) {
	for _, f := range formats {
		for _, p := range by(all, f) {
			r.Parts = append(r.Parts, PartRow{p.Name, f.Name, p.Bytes, figures(&p.Error)})
		}
	}
}

// SetEach adds every tensor.
func (r *Report) SetEach(all []*Measured) {
	for _, m := range all {
		if m.Survey == nil {
			continue
		}
		t := TensorRow{Tensor: m.Name, Elements: m.Elements(), RMS: m.Survey.RMS(), AbsMax: m.Survey.AbsMax, Kurtosis: m.Survey.Kurtosis(),
			Beyond6: m.Survey.Beyond(6), ZeroRows: m.Survey.ZeroRows}
		for i := range m.Tried {
			t.Tried = append(t.Tried, FormatRow{m.Tried[i].Format.Name, m.Tried[i].Bytes, figures(&m.Tried[i].Error)})
		}
		r.Each = append(r.Each, t)
	}
}

// FloorOf parses attn_v=q6_k.
func FloorOf(role, format string) (Floor, bool) {
	f, _ := Find(format)
	return Floor{dtype.Role(role), f}, f != nil
}
