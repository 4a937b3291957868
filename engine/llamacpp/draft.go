package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// A draft model for speculative decoding (arXiv:2211.17192) lies on the same devices, all of it unless -ngld
// says otherwise, and every slot drafts in a context as long as its own (tools/server/server-context.cpp).

// drafter returns the sizer of the draft model; nil if there is none.
func (s *sizer) drafter() (*sizer, error) {
	if s.job.Draft == nil {
		return nil, nil
	}
	p, main := plan.Plan{Context: s.job.Plan.Context, Sequences: s.job.Plan.Sequences, Attention: s.job.Plan.Attention}, s.job.Plan
	p.BatchTokens, p.UBatch, p.SplitMode, p.TensorSplit, p.Mmap, p.KVOffload, p.Reserved = main.BatchTokens, main.UBatch, main.SplitMode, main.TensorSplit, main.Mmap, main.KVOffload, main.Reserved
	if p.GPULayers, p.KV, p.KVV = main.DraftLayers, main.DraftKV, main.DraftKVV; p.SplitMode == "none" {
		p.MainGPU = main.MainGPU
	}
	j := &engine.Job{Model: s.job.Draft.Model, Weights: s.job.Draft.Weights, Machine: s.job.Machine, Plan: &p, Version: s.job.Version}
	s.program.Defaults(j)
	if err := s.program.Check(j); err != nil {
		return nil, err
	}
	d, err := s.program.Sizer(j)
	if err != nil {
		return nil, err
	}
	return d.(*sizer), nil
}

// draftParts are the items of a draft model: its buffers, but not the memory of driver and program.
var draftParts = map[string]bool{"weights": true, "kv_cache": true, "state": true, "compute": true, "output": true}

// addDraft books the draft model's buffers where they are held.
func (s *sizer) addDraft(b *ledger.Book, ranks []engine.Rank, l engine.Load) {
	if s.draft == nil {
		return
	}
	if s.set.unified && !s.set.shared {
		l.Context *= max(1, l.Sequences) // any slot may fill the shared cache
	}
	each := s.draft.Size(nil, engine.Load{Context: l.Context, Sequences: 1})
	for i, r := range s.draft.Size(b, l) {
		ranks[i].Items = s.drafted(ranks[i].Items, r.Items, each[i].Items, l.Sequences)
		ranks[i].Host = s.drafted(ranks[i].Host, r.Host, each[i].Host, l.Sequences)
	}
}

// drafted adds items under the draft model's name. A single context with all slots, or one per slot, keep the same
// caches, and compute buffers between those of one slot and of all.
func (s *sizer) drafted(out, items, each []ledger.Item, slots int64) []ledger.Item {
	for i, it := range items {
		if !draftParts[it.ID] {
			continue
		}
		if it.ID == "compute" && slots > 1 && !it.Unknown {
			it.Basis = ledger.Derived
			it = it.Band(it.Low, max(it.High, unit.Bytes(slots)*each[i].High))
		}
		it.ID, it.Name, it.Items = "draft."+it.ID, "draft model, "+it.Name, nil
		out = append(out, it)
	}
	return out
}
