package train

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// stacked are families whose experts are parameters of three dimensions in transformers' classes, and no linear layers
// (transformers/models: Llama4TextExperts, GptOssExperts, DbrxExpertGLU, GraniteMoeParallelExperts, Qwen3VLMoeTextExperts,
// Qwen3_5MoeExperts, Gemma4TextExperts).
var stacked = []string{"llama4", "gpt-oss", "dbrx", "granitemoe", "granitehybrid", "qwen3vlmoe", "qwen35moe", "gemma4"}

// passesExperts reports whether the framework works on linear layers alone, and the model's experts are none: bitsandbytes leaves
// them as they are (transformers/integrations/bitsandbytes.py: replace_with_bnb_linear), and adapters that are named by layers or
// all-linear are not of them (peft/tuners/tuners_utils.py: inject_adapter).
func passesExperts(j *Job) bool {
	return j.Framework.Keep.Linear && j.Model.Traits.Experts > 0 && slices.Contains(stacked, j.Model.Family)
}

// linear is a recipe of bitsandbytes as the framework applies it, and what it leaves out in 16 bits. nf4-all and bnb-int8-all are what a
// program makes of experts while it loads them (axolotl/monkeypatch/moe_quant.py: quantize_moe_experts), or of a checkpoint that has
// them as linear layers.
func linear(j *Job, r *dtype.Recipe) *dtype.Recipe {
	bnb := (r.Base == dtype.NF4 || r.Name == "bnb-int8") && !packsStacks(r.Name)
	if !bnb || !passesExperts(j) || slices.Contains(j.Framework.Keep.Unstacked, j.Model.Family) {
		return r
	}
	own := *r
	own.Note = "linear layers alone"
	own.Pick = func(s *dtype.Site) *dtype.Scheme {
		if s.Role.Expert() {
			return dtype.FindRecipe("bf16").Pick(s)
		}
		return r.Pick(s)
	}
	return &own
}

// Recipe of a name as the framework stores what does not train by it; nil when there is none.
func Recipe(j *Job, name string) *dtype.Recipe {
	r := dtype.FindRecipe(name)
	if r == nil {
		return nil
	}
	return linear(j, r)
}

// beyondExperts are the adapted tensors less those of experts that adapters pass over.
func beyondExperts(j *Job, adapts func(*model.Tensor) bool) func(*model.Tensor) bool {
	if !passesExperts(j) {
		return adapts
	}
	return func(t *model.Tensor) bool { return !t.Role.Expert() && adapts(t) }
}

// packsStacks reports whether a recipe packs experts as the stacks that they are.
func packsStacks(recipe string) bool { return recipe == "nf4-all" || recipe == eightBitStacks }

const eightBitStacks = "bnb-int8-all"

// stackBytes are those that all experts of a block take in the format that they are computed in, where they were packed as stacks: a module
// has them whole from its forward to its backward pass (torch/nn/utils/parametrize.py: cached; axolotl/monkeypatch/moe_quant.py), and those
// of 8 bits in fp32 (bitsandbytes/functional.py: int8_vectorwise_dequant).
func stackBytes(j *Job, h *share) float64 {
	if !packsStacks(j.Plan.Weights) || slices.Contains(j.Framework.Keep.Splits, j.Model.Family) {
		return 0
	}
	width := float64(j.width())
	if j.Plan.Weights == eightBitStacks {
		width = 4
	}
	return h.experts / float64(max(1, j.Plan.EP)) * width
}
