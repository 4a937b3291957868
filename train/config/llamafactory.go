package config

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/plan"
)

// llamaFactory is LLaMA-Factory's YAML (0.9.5), with DeepSpeed's JSON where ZeRO shards.
func llamaFactory() *framework {
	return &framework{
		name: "llama-factory", title: "LLaMA-Factory", plan: "llama-factory", names: "llamafactory llama_factory", marks: "stage finetuning_type template cutoff_len dataset_dir",
		says: map[string]string{
			"objective": "sft pretrain dpo ppo", "method": "full lora qlora dora", "weights": "nf4 nf4-single bnb-int8", "reference_model": "*", "reward_model": "*",
			"optimizer": hfOptimizers, "precision": "bf16-mixed bf16 fp16-mixed fp32 tf32 fp8", "sharding": "~none ~ddp zero1 zero2 zero3",
			"sequence_length": "*", "micro_batch": "*", "accumulation": "*", "recompute": "none full", "attention": "flash sdpa eager", "fused_kernels": "true", "fused_loss": "true", "compile": "true",
			"lora_rank": "*", "lora_targets": "*", "lora_dropout": "*", "modules_to_save": "*", "frozen": "*", "trained_layers": "*", "packing": "true", "offload.optimizer": "host nvme", "offload.params": "host nvme",
		},
		parts: []part{{
			name: "train.yaml", keys: "llama-factory transformers", rules: append(factoryRules(), processes()), decode: yamlOrArguments,
			encode: func(_ *Input, s *section) string { return toYAML(s) },
			run:    func(*Input) string { return "llamafactory-cli train train.yaml" },
		}, factoryV1(), deepspeedFile(zero)},
		ways:    []string{"finetuning_type=full lora oft freeze", "peft_config.name=lora", "dist_config.name=fsdp2 deepspeed"},
		refuses: slices.Concat(factoryRefuses(), rewardRefuses, zeroRefuses()),
	}
}

func factoryRefuses() []refusal {
	return []refusal{
		{"precision", func(in *Input) bool {
			return in.Training.Precision == "bf16" && in.Training.Sharding == "zero3"
		}, "is refused beside ZeRO-3", "precision = bf16-mixed"},
		{"precision", func(in *Input) bool { return in.Training.Precision == "fp8" && fourBit(in) }, "is refused beside quantised weights", "precision = bf16-mixed"},
		{"optimizer", func(in *Input) bool { return in.Training.Optimizer == "galore" && zero(in) }, "is refused beside DeepSpeed", "sharding = ddp"},
		{"fused_loss", func(in *Input) bool {
			return yes(in.Training.FusedLoss) != (yes(in.Training.Fused) && !scored(in))
		}, "comes with Liger's kernels, and without them in preferences and answers", "fused_loss = fused_kernels, false in dpo and ppo"},
		{"packing", func(in *Input) bool { return yes(in.Training.Packing) && scored(in) }, "packs samples, and preferences and prompts are never packed", "packing = false"},
		{"reference_model", func(in *Input) bool { return in.Training.ReferenceModel == "none" }, "is always loaded for full weights", "without reference_model"},
		{"frozen", func(in *Input) bool {
			return slices.ContainsFunc(in.Training.Frozen, func(p string) bool {
				return translate(p, factoryParts) == "" && (in.Training.Thawed == "" || back(p, blockModules) == "")
			})
		}, "names a part that has no switch", "frozen = vision,projector"},
	}
}

// scored: the loss is over preferences or rewards, and not over tokens alone.
func scored(in *Input) bool { return has("dpo ppo", in.Training.Objective) }

// factoryParts are the parts that freeze by a switch.
var factoryParts = []string{"vision=freeze_vision_tower", "projector=freeze_multi_modal_projector", "language=freeze_language_model"}

