package family

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
)

// Family is one architecture: its names and its two readers.
type Family struct {
	Name    string   // GGUF architecture, canonical
	Classes []string // "architectures" of config.json
	Types   []string // "model_type", where a config names no class
	GGUF    []string // GGUF architectures, when other than Name alone
	// Config and Header read the hyper-parameters. A nil Header means that the architecture has none
	// in llama.cpp.
	Config func(*Config) *Spec
	Header func(*Meta) *Spec
}

// UnknownError is the error for an architecture that no family has.
type UnknownError struct{ Arch string }

func (e *UnknownError) Error() string {
	const most = 80 // of a name that a file makes up
	return fmt.Sprintf("no model family reads the architecture %.*q", most, e.Arch)
}

// Families returns all families by name.
func Families() []*Family { return append(slices.Clone(families), probedFiles...) }

// ByClass returns the family of a class name or model type; nil if unknown.
func ByClass(class, modelType string) *Family {
	for _, f := range families {
		for _, c := range f.Classes {
			if c == class {
				return f
			}
		}
	}
	for _, f := range families {
		for _, t := range f.Types {
			if t == modelType && modelType != "" {
				return f
			}
		}
	}
	return nil
}

// ByGGUF returns the family of a GGUF architecture; nil if unknown.
func ByGGUF(arch string) *Family {
	for _, list := range [][]*Family{families, probedFiles} {
		for _, f := range list {
			if f.Header != nil && (f.Name == arch || slices.Contains(f.GGUF, arch)) {
				return f
			}
		}
	}
	return nil
}

// FromConfig reads a config.json into a Spec.
func FromConfig(c *Config) (*Spec, error) {
	class, kind := c.Class(), c.Str("model_type")
	f := c.drafter()
	if f == nil {
		f = ByClass(class, kind)
	}
	if f == nil {
		if err := c.Err(); err != nil {
			return nil, err
		}
		if class == "" && kind == "" {
			return nil, &FieldError{Field: "architectures", Problem: "is missing, and so is model_type", Fix: "give the model's own config.json"}
		}
		return nil, &UnknownError{Arch: strings.TrimSpace(class + " " + kind)}
	}
	c.find = ByClass
	s := f.Config(c)
	if err := c.Err(); err != nil {
		return nil, err
	}
	if s.Arch = class; class == "" {
		s.Arch = kind
	}
	if s.Family == "" {
		s.Family = f.Name
	}
	err := s.Check()
	return s, err
}

// FromHeader reads a GGUF header into a Spec.
func FromHeader(h Header) (*Spec, error) {
	f := ByGGUF(h.Architecture())
	if f == nil {
		return nil, &UnknownError{Arch: h.Architecture()}
	}
	m := &Meta{h: h, arch: h.Architecture()}
	s := f.Header(m)
	if m.err != nil {
		return nil, m.err
	}
	s.Arch, s.Family = m.arch, m.arch
	return s, m.keyed(s.Check())
}

