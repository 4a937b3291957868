package training

import (
	"bytes"
	"strconv"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/config"
)

// shaped is the id of the first model of the catalog that is built from the same numbers; "" where there is none, and where
// those that are differ in their vocabulary, which the numbers leave open.
func shaped(d *config.Shape) string {
	id, vocab := "", int64(0)
	if d == nil {
		return id
	}
	for _, e := range catalog.All() {
		if !bytes.Contains(e.Config, strconv.AppendInt(nil, d.Hidden, 10)) {
			continue
		}
		s, err := e.Spec()
		if err != nil || !sameShape(s, d) {
			continue
		}
		if id == "" {
			id, vocab = e.ID, s.Vocab
		} else if s.Vocab != vocab {
			return ""
		}
	}
	return id
}

// likeness is a model of the catalog whose layers are of the same parts, and what of it the numbers change: a network that is built
// from numbers and that no catalog has. "" where the numbers do not say all.
func likeness(d *config.Shape) (id string, changes map[string]plan.Int) {
	if d == nil || !d.Plain {
		return "", nil
	}
	switch {
	case d.Experts > 0:
		id = "mixtral-8x7b"
	case !d.Gated:
		id = "starcoder-15b" // layers of GPT-2
	case d.Tied:
		id = "llama-3.2-1b"
	default:
		id = "llama-3.1-8b"
	}
	changes = map[string]plan.Int{}
	for name, n := range map[string]int64{
		"layers": d.Layers, "hidden": d.Hidden, "heads": d.Heads, "kv_heads": d.KVHeads, "head_dim": d.HeadDim, "vocab": d.Vocab,
		"experts": d.Experts, "experts_used": d.TopK, "expert_ffn": d.ExpertFFN,
	} {
		if n > 0 {
			changes[name] = plan.Int(n)
		}
	}
	if d.Experts == 0 {
		changes["ffn"] = plan.Int(d.FFN)
	}
	return id, changes
}

// sameShape compares what a description has.
func sameShape(s *family.Spec, d *config.Shape) bool {
	if int64(len(s.Layers)) != d.Layers || s.Hidden != d.Hidden || s.Tied != d.Tied || d.Vocab > 0 && s.Vocab != d.Vocab ||
		s.Vision != nil {
		return false
	}
	first, last := &s.Layers[0], &s.Layers[len(s.Layers)-1]
	if last.Cross.Heads > 0 { // a decoder that reads an encoder's output
		return false
	}
	a := &last.Attn
	if a.Heads != d.Heads || !d.Latent && (a.KVHeads != d.KVHeads || a.DimK != d.HeadDim) {
		return false
	}
	if d.Experts > 0 {
		m := &last.MoE
		return m.Experts == d.Experts && m.Used == d.TopK && m.Inner == d.ExpertFFN && m.Gated == d.Gated
	}
	return first.FFN.Inner == d.FFN && last.FFN.Inner == d.FFN && last.FFN.Gated == d.Gated && last.MoE.Experts == 0
}
