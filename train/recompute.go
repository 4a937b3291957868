package train

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// recompute says which blocks are recomputed, and what is kept of them.
type recompute struct {
	// share is the fraction of blocks recomputed whole; block, if set instead, is their number per chunk of a stage.
	share float64
	block float64
	// unit is the number of blocks recomputed together, of which only the first one's input is kept.
	unit float64
	// selective keeps the results of chosen operators (torchtitan).
	selective bool
	modules   model.Modules
}

// recomputeModules are Megatron's names of modules (megatron/core/transformer/transformer_config.py:
// recompute_modules).
var recomputeModules = map[string]model.Modules{
	"core_attn": model.CoreAttention, "mlp": model.DenseMLP, "moe": model.ExpertLayer, "shared_experts": model.SharedExperts,
	"layernorm": model.Norms, "moe_act": model.ExpertActs, "mla_up_proj": model.LatentUps,
}

// RecomputeModules returns the names of a model's modules that Megatron can recompute separately.
func RecomputeModules(m *model.Model) []string {
	names := []string{"core_attn", "mlp", "layernorm"}
	if m.Traits.Experts > 0 {
		names = append(names, "moe", "moe_act", "shared_experts")
	}
	if latent(m) {
		names = append(names, "mla_up_proj")
	}
	return names
}

// RecomputesModules reports whether a framework can recompute modules of a block separately.
func (f *Framework) RecomputesModules() bool { return f.megatron() }

func recomputeOf(j *Job) recompute {
	how, rest, _ := strings.Cut(j.Training.Recompute, ":")
	n, err := strconv.ParseFloat(rest, 64)
	counted := err == nil && n >= 1
	switch {
	case how == "full":
		return recompute{share: 1, unit: 1}
	case how == "selective" && j.Framework.Name == "torchtitan":
		return recompute{share: 1, unit: 1, selective: true}
	case how == "selective" && j.megatron():
		return recompute{unit: 1, modules: modulesOf(rest)}
	case how == "every" && counted:
		return recompute{share: 1 / n, unit: 1}
	case how == "uniform" && counted:
		return recompute{share: 1, unit: n}
	case how == "block" && counted:
		return recompute{block: n, unit: 1}
	}
	return recompute{unit: 1}
}

// modulesOf parses names joined by plus signs; Megatron's default is the attention core.
func modulesOf(names string) (out model.Modules) {
	if names == "" {
		return model.CoreAttention
	}
	for _, name := range strings.Split(names, "+") {
		out |= recomputeModules[name]
	}
	return out
}

// in returns the recomputation of a stage with the given layers and chunks.
func (r recompute) in(layers float64, chunks int64) recompute {
	if r.block > 0 && layers > 0 {
		r.share = min(1, r.block*float64(max(1, chunks))/layers)
	}
	r.unit = max(1, min(r.unit, layers/float64(max(1, chunks))))
	return r
}

// checkRecompute rejects what frameworks cannot recompute.
func checkRecompute(j *Job) error {
	r := j.Training.Recompute
	how, rest, listed := strings.Cut(r, ":")
	switch {
	case r == "none" || r == "full":
		return nil
	case how == "selective" && listed:
		return checkModules(j, strings.Split(rest, "+"))
	case r == "selective":
		if j.megatron() || j.Framework.Name == "torchtitan" || j.Framework.Name == "megatron-deepspeed" {
			return nil
		}
		return impossible("recompute", r, "--recompute full, or none", "%s computes whole blocks again or none; megatron and torchtitan choose operators", j.Framework.Name)
	case how == "every" || how == "uniform" || how == "block":
		return checkLayers(j, how, rest)
	}
	return unknown("recompute", r, "none", "selective", "full", "every:4", "uniform:4", "block:4", "selective:mlp+layernorm")
}

// checkLayers checks that a number of layers does not exceed the model's. Only Megatron counts them per chunk of a
// stage.
func checkLayers(j *Job, how, count string) error {
	r := j.Training.Recompute
	n, err := strconv.Atoi(count)
	l := len(j.Model.Decoder().Layers)
	switch {
	case err != nil || n < 1:
		return unknown("recompute", r, "none", "selective", "full", "every:4", "uniform:4", "block:4")
	case n > l:
		return impossible("recompute", r, "--recompute full, none, or "+how+":N with N up to "+strconv.Itoa(l), "recompute = %s: %s has %d layers", r, j.Model.ID, l)
	case how != "every" && !j.megatron():
		return impossible("recompute", r, "--recompute full, or every:N", "recompute = %s is Megatron's way of counting layers, and %s has not got it", r, j.Framework.Name)
	}
	return nil
}

// checkModules checks that the framework is Megatron and the model has the modules.
func checkModules(j *Job, names []string) error {
	r := j.Training.Recompute
	if !j.megatron() {
		return impossible("recompute", r, "--framework megatron-bridge, or --recompute full", "recompute = %s: %s has no modules that compute again by themselves; megatron has", r, j.Framework.Name)
	}
	own := RecomputeModules(j.Model)
	for _, name := range names {
		switch {
		case recomputeModules[name] == 0:
			return &plan.Problem{Field: "recompute", Value: r, Message: "recompute = " + r + ": megatron has no module called " + name,
				Fix: "modules of " + strings.Join(own, ", ") + ", joined by +"}
		case !slices.Contains(own, name):
			return impossible("recompute", r, "leave "+name+" out", "recompute = %s: %s has no such part of a layer", r, j.Model.ID)
		}
	}
	return nil
}

// latent reports whether any layer uses latent attention (arXiv:2405.04434).
func latent(m *model.Model) (found bool) {
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			found = found || k.Ops[i].Attn != nil && k.Ops[i].Attn.Latent != nil
		}
	})
	return found
}
