package training

import (
	"bytes"
	"strconv"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
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

// sameShape compares what a description has.
func sameShape(s *family.Spec, d *config.Shape) bool {
	if int64(len(s.Layers)) != d.Layers || s.Hidden != d.Hidden || s.Tied != d.Tied || d.Vocab > 0 && s.Vocab != d.Vocab || s.Vision != nil {
		return false
	}
	first, last := &s.Layers[0], &s.Layers[len(s.Layers)-1]
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
