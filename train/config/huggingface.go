package config

// Settings that the trainers of Hugging Face share: transformers' TrainingArguments (5), TRL's configurations
// (1.9) and peft's LoraConfig (0.20). prefix is where they stand: "" in a YAML file, "SFTConfig." in Python.

// trainer are the arguments of every trainer.
func trainer(prefix string) []rule {
	return joined([]rule{
		fixed(prefix+"output_dir", "output"),
		fixed(prefix+"learning_rate", 0.00002),
		count(prefix+"per_device_train_batch_size", microBatch),
		count(prefix+"gradient_accumulation_steps", accumulation),
	}, hfOptim(prefix+"optim"), []rule{
		galoreTargets(prefix + "optim_target_modules"),
		words(prefix+"gradient_checkpointing", recompute, "none=false", "full=true"),
		flag(prefix+"torch_compile", compiled),
		{get: func(in *Input, r *reader) { getTrainerFSDP(prefix+"fsdp", in, r) }},
	})
}

// getTrainerFSDP reads TrainingArguments.fsdp: "full_shard auto_wrap offload". Sharding of gradients alone has no word here, and stays unread.
func getTrainerFSDP(key string, in *Input, r *reader) {
	words := r.list(key)
	for _, w := range words {
		switch w {
		case "full_shard", "true":
			in.Training.Sharding = "fsdp"
		case "hybrid_shard":
			in.Training.Sharding = "hsdp"
		case "offload":
			o := offload(in)
			o.Params, o.Optimizer = "host", "host"
		case "auto_wrap", "false":
		default:
			r.keep(key)
		}
	}
}

// hfOptimizers are the optimizers that TrainingArguments.optim names.
const hfOptimizers = "adamw adamw-fused adamw-8bit adamw-4bit paged-adamw-8bit paged-adamw adafactor lion sgd galore schedule-free-adamw"

// galoreTargets: GaLore asks which layers it projects.
func galoreTargets(key string) rule {
	return made(key, func(in *Input) any {
		if in.Training.Optimizer != "galore" {
			return nil
		}
		return "all-linear"
	})
}

// adapterKeys are the names of peft's and bitsandbytes' settings in one place.
type adapterKeys struct {
	use, dora, eight, four, kind, nested string
	rank, alpha, dropout, targets, save  string
	compute, storage                     string
}

// adapters are the settings of LoRA, QLoRA and DoRA.
func adapters(k adapterKeys) []rule {
	return joined([]rule{{put: k.putMethod, get: k.getMethod}}, ifAdapted(
		count(k.rank, loraRank),
		made(k.alpha, func(in *Input) any { return 2 * int64(in.Training.LoRARank) }),
		dropout(k.dropout),
		texts(k.targets, func(in *Input) *[]string { return &in.Training.LoRA }),
		texts(k.save, func(in *Input) *[]string { return &in.Training.Full }),
	))
}

func (k *adapterKeys) putMethod(in *Input, s *section) {
	if k.use != "" {
		s.set(k.use, adapted(in))
	}
	if in.Training.Method == "dora" {
		s.set(k.dora, true)
	}
	if eightBit(in) {
		s.set(k.eight, true)
	}
	if !fourBit(in) {
		return
	}
	s.set(k.four, true)
	s.set(k.kind, "nf4")
	s.set(k.nested, nested(in))
	if k.compute != "" {
		s.set(k.compute, "bfloat16")
	}
	if k.storage != "" && sharded(in) {
		s.set(k.storage, "bfloat16") // shards are cut from weights of one format
	}
}

func (k *adapterKeys) getMethod(in *Input, r *reader) {
	t := &in.Training
	switch use, said := r.flag(k.use); {
	case use, k.use == "" && r.root.at(k.rank) != nil:
		t.Method = "lora"
	case said, k.use == "":
		t.Method = "full"
	}
	if r.on(k.eight) {
		in.Plan.Weights = bnbInt8
	}
	if r.on(k.four) {
		if t.Method == "lora" {
			t.Method = "qlora"
		}
		k.getWeights(in, r)
	}
	if r.on(k.dora) {
		t.Method = "dora"
	}
}

// getWeights reads the format of the base; only NF4 is a format that plans know.
func (k *adapterKeys) getWeights(in *Input, r *reader) {
	if r.text(k.kind) != "nf4" {
		r.keep(k.kind)
		return
	}
	in.Plan.Weights = "nf4-single"
	if r.on(k.nested) {
		in.Plan.Weights = "nf4"
	}
	r.take(k.compute)
	r.take(k.storage)
}

// texts is a list of names; an empty one is not written.
func texts(key string, at func(in *Input) *[]string) rule {
	return rule{
		put: func(in *Input, s *section) {
			if l := *at(in); len(l) > 0 {
				s.set(key, l)
			}
		},
		get: func(in *Input, r *reader) {
			if l := r.list(key); len(l) > 0 {
				*at(in) = l
			}
		},
	}
}

