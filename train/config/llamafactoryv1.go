package config

import "cmp"

// factoryV1 are the arguments of LLaMA-Factory's second trainer (src/llamafactory/v1/config), read and never written.
func factoryV1() part {
	return part{
		name: "v1.yaml", keys: "llama-factory-v1", rules: factoryV1Rules(), decode: fromYAML,
		needed: func(*Input) bool { return false },
	}
}

// factoryV1Rules: weights stay in the 16 bits of their files, which dtype auto gives them (v1/core/model_engine.py).
func factoryV1Rules() []rule {
	return []rule{
		loads("model"),
		{get: getV1Method},
		count("peft_config.r", loraRank), dropout("peft_config.lora_dropout"), fixed("peft_config.lora_alpha", int64(16)),
		{get: func(in *Input, r *reader) { getTargets("peft_config.target_modules", in, r) }},
		count("micro_batch_size", microBatch), count("global_batch_size", globalBatch), count("cp_size", cp), count("cutoff_len", sequence),
		words("flash_attn", attention, "flash=flash_attention_2", "sdpa=sdpa", "eager=eager"),
		{get: getV1Recompute},
		words("optim_config.name", optimizerName, "muon=muon"),
		words("dist_config.name", func(in *Input) *string { return &in.Training.Sharding }, "fsdp2=fsdp2", "zero1=deepspeed"),
		{get: func(in *Input, r *reader) { getShipped("dist_config.config_file", in, r) }},
		{get: getV1Kernels},
		{get: func(_ *Input, r *reader) {
			for _, key := range []string{"model_class", "train_dataset", "sample_backend", "max_new_tokens", "dist_config.dcp_path"} {
				r.take(key) // data and samples
			}
		}},
	}
}

func getV1Method(in *Input, r *reader) {
	in.Training.Method, in.Training.Precision = cmp.Or(r.text("peft_config.name"), "full"), "bf16"
	if on, said := r.flag("bf16"); said && !on {
		r.keep("bf16")
	}
	if n, _ := r.optional("quant_config.quantization_bit"); n == 4 && r.text("quant_config.name") == "bnb" {
		in.Training.Method, in.Plan.Weights = "qlora", "nf4"
	} else {
		r.keep("quant_config.quantization_bit")
	}
}

// getV1Recompute: blocks are computed again unless a file says otherwise.
func getV1Recompute(in *Input, r *reader) {
	on, said := r.flag("enable_activation_checkpointing")
	in.Training.Recompute = map[bool]string{true: "full", false: "none"}[on || !said]
}

func getV1Kernels(in *Input, r *reader) {
	const kernels = "kernel_config.name"
	if r.text(kernels) == "liger_kernel" {
		in.Training.Fused, in.Training.FusedLoss = truth(true), truth(true)
		return
	}
	r.keep(kernels)
}
