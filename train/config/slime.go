package config

import "github.com/memwall/memwall/plan"

// slime are the commands of its trainers (slime/utils/arguments.py): Megatron-LM's flags, and its own of what generates.
func slime() *framework {
	rules := append(megatronRules(), rule{get: getSlime}, rule{get: getSlimeBatch}, rule{get: getSlimeRollout})
	return &framework{
		name: "slime", title: "slime", plan: "megatron", marks: "--rollout-batch-size --rollout-num-gpus-per-engine",
		parts: []part{{name: "slime.sh", keys: "slime megatron torchrun", decode: fromShell, rules: rules}}, settle: settleMegatron,
	}
}

// getSlime: weights are bf16 and optimizer states shared unless something else is said (slime/backends/megatron_utils/arguments.py,
// set_default_megatron_args), whatever format the checkpoint of the engine has. The reference's weights wait in host memory and take the
// place of the actor's (actor.py, _switch_model), so that no device holds both.
func getSlime(in *Input, r *reader) {
	in.Training.Method, in.Training.Sharding, in.Training.ReferenceModel, in.Plan.Weights = "full", "zero1", "none", "bf16"
	if in.Training.Precision == "fp32" || in.Training.Precision == "" {
		in.Training.Precision = "bf16-mixed"
	}
	switch r.text("--advantage-estimator") {
	case "", "grpo", "gspo", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "cispo":
		in.Training.Objective = "grpo"
	case "ppo":
		in.Training.Objective = "ppo"
	default:
		r.keep("--advantage-estimator")
	}
	for _, key := range []string{"--ref-load", "--save", "--use-kl-loss", "--kl-loss-type", "--colocate", "--use-dynamic-batch-size"} {
		r.take(key)
	}
}

// getSlimeBatch: with batches that are filled a micro-batch has up to so many tokens on each device of a context parallel group, or
// those of the longest answer.
func getSlimeBatch(in *Input, r *reader) {
	prompt, _ := r.optional("--rollout-max-prompt-len")
	answer, _ := r.optional("--rollout-max-response-len")
	whole, _ := r.optional("--rollout-max-context-len")
	longest := prompt + answer
	if whole > 0 {
		longest = min(max(longest, whole), whole)
	}
	tokens, _ := r.optional("--max-tokens-per-gpu")
	if longest == 0 {
		return
	}
	in.Training.SequenceLength = plan.Int(longest)
	filled := tokens * max(1, in.Plan.CP)
	if filled == 0 || r.root.at("--use-dynamic-batch-size") == nil {
		return
	}
	in.Training.MicroBatch, in.Training.Packing = plan.Int(max(1, filled/longest)), truth(true)
}

// getSlimeRollout: SGLang generates, on the devices of the actor or on others.
func getSlimeRollout(in *Input, r *reader) {
	prompt, _ := r.optional("--rollout-max-prompt-len")
	answer, _ := r.optional("--rollout-max-response-len")
	samples, _ := r.optional("--n-samples-per-prompt")
	width, _ := r.optional("--rollout-num-gpus-per-engine")
	colocated := r.root.at("--colocate") != nil
	o := &plan.Rollout{Engine: "sglang", Samples: plan.Int(max(1, samples)), Prompt: plan.Int(prompt), Output: plan.Int(answer),
		TP: plan.Int(width), Colocated: &colocated}
	if colocated {
		o.Sleep, o.Away = truth(true), truth(true)
		o.Share, _ = r.share("--sglang-mem-fraction-static")
	}
	in.Training.Rollout = o
	prompts, _ := r.optional("--rollout-batch-size")
	steps, _ := r.optional("--num-steps-per-rollout")
	if in.Training.GlobalBatch == 0 && prompts > 0 {
		in.Training.GlobalBatch = plan.Int(prompts * max(1, samples) / max(1, steps))
	}
}
