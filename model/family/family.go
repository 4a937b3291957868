package family

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
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

// UnknownError says that no family has the architecture.
type UnknownError struct{ Arch string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no model family reads the architecture %q", e.Arch)
}

// Families lists all families by name.
func Families() []*Family { return families }

// ByClass finds the family of a class name or model type; nil when unknown.
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

// ByGGUF finds the family of a GGUF architecture; nil when unknown.
func ByGGUF(arch string) *Family {
	for _, f := range families {
		if f.Header == nil {
			continue
		}
		if f.Name == arch {
			return f
		}
		for _, g := range f.GGUF {
			if g == arch {
				return f
			}
		}
	}
	return nil
}

// FromConfig reads a config.json into a Spec.
func FromConfig(c *Config) (*Spec, error) {
	class, kind := c.Class(), c.Str("model_type")
	f := ByClass(class, kind)
	if f == nil {
		if err := c.Err(); err != nil {
			return nil, err
		}
		if class == "" && kind == "" {
			return nil, &FieldError{Field: "architectures", Problem: "is missing, and so is model_type", Fix: "give the model's own config.json"}
		}
		return nil, &UnknownError{Arch: strings.TrimSpace(class + " " + kind)}
	}
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
	return s, s.Check()
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
	return s, s.Check()
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
	return s.checkKinds()
}

// checkKinds: a part can hold 255 different layers, far more than any model has.
func (s *Spec) checkKinds() error {
	seen := map[Layer]bool{}
	for _, l := range s.Layers {
		seen[l] = true
	}
	if len(seen) > 250 {
		return &FieldError{Field: "layers", Value: fmt.Sprint(len(seen), " different ones"), Problem: "are more than memwall tells apart", Fix: "report the model"}
	}
	return nil
}

func (l *Layer) check(i int) error {
	a := &l.Attn
	if a.Heads > 0 && a.KVHeads > 0 && a.Heads%a.KVHeads != 0 {
		return &FieldError{Field: fmt.Sprintf("layer %d: KV heads", i), Value: fmt.Sprint(a.KVHeads),
			Problem: fmt.Sprintf("do not divide the %d attention heads", a.Heads), Fix: "correct num_key_value_heads"}
	}
	for _, x := range []int64{a.Heads * a.DimK, l.FFN.Inner, l.MoE.Inner, l.SSM.Inner, l.MoE.Experts} {
		if x > 1<<24 {
			return &FieldError{Field: fmt.Sprintf("layer %d", i), Value: fmt.Sprint(x), Problem: "a width larger than any model's", Fix: "correct the config"}
		}
	}
	if l.MoE.Used > l.MoE.Experts {
		return &FieldError{Field: fmt.Sprintf("layer %d: experts used", i), Value: fmt.Sprint(l.MoE.Used),
			Problem: fmt.Sprintf("more than the %d experts", l.MoE.Experts), Fix: "correct num_experts_per_tok"}
	}
	if s := &l.SSM; s.Inner > 0 && s.Heads > 0 && s.Inner%s.Heads != 0 {
		return &FieldError{Field: fmt.Sprintf("layer %d: state heads", i), Value: fmt.Sprint(s.Heads),
			Problem: fmt.Sprintf("do not divide the inner width %d", s.Inner), Fix: "correct the config"}
	}
	return nil
}

// Classes lists every class name that some family reads, sorted.
func Classes() []string {
	var out []string
	for _, f := range families {
		out = append(out, f.Classes...)
	}
	sort.Strings(out)
	return out
}

// repeat gives n equal layers.
func repeat(l Layer, n int) []Layer {
	out := make([]Layer, n)
	for i := range out {
		out[i] = l
	}
	return out
}

// FromConfigModel reads a config.json into a Model.
func FromConfigModel(id string, c *Config) (*model.Model, error) {
	s, err := FromConfig(c)
	if err != nil {
		return nil, err
	}
	return s.Model(id), nil
}

// FromHeaderModel reads a GGUF header into a Model.
func FromHeaderModel(id string, h Header) (*model.Model, error) {
	s, err := FromHeader(h)
	if err != nil {
		return nil, err
	}
	return s.Model(id), nil
}

func ropeTable(rows int64) Table { return Table{Role: dtype.RopeFreqs, Rows: rows} }

// longTables are the two factor vectors of LongRoPE (arXiv:2402.13753).
func longTables(rows int64) []Table {
	return []Table{{Role: dtype.RopeLong, Rows: rows}, {Role: dtype.RopeShort, Rows: rows}}
}
