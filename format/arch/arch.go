// Package arch reads a network described in a short YAML file: runs of layers, dimensions, experts, recurrent states,
// towers and embedding tables. It only requires shapes, and returns the same Spec that a family builds from a
// config.json.
//
// See arch.go for the top-level keys, layers.go, mixers.go, feed.go and tower.go for the others, and yaml.go for what
// is rejected up front. docs/guides/describe-a-model.md documents the format.
package arch

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/family"
)

// Described is a network with the name in its file, "" if none.
type Described struct {
	Name string
	Spec *family.Spec
}

// Own is the architecture's name if the file names no similar family.
const Own = "described"

// Parse parses a description. Errors in the file are *fault.Error; inconsistencies of the whole are *family.FieldError.
func Parse(text []byte) (*Described, error) {
	root, err := decode(text)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	o := r.object(root, "")
	d := &Described{Name: o.text("name"), Spec: o.network()}
	o.close()
	if r.err != nil {
		return nil, r.err
	}
	return d, d.Spec.Check()
}

// reader holds state for the whole file.
type reader struct {
	err     *fault.Error
	layers  int64 // total over all parts
	encodes bool
	turns   int64 // rotary dimensions per head, in the first attention layer of the first part
}

// network reads what is outside the layers, then the layers.
func (o *object) network() *family.Spec {
	s := &family.Spec{Arch: Own, Family: Own}
	o.r.encodes = o.word("kind", "decoder", "decoder", "encoder") == "encoder"
	s.Encodes, s.NoHead = o.r.encodes, !o.flag("head", !o.r.encodes)
	o.like(s)
	s.Native = o.format("dtype", dtype.BF16)
	s.Source.State = o.format("state_dtype", nil)
	s.Context = o.number("context", 0)
	if o.has("vocab") || o.has("layers") {
		o.stack(s)
	}
	o.towers(s)
	if len(s.Layers) == 0 && s.Vision == nil && len(s.Beside) == 0 {
		o.missing("layers", "is missing: there is nothing to size", "add layers, or towers")
	}
	if s.Hidden == 0 && o.r.err == nil { // towers only
		s.Encodes, s.NoHead, s.Hidden = true, true, append(s.Beside, s.Vision)[0].Width
	}
	return s
}

// stack reads the first part: embedding, layers, norm and head.
func (o *object) stack(s *family.Spec) {
	s.Vocab, s.Hidden = o.need("vocab"), o.need("hidden")
	s.Tied = o.flag("tied", false)
	norm := o.norm("norm", family.RMS)
	s.OutNorm, s.EmbedNorm = o.norm("out_norm", norm), o.norm("embed_norm", family.NoNorm)
	s.Positions, s.Segments = o.number("positions", 0), o.number("segments", 0)
	s.HeadBias, s.HeadCap = o.flag("head_bias", false), o.flag("head_cap", false)
	if n := o.number("rope_factors", 0); n > 0 {
		s.Tables = []family.Table{{Role: dtype.RopeFreqs, Rows: n}}
	}
	s.Before, s.After = o.weights("before", beforeRoles), o.weights("after", afterRoles)
	s.Layers = o.runs(s.Hidden, norm)
	if o.r.turns > 0 && s.Context > 0 { // engines precompute this table for the whole context
		s.Source.Rotary = []model.Rotary{{Positions: s.Context, Dim: o.r.turns}}
	}
}

// like reads the family whose rules engines apply: the GGUF architecture name.
func (o *object) like(s *family.Spec) {
	name := o.text("like")
	if name == "" {
		return
	}
	var names []string
	for _, f := range family.Families() {
		names = append(names, f.Name)
	}
	if !slices.Contains(names, name) {
		o.fail("like", quote(name), "is not an architecture that a family reads",
			didYouMean(name, names, "leave it out, or take the name that GGUF files use: llama"))
	}
	s.Arch, s.Family = name, name
}
