package config

import "github.com/memwall/memwall/plan"

// deepspeed is DeepSpeed's JSON (0.19) with the arguments of TRL that go with it.
func deepspeed() *framework {
	return &framework{
		name: "deepspeed", title: "DeepSpeed with TRL", plan: "deepspeed",
		says: trlSays(map[string]string{
			"sharding": "ddp zero1 zero2 zero3", "tp": "*", "global_batch": "*", "dp": "*",
			"offload.optimizer": "host nvme", "offload.params": "host nvme",
		}),
		parts:   append([]part{deepspeedFile(func(*Input) bool { return true })}, trlFiles("", fixed("deepspeed", "ds_config.json"))...),
		refuses: append(zeroRefuses(), trlRefuses()...),
		settle:  settleZero,
	}
}

// deepspeedFile is the JSON that other frameworks take as well.
func deepspeedFile(needed func(*Input) bool) part {
	return part{
		name: "ds_config.json", keys: "deepspeed", rules: deepspeedRules(), needed: needed,
		decode: fromJSON, encode: func(_ *Input, s *section) string { return toJSON(s) },
	}
}

func deepspeedRules() []rule {
	return []rule{
		{put: func(in *Input, s *section) {
			t := &in.Training
			s.set("train_batch_size", int64(t.MicroBatch)*int64(t.Accumulation)*replicas(in))
		}, get: count("train_batch_size", globalBatch).get},
		count("train_micro_batch_size_per_gpu", microBatch),
		count("gradient_accumulation_steps", accumulation),
		fixed("gradient_clipping", 1.0),
		fixed("zero_allow_untested_optimizer", true),
		{put: putZeroPrecision, get: getZeroPrecision},
		{put: func(in *Input, s *section) { s.set("zero_optimization.stage", in.Training.ZeROStage()) }, get: getStage},
		zeroOffload("offload_optimizer", optimizer, func(o *plan.Offload) *string { return &o.Optimizer }),
		zeroOffload("offload_param", params, func(o *plan.Offload) *string { return &o.Params }),
		{put: func(in *Input, s *section) {
			if in.Plan.TP > 1 {
				s.set("tensor_parallel.autotp_size", in.Plan.TP)
			}
		}, get: count("tensor_parallel.autotp_size", tp).get},
	}
}

// putZeroPrecision: DeepSpeed keeps fp32 masters beside weights of 16 bits unless told to keep none.
func putZeroPrecision(in *Input, s *section) {
	p := in.Training.Precision
	s.set("bf16.enabled", p == "bf16-mixed" || p == "bf16" || p == "fp8")
	if p == "bf16" {
		s.set("bf16.bf16_master_weights_and_grads", true)
		s.set("bf16.bf16_optimizer_states", true)
	}
	s.set("fp16.enabled", p == "fp16-mixed")
}

func getZeroPrecision(in *Input, r *reader) {
	bf16, b := r.flag("bf16.enabled")
	fp16, f := r.flag("fp16.enabled")
	whole, states := r.on("bf16.bf16_master_weights_and_grads"), r.on("bf16.bf16_optimizer_states")
	switch {
	case in.Training.Precision == "fp8": // which the trainer does over these weights
	case bf16 && whole && states:
		in.Training.Precision = "bf16"
	case bf16:
		in.Training.Precision = "bf16-mixed"
	case fp16:
		in.Training.Precision = "fp16-mixed"
	case b && f && in.Training.Precision == "":
		in.Training.Precision = "fp32"
	}
	if whole != states { // half of it is not precision of a plan
		r.keep("bf16.bf16_master_weights_and_grads")
		r.keep("bf16.bf16_optimizer_states")
	}
}

func getStage(in *Input, r *reader) {
	n, ok := r.optional("zero_optimization.stage")
	if !ok || n > 3 {
		r.keep("zero_optimization.stage")
		return
	}
	in.Training.Sharding = []string{"ddp", "zero1", "zero2", "zero3"}[n]
}

// zeroOffload is a block of ZeRO-Offload or ZeRO-Infinity.
func zeroOffload(key string, of func(*plan.Offload) string, at func(*plan.Offload) *string) rule {
	key = "zero_optimization." + key
	return rule{
		put: func(in *Input, s *section) {
			device := map[string]string{"host": "cpu", "nvme": "nvme"}[place(in, of)]
			if device == "" {
				return
			}
			s.set(key+".device", device)
			s.set(key+".pin_memory", true)
			if device == "nvme" {
				s.set(key+".nvme_path", "/local_nvme")
			}
		},
		get: func(in *Input, r *reader) {
			if r.root.at(key) == nil {
				return
			}
			where := map[string]string{"cpu": "host", "nvme": "nvme", "none": "none"}[r.text(key+".device")]
			if where == "" {
				r.keep(key + ".device")
				return
			}
			*at(offload(in)) = where
			r.take(key + ".pin_memory")
			r.take(key + ".nvme_path")
		},
	}
}

// settleZero: the replicas follow from the batch.
func settleZero(in *Input) {
	t := &in.Training
	if n := int64(t.MicroBatch) * int64(t.Accumulation); n > 0 && int64(t.GlobalBatch)%n == 0 && in.Plan.DP == 0 {
		in.Plan.DP = int64(t.GlobalBatch) / n
	}
}

// zeroRefuses are combinations that DeepSpeed does not run.
func zeroRefuses() []refusal {
	off := place
	return []refusal{
		{"sharding", func(in *Input) bool { return in.Plan.PP > 1 && in.Training.ZeROStage() > 1 }, "shards gradients, and DeepSpeed runs no pipeline with that", "sharding = zero1, or pp = 1"},
		{"offload.optimizer", func(in *Input) bool { return off(in, optimizer) != "none" && in.Training.ZeROStage() == 0 }, "is part of ZeRO", "sharding = zero1"},
		{"offload.optimizer", func(in *Input) bool { return off(in, optimizer) == "nvme" && in.Training.ZeROStage() != 3 }, "is ZeRO-Infinity, which is stage 3", "offload.optimizer = host, or sharding = zero3"},
		{"offload.params", func(in *Input) bool { return off(in, params) != "none" && in.Training.ZeROStage() != 3 }, "needs parameters that are sharded", "sharding = zero3"},
		{"optimizer", func(in *Input) bool {
			return off(in, optimizer) != "none" && !has("adamw adamw-fused lion", in.Training.Optimizer)
		}, "has no form on the host", "optimizer = adamw"},
	}
}
