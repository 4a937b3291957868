package config

import "strings"

// The files of TRL's command line, such as trl sft --config train.yaml, which DeepSpeed's and accelerate's files go
// with. They hold the trainer's settings and, beside them, those of ModelConfig.

// modelKeys are the names of ModelConfig.
var modelKeys = adapterKeys{
	use: "use_peft", dora: "use_dora", eight: "load_in_8bit", four: "load_in_4bit", kind: "bnb_4bit_quant_type", nested: "use_bnb_nested_quant", storage: "bnb_4bit_quant_storage",
	rank: "lora_r", alpha: "lora_alpha", dropout: "lora_dropout", targets: "lora_target_modules", save: "lora_modules_to_save",
}

// trlFiles are train.yaml for each objective; extra rules belong to the launcher, whose file launch names.
func trlFiles(launch string, extra ...rule) []part {
	file := func(objectives, list string, own []rule) part {
		return part{
			name: "train.yaml", keys: list + " trl-model transformers",
			rules:  joined(model(), adapters(modelKeys), own, trainer(""), []rule{precisions("", "dtype"), processes()}, extra),
			decode: yamlOrArguments, encode: func(_ *Input, s *section) string { return toYAML(s) },
			run:    func(in *Input) string { return "trl " + program(in) + " --config train.yaml" + launch },
			needed: func(in *Input) bool { return has(objectives, in.Training.Objective) },
		}
	}
	return []part{
		file("sft pretrain", "trl-sft", sft("")),
		file("dpo", "trl-dpo", dpo("")),
		file("grpo", "trl-grpo", grpo("")),
	}
}

// program is the subcommand of an objective.
func program(in *Input) string {
	return strings.Replace(in.Training.Objective, "pretrain", "sft", 1)
}

// model are the model, its attention and the data.
func model() []rule {
	return joined([]rule{
		loads("model_name_or_path"),
		fixed("dataset_name", "path/to/dataset"),
	}, hfAttention("attn_implementation"))
}

// trlSays are what TRL's configurations have words for, whatever launches them.
func trlSays(more map[string]string) map[string]string {
	says := map[string]string{
		"objective": "sft pretrain dpo grpo", "method": "full lora qlora dora", "weights": "nf4 nf4-single bnb-int8",
		"reference_model": "none", "rollout": "vllm", "optimizer": hfOptimizers, "precision": "bf16-mixed bf16 fp16-mixed fp32 tf32",
		"recompute": "none full", "attention": "flash sdpa eager", "fused_loss": "true", "fused_kernels": "true", "compile": "true",
		"sequence_length": "*", "micro_batch": "*", "accumulation": "*", "lora_rank": "*", "lora_targets": "*", "lora_dropout": "*", "modules_to_save": "*",
		"packing": "true", "offload.activations": "host",
	}
	for k, v := range more {
		says[k] = v
	}
	return says
}

// trlRefuses are combinations that TRL does not run.
func trlRefuses(more ...refusal) []refusal {
	return append([]refusal{
		{"packing", func(in *Input) bool { return yes(in.Training.Packing) && !has("sft pretrain", in.Training.Objective) }, "packs samples, and preferences and prompts are never packed", "packing = false"},
		{"fused_loss", func(in *Input) bool {
			return !has("sft pretrain", in.Training.Objective) && yes(in.Training.FusedLoss) != yes(in.Training.Fused)
		}, "comes with Liger's kernels in this objective, or not at all", "fused_loss = fused_kernels"},
		{"offload.activations", func(in *Input) bool {
			return place(in, activations) == "host" && in.Training.Objective == "grpo"
		}, "is not a setting of GRPOConfig", "offload.activations = none"},
		{"reference_model", func(in *Input) bool {
			return in.Training.ReferenceModel == "none" && has("sft pretrain", in.Training.Objective)
		}, "leaves out what this objective does not have", "without reference_model"},
		{"accumulation", partGroups, "x micro_batch x dp is not a whole number of prompts with all their answers", "accumulation = a multiple of the answers to one prompt"},
		{"rollout", func(in *Input) bool { return in.Training.Rollout != nil && in.Training.Objective != "grpo" }, "writes answers, which only grpo scores", "objective = grpo"},
	}, more...)
}

// partGroups tells a step that ends between the answers to one prompt.
func partGroups(in *Input) bool {
	o, t := in.Training.Rollout, &in.Training
	return t.Objective == "grpo" && o != nil && o.Samples > 0 && int64(t.MicroBatch*t.Accumulation)*replicas(in)%int64(o.Samples) != 0
}
