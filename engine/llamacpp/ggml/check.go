package ggml

import (
	"fmt"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// noRule says that a model has a step that no rule lowers: its compute buffer can only be derived.
func noRule(family, step string) error {
	return fault.New(fmt.Sprintf("llama.cpp's graph of %s is not known: no rule for %s", family, step),
		"use the formulas for the compute buffer")
}

// limit is what a dimension may be: of what llama.cpp takes, or of what a model can have.
type limit struct {
	what          string
	got, min, max int64
}

// check gives what is wrong with the dimension.
func (l limit) check() error {
	if l.got >= l.min && l.got <= l.max {
		return nil
	}
	return fault.New(fmt.Sprintf("%s of %s: must be from %s to %s", l.what, unit.Count(l.got), unit.Count(l.min), unit.Count(l.max)),
		"correct the model's description")
}

const (
	maxLayers  = 512     // LLAMA_MAX_LAYERS in src/llama-hparams.h
	maxExperts = 512     // LLAMA_MAX_EXPERTS in src/llama-hparams.h
	maxWidth   = 1 << 24 // of a row
	maxKernel  = 1 << 16 // of a convolution
)

// check refuses what would make a graph without bounds or without meaning.
func check(m *model.Model) error {
	p := m.Decoder()
	if err := (limit{"layers", int64(max(1, len(p.Layers))), 1, maxLayers}).check(); err != nil {
		return err
	}
	for _, k := range append([]model.Kind{p.Pre, p.Post}, p.Kinds...) {
		for i := range k.Ops {
			if step := newer(&k.Ops[i]); step != "" {
				return noRule(m.Family, step)
			}
			if err := checkOp(m, &k.Ops[i]); err != nil {
				return err
			}
		}
	}
	return checkRoom(p)
}

// A graph has room for at most so many nodes a tensor, and for so many in any case (src/llama-context.cpp,
// graph_max_nodes, of the architectures with the most and 512 tokens).
const (
	nodesOfTensor = 32
	nodesAnyway   = 512 * 40
)

// checkRoom refuses experts whose rows alone, a view and a sum of each, are more nodes than a graph holds.
func checkRoom(p *model.Part) error {
	var tensors, nodes int64
	p.Each(func(k *model.Kind, count int64) {
		for i := range k.Ops {
			tensors += count * int64(len(k.Ops[i].W))
			if o := &k.Ops[i]; o.Kind == model.Combine {
				nodes += count * 2 * o.Moe.Used
			}
		}
	})
	return limit{"nodes that add the rows of experts", nodes, 0, max(nodesAnyway, nodesOfTensor*tensors)}.check()
}

// newer names a step that has no rule here, "" when it has one.
func newer(o *model.Op) string {
	switch {
	case o.Attn != nil && (o.Attn.Index != nil || o.Attn.OneKV):
		return "attention to chosen or compressed tokens"
	case o.Kind == model.Scan && o.Scan.Conv == 1:
		return "linear attention"
	case o.Kind == model.Concat && o.Unit == 0:
		return "values side by side"
	case o.Kind == model.Mix && o.Role == "" && o.In[1] == model.None:
		return "hyper-connections"
	}
	return ""
}

func checkOp(m *model.Model, o *model.Op) error {
	if a := o.Attn; a != nil && (a.CrossEncoder) {
		return noRule(m.Family, "attention to an encoder")
	}
	for _, l := range limits(o) {
		if err := l.check(); err != nil {
			return err
		}
	}
	return nil
}

// limits of an operator's dimensions, as far as lowering depends on them.
func limits(o *model.Op) (out []limit) {
	add := func(what string, got, most int64) { out = append(out, limit{what, got, 1, most}) }
	if a := o.Attn; a != nil {
		add("attention heads", a.Heads, maxWidth)
		add("KV heads", a.KVHeads, maxWidth)
		add("head width", a.DimK, maxWidth)
		add("value width", a.DimV, maxWidth)
	}
	if e := o.Moe; e != nil {
		add("experts", e.N, maxWidth)
		add("experts used", e.Used, maxExperts)
	}
	if s := o.Scan; s != nil {
		add("convolution kernel", s.Conv, maxKernel)
		add("state heads", s.Heads, maxWidth)
	}
	if s := o.Scan; s != nil && o.Kind == model.Scan {
		add("state width", s.State, maxWidth)
	}
	if o.Kind == model.Slice && o.Stride > 0 {
		add("part of a head", o.Unit, maxWidth)
	}
	return out
}