// precisions are bf16, fp16, tf32 and the format that the model is loaded in. Mixed precision keeps the trained
// weights in fp32: all of them when all are trained, the adapters (peft's own rule) when they are.
func precisions(prefix, dtype string) rule {
	return rule{
		put: func(in *Input, s *section) {
			p := in.Training.Precision
			s.set(prefix+"bf16", p == "bf16-mixed")
			s.set(prefix+"fp16", p == "fp16-mixed")
			if p == "tf32" {
				s.set(prefix+"tf32", true)
			}
			s.set(dtype, loaded(in))
		},
		get: func(in *Input, r *reader) {
			bf16, b := r.flag(prefix + "bf16")
			fp16, f := r.flag(prefix + "fp16")
			tf32, dt := r.on(prefix+"tf32"), r.text(dtype)
			p := precisionOf(bf16, fp16, tf32, b || f, dt, adapted(in))
			if launched := in.Training.Precision; p != "" && (launched == "" || launched == "fp32") {
				in.Training.Precision = p // else the launcher's file decides
			}
		},
	}
}

// loaded is the format that the weights are loaded in.
func loaded(in *Input) string {
	switch p := in.Training.Precision; {
	case p == "bf16", p == "bf16-mixed" && (adapted(in) || zero(in)), p == "fp8" && adapted(in):
		return "bfloat16"
	case p == "fp16-mixed" && (adapted(in) || zero(in)):
		return "float16"
	}
	return "float32"
}

// putSwitches writes a precision as one of the switches that stand beside each other in files of axolotl and
// LLaMA-Factory; pure is their name for 16 bits of everything.
func putSwitches(in *Input, s *section, pure string) {
	switch in.Training.Precision {
	case "bf16-mixed":
		s.set("bf16", true)
	case "bf16":
		s.set(pure, true)
	case "fp16-mixed":
		s.set("fp16", true)
	case "fp8":
		s.set("bf16", true)
		s.set("fp8", true)
	case "tf32":
		s.set("bf16", false)
		s.set("tf32", true)
	case "fp32":
		s.set("bf16", false)
	}
}

// precisionOf is the plan's word for what the flags and the format of the loaded weights say; "" when they say nothing.
func precisionOf(bf16, fp16, tf32, said bool, dtype string, adapted bool) string {
	half := dtype == "bfloat16"
	switch {
	case bf16 && half && !adapted:
		return "bf16" // there are no other weights than those of 16 bits
	case bf16:
		return "bf16-mixed"
	case fp16:
		return "fp16-mixed"
	case half:
		return "bf16"
	case tf32:
		return "tf32"
	case said:
		return "fp32"
	}
	return ""
}

// liger are the fused kernels of Liger, and TRL's own loss in chunks, which needs none of them.
func liger(prefix string, chunks bool) rule {
	use, kernels, loss := prefix+"use_liger_kernel", prefix+"liger_kernel_config.fused_linear_cross_entropy", prefix+"loss_type"
	return rule{
		put: func(in *Input, s *section) {
			fused, whole := yes(in.Training.Fused), yes(in.Training.FusedLoss)
			s.set(use, fused)
			if fused && !whole {
				s.set(kernels, false)
			}
			if chunks && !(fused && whole) {
				s.set(loss, map[bool]string{true: "chunked_nll", false: "nll"}[whole])
			}
		},
		get: func(in *Input, r *reader) {
			used, said := r.flag(use)
			if said {
				in.Training.Fused = &used
			}
			if used {
				off, named := r.flag(kernels)
				in.Training.FusedLoss = truth(off || !named)
				if chunks && r.text(loss) != "nll" {
					r.keep(loss)
				}
				return
			}
			switch kind := r.root.textAt(loss); {
			case chunks && (kind == "nll" || kind == "chunked_nll"):
				r.take(loss)
				in.Training.FusedLoss = truth(kind == "chunked_nll")
			case !chunks && said:
				in.Training.FusedLoss = truth(false)
			}
		},
	}
}

// offloaded are inputs of blocks that are kept on the host.
func offloaded(key string) rule {
	return rule{
		put: func(in *Input, s *section) {
			if in.Plan.Offload != nil && in.Plan.Offload.Activations != "" {
				s.set(key, in.Plan.Offload.Activations == "host")
			}
		},
		get: func(in *Input, r *reader) {
			if on, said := r.flag(key); said {
				offload(in).Activations = map[bool]string{true: "host", false: "none"}[on]
			}
		},
	}
}

// is reads an objective that the file itself tells.
func is(value string) rule {
	return rule{get: func(in *Input, _ *reader) { in.Training.Objective = value }}
}

// sft are the settings of TRL's SFTConfig beyond those of every trainer. Pre-training is the loss over all tokens.
func sft(prefix string) []rule {
	return []rule{
		is("sft"),
		{put: func(in *Input, s *section) {
			if in.Training.Objective == "pretrain" {
				s.set(prefix+"completion_only_loss", false)
			}
		}, get: func(in *Input, r *reader) {
			if only, said := r.flag(prefix + "completion_only_loss"); said && !only {
				in.Training.Objective = "pretrain"
			}
		}},
		count(prefix+"max_length", sequence),
		flag(prefix+"packing", packing),
		liger(prefix, true),
		offloaded(prefix + "activation_offloading"),
	}
}

// dpo are those of DPOConfig. The reference is left out when its log-probabilities are computed beforehand.
func dpo(prefix string) []rule {
	return []rule{
		is("dpo"),
		fixed(prefix+"beta", 0.1),
		{put: func(in *Input, s *section) {
			s.set(prefix+"precompute_ref_log_probs", in.Training.ReferenceModel == "none")
		}, get: func(in *Input, r *reader) {
			if r.on(prefix + "precompute_ref_log_probs") {
				in.Training.ReferenceModel = "none"
			}
		}},
		count(prefix+"max_length", sequence),
		liger(prefix, false),
		offloaded(prefix + "activation_offloading"),
	}
}
