package engine

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// Predictor is a part with multi-token prediction layers (arXiv:2412.19437, section 2.2), and how they are stored.
type Predictor struct {
	Part    *model.Part
	Weights *model.PartWeights
}

// Predicts returns the prediction layers of a model; nil if it has none.
func Predicts(m *model.Model, w *model.Weights) *Predictor {
	for i := range m.Parts {
		if m.Parts[i].Name == model.PartMTP {
			return &Predictor{&m.Parts[i], &w.Parts[i]}
		}
	}
	return nil
}

// DraftDefaults chooses the drafter in vLLM, SGLang and TensorRT-LLM: the draft model if given, else the model's
// prediction layers unless mtp is false, else n-grams or suffixes. If the plan asks for a drafter without a number of
// tokens, one is drafted.
func DraftDefaults(j *Job) {
	p := j.Plan
	if p.DraftTokens == 0 && (j.Draft != nil || Drafts(p.MTP) || p.DraftMethod != "") {
		p.DraftTokens = 1
		if p.DraftMethod == plan.DraftSuffix {
			p.DraftTokens = SuffixDepth
		}
		j.Default("draft_tokens", int64(p.DraftTokens))
	}
	if j.Draft != nil || p.DraftTokens == 0 {
		return
	}
	whoDrafts(j)
}

// SuffixDepth is the default maximum number of tokens drafted by suffix trees (vllm/config/speculative.py,
// suffix_decoding_max_tree_depth).
const SuffixDepth = 24

// whoDrafts chooses the drafter if there is no draft model.
func whoDrafts(j *Job) {
	p := j.Plan
	found := Predicts(j.Model, j.Weights)
	if p.MTP == nil {
		has := found != nil && p.DraftMethod == ""
		p.MTP = &has
		j.Default("mtp", has)
	}
	switch {
	case *p.MTP:
		j.MTP = found
	case p.DraftMethod == "":
		p.DraftMethod = plan.DraftNGram
		j.Default("draft_method", p.DraftMethod)
	}
}

// Drafts reports whether prediction layers are requested.
func Drafts(mtp *bool) bool { return mtp != nil && *mtp }

// CheckTarget rejects a drafter for a model that does not generate.
func CheckTarget(j *Job) error {
	if j.Draft == nil || len(j.Model.Decoder().Layers) == 0 || j.Model.Remembers() {
		return nil
	}
	return &plan.Problem{Field: "draft_model", Value: j.Draft.Model.ID, Impossible: true,
		Message: fmt.Sprintf("draft_model = %s: %s is an encoder, which generates nothing", j.Draft.Model.ID, j.Model.ID),
		Fix:     "leave it out"}
}

// CheckDrafts rejects missing prediction layers, two drafters, and a drafter for a model that does not generate.
func CheckDrafts(j *Job) error {
	if err := CheckTarget(j); err != nil {
		return err
	}
	switch m := j.Plan.DraftMethod; {
	case m != "" && (j.Draft != nil || Drafts(j.Plan.MTP)):
		return &plan.Problem{Field: "draft_method", Value: m, Impossible: true,
			Message: fmt.Sprintf("draft_method = %s: a model or prediction layers draft already", m),
			Fix:     "leave it out, or draft_model and mtp"}
	case m != "" && j.Plan.DraftBranches > 1:
		return &plan.Problem{Field: "draft_branches", Value: fmt.Sprint(j.Plan.DraftBranches), Impossible: true,
			Message: fmt.Sprintf("draft_branches = %d: %s drafts one stretch of the text, and no tree", j.Plan.DraftBranches, m),
			Fix:     "leave it out, or draft_model or mtp"}
	case !Drafts(j.Plan.MTP):
		return nil
	case j.Draft != nil:
		return &plan.Problem{Field: "mtp", Value: "true", Impossible: true,
			Message: fmt.Sprintf("mtp = true: %s drafts already", j.Draft.Model.ID), Fix: "leave draft_model or mtp out"}
	case j.MTP == nil:
		return &plan.Problem{Field: "mtp", Value: "true", Impossible: true,
			Message: fmt.Sprintf("mtp = true: %s has no prediction layers", j.Model.ID), Fix: "leave it out, or draft_model"}
	}
	return nil
}

// share returns the prediction layers held by a rank of the last stage, sharded like the model. Embedding and head are
// shared with the model (vllm/v1/spec_decode, _maybe_share_embeddings and _maybe_share_lm_head;
// sglang/srt/speculative/eagle_worker.py, set_embed_and_head).
func (d *Predictor) share(pl *Placed) *Placed {
	by := pl.Parallel
	placed, err := Place(d.Part, d.Weights, shard.Parallel{TP: by.TP, EP: by.EP, DP: by.DP,
		DenseTP: by.DenseTP, SharedTP: by.SharedTP})
	if err != nil { // one stage, sharded as the model already is
		panic(err)
	}
	s := &placed[0]
	s.Coord = pl.Coord
	s.Kinds = s.LocalKinds()
	return s
}

// item books the layers without the shared tables.
func (d *Predictor) item(b *ledger.Book, pl *Placed) ledger.Item {
	total := b.Lit(0)
	for i, g := range d.share(pl).WeightGroups() {
		var own unit.Bytes
		for t := range g.Tensors {
			if !g.Tensors[t].Role.Embedding() {
				own += g.Tensors[t].Local
			}
		}
		n := b.Size(InputName(g.Name), own, "sum over tensors, this rank")
		if g.Count > 1 {
			n = b.Mul(b.Int("layers", g.Count, g.Name), n)
		}
		if i > 0 {
			n = b.Add(total, n)
		}
		total = n
	}
	return ledger.Known("mtp.weights", "prediction layers", total, ledger.Derived, ledger.Persistent, ledger.Device,
		"tensors as stored, this rank; embedding and head are the model's")
}

// Steps returns how many tokens ahead the layers predict; a drafting step runs the layers for one.
func (d *Predictor) Steps() (n int) {
	for _, kind := range d.Part.Layers {
		if slices.ContainsFunc(d.Part.Kinds[kind].Ops, func(o model.Op) bool {
			return len(o.W) > 0 && o.W[0].Role == dtype.MTPProj
		}) {
			n++
		}
	}
	return max(1, n)
}

// LentHead reports whether the layers use the model's own head.
func (d *Predictor) LentHead() bool {
	for i := range d.Part.Kinds {
		if slices.ContainsFunc(d.Part.Kinds[i].Ops, func(o model.Op) bool { return o.Kind == model.Head }) {
			return false
		}
	}
	return true
}