func factoryRules() []rule {
	return joined([]rule{
		loads("model_name_or_path"),
		words("stage", objective, "sft=sft", "pretrain=pt", "dpo=dpo", "ppo=ppo"),
		fixed("do_train", true),
		{put: putFactoryMethod, get: getFactoryMethod},
	}, ifAdapted(
		count("lora_rank", loraRank), made("lora_alpha", func(in *Input) any { return 2 * int64(in.Training.LoRARank) }), dropout("lora_dropout"),
		rule{put: putFactoryTargets, get: getFactoryTargets},
		rule{put: func(in *Input, s *section) {
			if len(in.Training.Full) > 0 {
				s.set("additional_target", strings.Join(in.Training.Full, ","))
			}
		}, get: texts("additional_target", func(in *Input) *[]string { return &in.Training.Full }).get},
	), []rule{
		{put: putFactoryFrozen, get: getFactoryFrozen},
		{put: func(in *Input, s *section) {
			if m := other(in, in.Training.ReferenceModel); m != "" {
				s.set("ref_model", m)
			}
		}, get: func(in *Input, r *reader) { in.Training.ReferenceModel = r.text("ref_model") }},
		{put: func(in *Input, s *section) {
			if m := in.Training.RewardModel; m != "" {
				s.set("reward_model", m)
				s.set("reward_model_type", "full") // the default is an adapter of the model itself
			}
		}, get: func(in *Input, r *reader) {
			if in.Training.RewardModel = r.text("reward_model"); r.root.textAt("reward_model_type") == "full" {
				r.take("reward_model_type")
			}
		}},
		fixed("dataset", "name_of_dataset"), fixed("template", "default"),
		count("cutoff_len", sequence),
		flag("packing", packing),
		words("flash_attn", attention, "flash=fa2", "sdpa=sdpa", "eager=disabled"), also("flash_attn", attention, "flash=fa3", "auto=auto"),
		{put: putFactoryLiger, get: getFactoryLiger},
		{put: func(in *Input, s *section) {
			s.set("disable_gradient_checkpointing", in.Training.Recompute == "none")
		}, get: words("disable_gradient_checkpointing", recompute, "none=true", "full=false").get},
		{put: putFactoryPrecision, get: getFactoryPrecision},
		{put: putFactoryZero, get: getFactoryZero},
	}, factoryTrainer())
}

// factoryTrainer are the arguments of every trainer, but for those that LLaMA-Factory has its own words for.
func factoryTrainer() []rule {
	return []rule{
		fixed("output_dir", "output"), fixed("overwrite_output_dir", true), fixed("learning_rate", 0.00002), fixed("num_train_epochs", 1.0),
		count("per_device_train_batch_size", microBatch), count("gradient_accumulation_steps", accumulation),
		{put: func(in *Input, s *section) {
			if in.Training.Optimizer == "galore" {
				s.set("use_galore", true)
				s.set("galore_target", "all")
				return
			}
			hfOptim("optim")[0].put(in, s)
		}, get: func(in *Input, r *reader) {
			for _, rule := range hfOptim("optim") {
				rule.get(in, r)
			}
			if r.on("use_galore") {
				in.Training.Optimizer = "galore"
				r.take("galore_target")
			}
		}},
		flag("torch_compile", compiled),
	}
}

func putFactoryType(in *Input, s *section) {
	switch {
	case in.Training.Thawed != "":
		putFactoryFreeze(in, s)
	case adapted(in):
		s.set("finetuning_type", "lora")
	default:
		s.set("finetuning_type", "full")
	}
}

func putFactoryMethod(in *Input, s *section) {
	putFactoryType(in, s)
	if in.Training.Method == "dora" {
		s.set("use_dora", true)
	}
	if eightBit(in) {
		s.set("quantization_method", "bnb")
		s.set("quantization_bit", int64(8))
	}
	if fourBit(in) {
		s.set("quantization_method", "bnb")
		s.set("quantization_bit", int64(4))
		s.set("quantization_type", "nf4")
		s.set("double_quantization", nested(in))
	}
}

// getFactoryMethod: NF4 with double quantisation is the default of four bits.
func getFactoryMethod(in *Input, r *reader) {
	if r.root.textAt("finetuning_type") == "freeze" {
		r.take("finetuning_type")
		getFactoryFreeze(in, r)
	} else {
		words("finetuning_type", method, "full=full", "lora=lora", "oft=oft").get(in, r)
	}
	getFactoryOFT(in, r)
	how, kind := r.text("quantization_method"), r.text("quantization_type")
	switch n, ok := r.optional("quantization_bit"); {
	case ok && n == 4 && (how == "" || has("bnb bitsandbytes", how)):
		in.Plan.Weights = "nf4"
		if twice, said := r.flag("double_quantization"); said && !twice {
			in.Plan.Weights = "nf4-single"
		}
		if in.Training.Method == "lora" {
			in.Training.Method = "qlora"
		}
	case ok && n == 8 && (how == "" || has("bnb bitsandbytes", how)):
		in.Plan.Weights = bnbInt8
	case ok:
		r.keep("quantization_bit")
	}
	if kind == "fp4" {
		r.keep("quantization_type")
	}
	if r.on("use_dora") {
		in.Training.Method = "dora"
	}
}

