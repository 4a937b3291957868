package llamacpp

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// --spec-type draft-mtp: the model's own prediction layers draft, in a context of their own beside the last layer
// (#22673). Their weights and cache follow from shapes; what their graph takes is assumed.

// predicts reports whether the prediction layers draft.
func (s *sizer) predicts() bool { return isOn(s.job.Plan.MTP) && s.job.MTP != nil }

// checkMTP: a build that can, and a model with such layers.
func checkMTP(j *engine.Job, r *rules) error {
	switch {
	case !isOn(j.Plan.MTP):
		return nil
	case !r.mtp:
		return impossible("mtp", true, "leave it out, or a build from b9294 on", "mtp = true: this build drafts with no prediction layers")
	case j.MTP == nil:
		return impossible("mtp", true, "leave it out, or draft_model", "mtp = true: %s has no prediction layers", j.Model.ID)
	case j.Plan.DraftModel != "": // -md of draft-mtp is a file with the model's own layers
		return impossible("draft_model", j.Plan.DraftModel, "one of the two",
			"mtp = true: the model's own prediction layers draft, and %s would too", j.Plan.DraftModel)
	}
	return nil
}

// addMTP books the prediction layers at the place of the output layer.
func (s *sizer) addMTP(b *ledger.Book, out []ledger.Item, at int, place ledger.Place, sh *shape) []ledger.Item {
	if !s.predicts() || s.layout.head != s.graphOf(at) {
		return out
	}
	const source = "src/llama-model.cpp (load_mtp)"
	w := ledger.Known("mtp.weights", "prediction layers", b.Size("layers", s.job.MTP.Weights.Bytes(), "as the recipe stores them"), ledger.Derived, ledger.Persistent, place, source)
	out = append(out, w.Band(w.Bytes-w.Bytes/50, w.Bytes+w.Bytes/50))
	kv := ledger.Known("mtp.kv_cache", "cache of the prediction layers", b.Size("cells", s.mtpCache(sh), "cells × rows of keys and values"), ledger.Derived, ledger.SemiPersistent, place, "src/llama-kv-cache.cpp")
	if kv.Bytes > 0 {
		out = append(out, kv)
	}
	rows := b.Mul(b.Int("tokens", sh.tokens, "ubatch"), b.In("widest", widest(s.job.MTP.Part, s.job.Model.Hidden), "numbers of one token alive at once"))
	logits := b.Mul(b.Int("outputs", sh.slots, "slots"), b.Int("vocabulary", s.job.Model.Vocab, "model"))
	graph := ledger.Known("mtp.compute", "graph of the prediction layers", b.Mul(b.Lit(4), b.Max(rows, logits)), ledger.Assumed, ledger.Ephemeral, place, "as a graph without rules, with a wider band")
	return append(out, graph.Band(graph.Bytes/2, 2*graph.Bytes))
}

// mtpCache is what prediction layers keep of every cell; their cache has the draft's formats.
func (s *sizer) mtpCache(sh *shape) (n unit.Bytes) {
	k, v := cacheFormat("f16"), cacheFormat("f16")
	if f := s.job.Plan.DraftKV; f != "" {
		k, v = cacheFormat(f), cacheFormat(f)
	}
	if f := s.job.Plan.DraftKVV; f != "" {
		v = cacheFormat(f)
	}
	part := s.job.MTP.Part
	for _, kind := range part.Layers {
		part.Kinds[kind].Caches(func(c model.Cache) { n += s.mtpRow(&c, k, v) * unit.Bytes(sh.cells*sh.streams) })
	}
	return n
}

// mtpRow is a row of one layer: latent attention keeps keys alone.
func (s *sizer) mtpRow(c *model.Cache, k, v *dtype.Format) unit.Bytes {
	switch c.Class {
	case model.StateCache:
		return 0
	case model.LatentKV:
		return k.Row(c.K)
	}
	return k.Row(c.K) + v.Row(c.V)
}