// Check refuses what no network can be: the sizes of a layer must multiply to something countable.
func (s *Spec) Check() error {
	if s.Hidden > 1<<20 || s.Vocab > 1<<24 {
		return &FieldError{Field: "hidden size, vocabulary", Value: fmt.Sprint(s.Hidden, ", ", s.Vocab), Problem: "larger than any model's", Fix: "correct the config"}
	}
	for i := range s.Layers {
		if err := s.Layers[i].check(i); err != nil {
			return err
		}
	}
	for _, t := range s.towers() {
		if w := t.impossibleWeight(); w != nil {
			return &FieldError{Field: t.name() + " tower", Value: fmt.Sprint(w.In, " × ", w.Out), Problem: "a size larger than any model's", Fix: "correct the config"}
		}
		for i := range t.Layers {
			if err := t.Layers[i].check(i); err != nil {
				return err
			}
		}
	}
	for _, check := range []func() error{s.checkShared, s.checkSizes, s.checkKinds} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSizes refuses tensors whose elements cannot be added up over all layers in 64 bits.
func (s *Spec) checkSizes() error {
	const most = 1 << 57
	total := float64(s.PLE)*float64(s.PLEVocab+s.Hidden)*float64(len(s.Layers)) + float64(s.Grams)*float64(s.GramWidth)
	for _, layers := range [][]Layer{s.Layers, s.MTP} {
		for i := range layers {
			total += layers[i].size(float64(s.Hidden))
		}
	}
	for _, t := range s.towers() {
		total += t.size()
	}
	total += weightSize(s.Before) + weightSize(s.After) + float64(s.Segments+s.Positions)*float64(s.Hidden)
	if total > most {
		return &FieldError{Field: "sizes", Value: fmt.Sprintf("%.1g elements", total), Problem: "are together more than any model's", Fix: "correct the config"}
	}
	return nil
}

// size of a layer in elements, roughly and never too small by more than the smallest tensors.
func (l *Layer) size(hidden float64) float64 {
	if l.Row != nil {
		return weightSize(l.Row.Weights)
	}
	a, m, x := &l.Attn, &l.MoE, &l.SSM
	heads, wide := float64(a.Heads), float64(max(a.DimK, a.Nope)+a.DimV)
	n := 2*heads*wide*max(hidden, float64(a.QRank), float64(a.KVRank)) + hidden*float64(a.QRank+a.KVRank)
	n += 3*float64(m.Experts)*float64(m.Inner)*max(hidden, float64(m.Latent)) + float64(m.Shared+m.Latent)*3*hidden
	n += 3 * float64(l.FFN.Inner) * hidden
	n += 2*float64(l.Cross.Heads)*float64(l.Cross.DimK+l.Cross.DimV)*max(hidden, float64(l.Cross.Encoder)) + float64(a.RelBias)
	n += float64(a.Index.Heads+4) * float64(a.Index.Dim) * max(hidden, float64(a.QRank)) * 2
	n += float64(a.OutGroups)*float64(a.OutRank)*(hidden+heads*wide) + 2*float64(a.Compress)*wide*wide
	n += 2 * (2 + float64(l.Hyper)) * float64(l.Hyper) * float64(l.Hyper) * hidden
	n += float64(x.Ranks[0]+x.Ranks[1]+x.Ranks[2]+x.Ranks[3]) * 6 * hidden
	b := &l.Shared
	n += (2*hidden+float64(b.Rank))*float64(b.Heads*b.Dim)*4 + 4*float64(b.Inner)*(hidden+float64(b.Rank)) + 8*float64(b.Rank)*hidden + hidden*hidden
	scan := 2*float64(x.Inner) + 2*float64(x.Groups)*float64(x.State) + float64(x.Heads)
	n += scan*max(hidden, float64(x.Conv)) + float64(x.Inner)*(hidden+float64(x.State)+2*float64(x.Rank))
	return n + hidden*(float64(l.AltUp)*float64(l.AltUp)+2*float64(l.Laurel)+2*float64(l.PLE))
}

// checkKinds: a part can hold 255 different layers, far more than any model has.
func (s *Spec) checkKinds() error {
	parts := [][]Layer{s.Layers}
	for _, t := range s.towers() {
		parts = append(parts, t.Layers)
	}
	for _, layers := range parts {
		seen := map[Layer]bool{}
		for _, l := range layers {
			seen[l] = true
		}
		if len(seen) > 250 {
			return &FieldError{Field: "layers", Value: fmt.Sprint(len(seen), " different ones"), Problem: "are more than memwall tells apart", Fix: "report the model"}
		}
	}
	return nil
}

func (l *Layer) check(i int) error {
	a := &l.Attn
	if a.Heads > 0 && a.KVHeads > 0 && a.Heads%a.KVHeads != 0 {
		return &FieldError{Field: fmt.Sprintf("layer %d: KV heads", i), Value: fmt.Sprint(a.KVHeads),
			Problem: fmt.Sprintf("do not divide the %d attention heads", a.Heads), Fix: "correct num_key_value_heads"}
	}
	if l.Hyper > 1<<10 || a.Compress > 1<<24 || a.Index.Dim > 1<<24 || a.Index.Heads > 1<<20 {
		return &FieldError{Field: fmt.Sprintf("layer %d", i), Value: fmt.Sprint(l.Hyper, " streams, ", a.Index.Heads, " × ", a.Index.Dim, " index heads"), Problem: "more than any model's", Fix: "correct the config"}
	}
	for _, x := range []int64{a.Heads * a.DimK, l.FFN.Inner, l.Shared.Inner, l.Shared.Rank, l.Shared.Heads * l.Shared.Dim, l.MoE.Inner, l.SSM.Inner, l.MoE.Experts} {
		if x < 0 || x > 1<<24 {
			return &FieldError{Field: fmt.Sprintf("layer %d", i), Value: fmt.Sprint(x), Problem: "a width larger than any model's", Fix: "correct the config"}
		}
	}
	if l.MoE.Used > l.MoE.Experts {
		return &FieldError{Field: fmt.Sprintf("layer %d: experts used", i), Value: fmt.Sprint(l.MoE.Used),
			Problem: fmt.Sprintf("more than the %d experts", l.MoE.Experts), Fix: "correct num_experts_per_tok"}
	}
	if l.MoE.Experts > 0 && l.MoE.Used < 1 {
		return &FieldError{Field: fmt.Sprintf("layer %d: experts used", i), Value: fmt.Sprint(l.MoE.Used), Problem: "must be at least 1", Fix: "correct num_experts_per_tok"}
	}
	return l.SSM.check(i)
}

// repeat gives n equal layers. It is not inlined, which would be 70 kB in the families that call it.
//
//go:noinline
func repeat(l Layer, n int) []Layer {
	out := make([]Layer, n)
	for i := range out {
		out[i] = l
	}
	return out
}

func ropeTable(rows int64) Table { return Table{Role: dtype.RopeFreqs, Rows: rows} }

// longTables are the two factor vectors of LongRoPE (arXiv:2402.13753).
func longTables(rows int64) []Table {
	return []Table{{Role: dtype.RopeLong, Rows: rows}, {Role: dtype.RopeShort, Rows: rows}}
}