// getFactoryOFT: the size of a block is said, or how many there are, which no plan has a word for (LLaMA-Factory,
// hparams/finetuning_args.py).
func getFactoryOFT(in *Input, r *reader) {
	if in.Training.Method != "oft" {
		return
	}
	count("oft_block_size", loraRank).get(in, r)
	if n, _ := r.optional("oft_rank"); n > 0 {
		r.keep("oft_rank")
	}
}

func putFactoryTargets(in *Input, s *section) {
	target := strings.Join(in.Training.LoRA, ",")
	if target == "all-linear" {
		target = "all"
	}
	s.set("lora_target", target)
}

func getFactoryTargets(in *Input, r *reader) {
	key := "lora_target"
	if in.Training.Method == "oft" {
		key = "oft_target"
	}
	getTargets(key, in, r)
}

func getTargets(key string, in *Input, r *reader) {
	in.Training.LoRA = r.list(key)
	if len(in.Training.LoRA) == 1 && in.Training.LoRA[0] == "all" {
		in.Training.LoRA = []string{"all-linear"}
	}
}

// putFactoryFrozen says all parts once one is named: two of them are frozen unless the file says otherwise.
func putFactoryFrozen(in *Input, s *section) {
	if !slices.ContainsFunc(in.Training.Frozen, func(p string) bool { return translate(p, factoryParts) != "" }) {
		return
	}
	for _, p := range factoryParts {
		part, key, _ := strings.Cut(p, "=")
		s.set(key, slices.Contains(in.Training.Frozen, part))
	}
}

func getFactoryFrozen(in *Input, r *reader) {
	for _, p := range factoryParts {
		if part, key, _ := strings.Cut(p, "="); r.on(key) {
			in.Training.Frozen = append(in.Training.Frozen, part)
		}
	}
}

func putFactoryLiger(in *Input, s *section) {
	if in.Training.Fused != nil {
		s.set("enable_liger_kernel", *in.Training.Fused)
	}
}

func getFactoryLiger(in *Input, r *reader) {
	if on, said := r.flag("enable_liger_kernel"); said {
		in.Training.Fused = &on
		in.Training.FusedLoss = truth(on && !scored(in))
	}
}

// putFactoryPrecision: trained weights are kept in fp32 unless pure_bf16 is set.
func putFactoryPrecision(in *Input, s *section) { putSwitches(in, s, "pure_bf16") }

func getFactoryPrecision(in *Input, r *reader) {
	bf16, said := r.flag("bf16")
	pure, fp16, fp8, tf32 := r.on("pure_bf16"), r.on("fp16"), r.on("fp8"), r.on("tf32")
	in.Training.Precision = first(in.Training.Precision, named{fp8, "fp8"}, named{pure, "bf16"}, named{bf16, "bf16-mixed"}, named{fp16, "fp16-mixed"}, named{tf32, "tf32"}, named{said, "fp32"})
}

func putFactoryZero(in *Input, s *section) {
	if zero(in) {
		s.set("deepspeed", "ds_config.json")
	}
}

func getFactoryZero(in *Input, r *reader) { getShipped("deepspeed", in, r) }

// getShipped knows the files that LLaMA-Factory ships: ds_z3_offload_config.json.
func getShipped(key string, in *Input, r *reader) {
	file := r.text(key)
	for i, z := range []string{"ds_z0", "ds_z1", "ds_z2", "ds_z3"} {
		if !strings.Contains(file, z) {
			continue
		}
		in.Training.Sharding = []string{"ddp", "zero1", "zero2", "zero3"}[i]
		if strings.Contains(file, "_offload") {
			*offload(in) = plan.Offload{Optimizer: "host", Params: map[bool]string{true: "host", false: "none"}[i == 3]}
		}
	}
}
