package engine

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// What is loaded beside the model: a draft model (arXiv:2211.17192) or the model's own prediction layers (predictor.go), and
// LoRA adapters (arXiv:2106.09685).

// WithDraft returns a rank's layers together with the drafter's, whose caches share the pool. The drafter runs on the
// last stage.
func WithDraft(j *Job, pl *Placed, kinds []KindCount) []KindCount {
	switch {
	case !pl.Post:
	case j.Draft != nil:
		return append(kinds[:len(kinds):len(kinds)], draftShare(j, pl).Kinds...)
	case j.MTP != nil:
		return append(kinds[:len(kinds):len(kinds)], j.MTP.share(pl).Kinds...)
	}
	return kinds
}

// draftShare returns one rank's share of the draft model: sharded like the target if that divides its heads, else
// replicated.
func draftShare(j *Job, pl *Placed) *Placed {
	d := j.Draft
	tp := pl.Parallel.TP
	if !divides(tp, d.Model) {
		tp = 1
	}
	placed, err := Place(d.Model.Decoder(), &d.Weights.Parts[0], shard.Parallel{TP: tp})
	if err != nil { // one stage and a tp that divides: cannot fail
		panic(err)
	}
	return &placed[0]
}

// extraItems books what is loaded besides the model.
func extraItems(b *ledger.Book, j *Job, pl *Placed) (out []ledger.Item) {
	switch {
	case !pl.Post:
	case j.Draft != nil:
		out = append(out, draftItem(b, j, pl))
	case j.MTP != nil:
		out = append(out, j.MTP.item(b, pl))
	}
	if len(j.Plan.Adapters) > 0 {
		out = append(out, adapterItem(b, j, pl))
	}
	return out
}

func draftItem(b *ledger.Book, j *Job, pl *Placed) ledger.Item {
	n := BookWeights(b, draftShare(j, pl).WeightSums(), "").Why
	return ledger.Known("draft.weights", "draft model "+j.Draft.Model.ID, n, ledger.Exact, ledger.Persistent, ledger.Device,
		"tensors as stored, this rank")
}

// adapterTargets maps module names of LoRA configurations to tensor roles.
var adapterTargets = map[string][]dtype.Role{
	"q_proj": {dtype.AttnQ, dtype.AttnQB}, "k_proj": {dtype.AttnK}, "v_proj": {dtype.AttnV}, "o_proj": {dtype.AttnOutput},
	"gate_proj": {dtype.FFNGate, dtype.FFNGateSh}, "up_proj": {dtype.FFNUp, dtype.FFNUpSh}, "down_proj": {dtype.FFNDown, dtype.FFNDownSh},
	"experts":  {dtype.FFNGateExps, dtype.FFNUpExps, dtype.FFNDownExps, dtype.FFNGateUpExps},
	"qkv_proj": {dtype.AttnQKV, dtype.AttnQ, dtype.AttnK, dtype.AttnV}, "in_proj": {dtype.SSMIn}, "out_proj": {dtype.SSMOut},
}

// CheckExtras rejects impossible adapters and images.
func CheckExtras(j *Job) error {
	if err := checkAdapters(j.Plan); err != nil {
		return err
	}
	return checkImages(j)
}

const maxAdapters = 256

