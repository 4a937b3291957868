package train

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// stacked lists families whose experts are three-dimensional parameters in transformers, not linear layers
// (transformers/models: Llama4TextExperts, GptOssExperts, DbrxExpertGLU, GraniteMoeParallelExperts,
// Qwen3VLMoeTextExperts, Qwen3_5MoeExperts, Gemma4TextExperts).
var stacked = []string{"llama4", "gpt-oss", "dbrx", "granitemoe", "granitehybrid", "qwen3vlmoe", "qwen35moe", "gemma4"}

// passesExperts reports whether experts are skipped because the framework handles linear layers only and the model's
// experts are not: bitsandbytes leaves them unquantized (transformers/integrations/bitsandbytes.py:
// replace_with_bnb_linear), and adapters named by layers or all-linear exclude them (peft/tuners/tuners_utils.py:
// inject_adapter).
func passesExperts(j *Job) bool {
	return j.Framework.Keep.Linear && j.Model.Traits.Experts > 0 && slices.Contains(stacked, j.Model.Family)
}

// linear returns a bitsandbytes recipe as the framework applies it, with what it skips in 16 bits. nf4-all and
// bnb-int8-all also quantize experts: while loading (axolotl/monkeypatch/moe_quant.py: quantize_moe_experts), or in
// checkpoints that have them as linear layers.
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

// Recipe returns the named recipe as the framework applies it to frozen weights; nil if there is none.
func Recipe(j *Job, name string) *dtype.Recipe {
	r := dtype.FindRecipe(name)
	if r == nil {
		return nil
	}
	return linear(j, r)
}

// beyondExperts excludes from the adapted tensors the experts that adapters skip.
func beyondExperts(j *Job, adapts func(*model.Tensor) bool) func(*model.Tensor) bool {
	if !passesExperts(j) {
		return adapts
	}
	return func(t *model.Tensor) bool { return !t.Role.Expert() && adapts(t) }
}

// packsStacks reports whether a recipe quantizes stacked experts.
func packsStacks(recipe string) bool { return recipe == "nf4-all" || recipe == eightBitStacks }

const eightBitStacks = "bnb-int8-all"

// stackBytes returns the size of a block's experts in the compute format if quantized as stacks: a module holds them
// dequantized from its forward to its backward pass (torch/nn/utils/parametrize.py: cached;
// axolotl/monkeypatch/moe_quant.py), 8-bit ones in fp32 (bitsandbytes/functional.py: int8_vectorwise_dequant).
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
