package question

import (
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/called"
	"github.com/memwall/memwall/engine/llamacpp"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

// handy are the formats that people run on their own devices, best first: all lose little compared to 16 bits.
var handy = []string{"q8_0", "q6_k", "q5_k_m", "q4_k_m"}

// handyOf are those of engines with formats of their own.
var handyOf = map[string][]string{
	"mlx-lm": {"mlx-8bit", "mlx-6bit", "mlx-5bit", "mlx-4bit"}, "exllamav2": {"exl2-8.0bpw", "exl2-6.0bpw", "exl2-5.0bpw", "exl2-4.0bpw"},
	"exllamav3":     {"exl3-8.0bpw", "exl3-6.0bpw", "exl3-5.0bpw", "exl3-4.0bpw"},
	"ktransformers": handy,
}

// personal reports whether the machine typically serves a single user: a consumer card, one or more Macs, a computer
// without an accelerator, a card too old for serving engines.
func personal(j *engine.Job) bool {
	m := j.Machine
	if m == nil || m.CPUOnly {
		return m != nil && m.CPUOnly
	}
	d := j.Device(0)
	if m.Nodes > 1 {
		return d != nil && (d.Vendor == "Apple" || !engine.Runs("vllm", d))
	}
	return d == nil || d.Consumer() || !engine.Runs("vllm", d)
}

// crosses reports whether layers use cross-attention, whose caches in llama.cpp are not described.
func crosses(s *family.Spec) bool { return len(s.Layers) > 0 && s.Layers[0].Cross.Heads > 0 }

// takesGGUF reports whether the name leaves the format open and llama.cpp supports the model's family.
func takesGGUF(r *api.Resolved) bool {
	return r.Format == "catalog" && r.Spec != nil && !r.Stated && llamacpp.Loads(r.Spec.Family) && !crosses(r.Spec)
}

// chooseFormat chooses the format of Ollama's library for a model that Ollama runs, else the best handy format that
// fits, if neither engine nor format was requested.
func (q *Question) chooseFormat() {
	if q.Request.Weights != "" || q.Resolved.Asked != "" || !takesGGUF(q.Resolved) || len(q.Original.Override) > 0 {
		return
	}
	if q.Engine.Name() == "ollama" {
		if q.Request.Weights = catalog.LibraryFormat(q.Resolved.ID); q.Request.Weights != "" {
			q.Job.Note("format_assumed", "info", "weights", "%s is what Ollama's library has; --weights overrides it", q.Request.Weights)
		}
		return
	}
	name, _, _ := strings.Cut(q.Original.Engine, "@")
	handy := handy
	if own, ok := handyOf[q.Engine.Name()]; ok {
		handy = own
	} else if !engine.ReadsGGUF(q.Engine) {
		return
	}
	if open := name == "" || called.Find(name) != nil; !open || !personal(q.Job) {
		return
	}
	if own := dtype.FindRecipe(q.Resolved.Recipe); own != nil && own.InGGUF() != nil {
		return // GGUF files keep what it is published in
	}
	why := "as none of " + strings.Join(handy, ", ") + " fits"
	if q.Job.Machine != nil && q.Job.Machine.CPUOnly && !q.Job.Machine.Host.Memory.Known {
		why = "as nothing says how much memory there is"
	}
	q.Request.Weights = handy[len(handy)-1]
	for _, f := range handy {
		if q.fitsIn(f) {
			q.Request.Weights, why = f, "the best of "+strings.Join(handy, ", ")+" that fits"
			break
		}
	}
	q.Job.Note("format_assumed", "info", "weights", "%s and %s by default, %s; --engine and --weights override them", q.Engine.Name(),
		q.Request.Weights, why)
}

// fitsIn reports whether the question fits in a format.
func (q *Question) fitsIn(format string) bool {
	r := q.Original
	r.Ask, r.Engine, r.Weights, r.Explain, r.Also = "fit", q.Request.Engine, format, false, nil
	r.Fit = "" // which would offload whatever does not fit
	r.Plan.Context, r.Plan.BatchTokens, r.Plan.Attention = q.Request.Plan.Context, q.Request.Plan.BatchTokens, q.Request.Plan.Attention
	recipe := dtype.FindRecipe(format)
	if recipe == nil || outgrows(q, &r, recipe) {
		return false
	}
	trial, ranks, err := q.Env.Silently().SizedRanks(&r)
	return err == nil && trial.Verdict(ranks) == api.Fits
}

// outgrows reports whether the layers alone exceed all devices in a format, with none left on the host. It avoids
// sizing what cannot fit.
func outgrows(q *Question, r *api.Request, recipe *dtype.Recipe) bool {
	m := q.Job.Machine
	placed := r.GPULayers != nil || r.CPUMoE != nil || r.OverrideTensor != "" || r.Fit == "on"
	if m == nil || m.CPUOnly || m.Memory() == 0 || placed || recipe.Store != dtype.GGUF || q.Engine.Name() != "llama.cpp" {
		return false
	}
	b := q.Env.Build(BuiltKey{q.Resolved, recipe.Name, true, q.cast}, func() BuiltModel {
		n := q.Resolved.Spec.Converted().Model(q.Resolved.ID)
		return BuiltModel{n, n.Store(recipe)}
	})
	layers := unit.Bytes(0)
	for i := range b.Weights.Parts[0].Variants {
		v := &b.Weights.Parts[0].Variants[i]
		layers += unit.Bytes(v.Count) * v.Bytes()
	}
	return layers > m.Memory()
}