// checkAdapters rejects an adapter without a rank or with an unknown target.
func checkAdapters(p *plan.Plan) error {
	if n := len(p.Adapters); n > maxAdapters {
		return &plan.Problem{Field: "adapters", Value: fmt.Sprint(n), Message: fmt.Sprintf("%d adapters", n),
			Fix: fmt.Sprintf("at most %d", maxAdapters)}
	}
	for i, a := range p.Adapters {
		field := fmt.Sprintf("adapters[%d]", i)
		if a.Rank < 1 || a.Rank > 1<<14 {
			return &plan.Problem{Field: field + ".rank", Value: fmt.Sprint(a.Rank),
				Message: fmt.Sprintf("%s.rank = %d is not a rank", field, a.Rank), Fix: "a number from 1, such as 16"}
		}
		for _, t := range a.Targets {
			if t != "all-linear" && adapterTargets[t] == nil {
				return &plan.Problem{Field: field + ".targets", Value: t,
					Message: fmt.Sprintf("%s.targets = %q is not a known linear layer", field, t),
					Fix:     "q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, experts or all-linear"}
			}
		}
		if a.Format != "" && dtype.FindFormat(a.Format) == nil {
			return &plan.Problem{Field: field + ".format", Value: a.Format,
				Message: fmt.Sprintf("%s.format = %q is not a known format", field, a.Format), Fix: "bf16, fp16 or fp32"}
		}
	}
	return nil
}

// adapterItem books the adapters: rank × (inputs + outputs) of every adapted matrix.
func adapterItem(b *ledger.Book, j *Job, pl *Placed) ledger.Item {
	total := b.Lit(0)
	for i, a := range j.Plan.Adapters {
		f := dtype.FindFormat(a.Format)
		if f == nil {
			f = ActivationFormat(j.Model)
		}
		n := b.Mul(b.Int("rank", int64(a.Rank), "plan"), b.Int("inputs_and_outputs", pl.adapted(&a), "of the adapted matrices, this rank"),
			b.Int("bytes", f.BlockBytes, f.Name))
		if i > 0 {
			n = b.Add(total, n)
		}
		total = n
	}
	return ledger.Known("adapters", fmt.Sprintf("%d LoRA adapters", len(j.Plan.Adapters)), total, ledger.Exact, ledger.Persistent,
		ledger.Device, "docs/formulas.md#adapters")
}

// Adapted returns a function that reports whether a matrix has an adapter. Without targets these are all linear layers
// except the head, as with PEFT's all-linear.
func Adapted(a *plan.Adapter) func(*model.Tensor) bool {
	on := map[dtype.Role]bool{}
	for _, t := range a.Targets {
		for _, r := range adapterTargets[t] {
			on[r] = true
		}
	}
	return func(t *model.Tensor) bool {
		linear := !t.Role.Expert() && !t.Role.Embedding() && t.Role != dtype.Output
		return t.Adapt && (on[t.Role] || len(on) == 0 && linear)
	}
}

// adapted returns the sum of inputs and outputs over the adapted matrices.
func (pl *Placed) adapted(a *plan.Adapter) (n int64) {
	on := Adapted(a)
	for _, g := range pl.WeightGroups() {
		for i := range g.Tensors {
			t := g.Tensors[i].Tensor
			if !on(t) {
				continue
			}
			p := pl.Parallel.Piece(t, pl.Coord)
			n += g.Count * p.Batch * (p.Rows + p.Cols)
		}
	}
	return n
}

// checkImages rejects images for a model without vision, and more of them than its context holds.
func checkImages(j *Job) error {
	n := int64(j.Plan.Images)
	if n == 0 || j.Plan.MMProj != "" {
		return nil
	}
	if j.Vision != nil {
		return &plan.Problem{Field: "images", Value: fmt.Sprint(n), Message: fmt.Sprintf("the GGUF file of %s leaves its vision tower out",
			j.Model.ID), Fix: "--mmproj FILE, which holds it"}
	}
	if !j.Model.Traits.Multimodal {
		return &plan.Problem{Field: "images", Value: fmt.Sprint(n), Message: j.Model.ID + " sees no images", Fix: "leave images out"}
	}
	if t := j.Model.Traits.ImageTokens; t > 0 && n*t > int64(j.Plan.Context) {
		return &plan.Problem{Field: "images", Value: fmt.Sprint(n), Message: fmt.Sprintf("%d images of %d tokens do not fit in a context of %d", n, t, j.Plan.Context), Fix: fmt.Sprintf("--ctx %d, or fewer images", unit.PadUp(n*t+1024, 1024))}
	}
	return nil
}
