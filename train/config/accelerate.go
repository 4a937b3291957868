package config

import "strings"

// accelerate is accelerate's YAML (1.14) for FSDP1, FSDP2 and DDP, with the arguments of TRL that go with it.
func accelerate() *framework {
	return &framework{
		name: "accelerate", title: "accelerate with TRL", plan: "fsdp", names: "fsdp",
		says: trlSays(map[string]string{
			"sharding": "none ddp fsdp fsdp2 hsdp", "tp": "*", "cp": "*", "dp": "*", "precision": "bf16-mixed bf16 fp16-mixed fp32 tf32 fp8",
			"offload.optimizer": "host", "offload.params": "host",
		}),
		parts: append([]part{accelerateFile()}, trlFiles(" --accelerate_config accelerate.yaml")...),
		refuses: trlRefuses(
			refusal{"tp", func(in *Input) bool { return in.Plan.TP > 1 && !has("fsdp2 hsdp", in.Training.Sharding) }, "goes with FSDP2 alone", "sharding = fsdp2"},
			refusal{"cp", func(in *Input) bool { return in.Plan.CP > 1 && in.Training.Sharding != "fsdp2" }, "goes with FSDP2 alone", "sharding = fsdp2"},
			refusal{"offload.params", func(in *Input) bool { return place(in, params) != place(in, optimizer) }, "moves parameters, gradients and optimizer states together", "offload.params = offload.optimizer"},
			refusal{"offload.params", func(in *Input) bool { return place(in, params) != "none" && !sharded(in) }, "is part of FSDP", "sharding = fsdp2"},
			refusal{"sharding", lonely, "makes a copy for each node, and there is one", "sharding = fsdp2"},
		),
		settle: settleAccelerate,
	}
}

func accelerateFile() part {
	return part{
		name: "accelerate.yaml", keys: "accelerate", rules: accelerateRules(),
		decode: fromYAML, encode: func(_ *Input, s *section) string { return toYAML(s) },
	}
}

// lonely tells HSDP without nodes that its replicas could stand on.
func lonely(in *Input) bool {
	return in.Training.Sharding == "hsdp" && (in.Nodes < 2 || replicas(in)%in.Nodes != 0 || replicas(in) == in.Nodes)
}

// across are HSDP's copies: one on each node.
func across(in *Input) int64 {
	if in.Training.Sharding == "hsdp" {
		return in.Nodes
	}
	return 1
}

func accelerateRules() []rule {
	return []rule{
		fixed("compute_environment", "LOCAL_MACHINE"),
		{put: func(in *Input, s *section) { s.set("distributed_type", distribution(in)) }, get: getDistribution},
		made("num_machines", func(in *Input) any { return in.Nodes }),
		{put: func(in *Input, s *section) { s.set("num_processes", in.Devices) }, get: func(in *Input, r *reader) {
			if n, ok := r.optional("num_processes"); ok {
				in.Devices = n
			}
		}},
		fixed("machine_rank", int64(0)), fixed("main_training_function", "main"), fixed("use_cpu", false), fixed("debug", false),
		fixed("rdzv_backend", "static"), fixed("same_network", true), fixed("downcast_bf16", "no"), fixed("enable_cpu_affinity", false),
		{put: putMixed, get: getMixed},
		{put: putFSDP},
		{put: putDegrees, get: getDegrees},
	}
}

func distribution(in *Input) string {
	switch {
	case sharded(in):
		return "FSDP"
	case in.Training.Sharding == "none":
		return "NO"
	}
	return "MULTI_GPU"
}

// putMixed: accelerate keeps trained weights in fp32 whenever this is not "no".
func putMixed(in *Input, s *section) {
	word := translate(in.Training.Precision, []string{"bf16-mixed=bf16", "fp16-mixed=fp16", "fp8=fp8"})
	if word == "" {
		word = "no"
	}
	s.set("mixed_precision", word)
}

func getMixed(in *Input, r *reader) {
	switch word := r.text("mixed_precision"); word {
	case "no", "":
	case "bf16", "fp16":
		in.Training.Precision = word + "-mixed"
	case "fp8":
		in.Training.Precision = "fp8"
	default:
		r.keep("mixed_precision")
	}
}

// putFSDP writes what each version of FSDP takes.
func putFSDP(in *Input, s *section) {
	if !sharded(in) {
		return
	}
	f := s.child("fsdp_config")
	second := in.Training.Sharding != "fsdp"
	f.set("fsdp_version", map[bool]int64{true: 2, false: 1}[second])
	f.set("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP")
	f.set("fsdp_offload_params", place(in, params) == "host")
	f.set("fsdp_activation_checkpointing", false) // the trainer's gradient_checkpointing does it
	f.set("fsdp_cpu_ram_efficient_loading", true)
	f.set("fsdp_state_dict_type", "SHARDED_STATE_DICT")
	if second {
		f.set("fsdp_reshard_after_forward", true)
		return
	}
	f.set("fsdp_sharding_strategy", "FULL_SHARD")
	f.set("fsdp_backward_prefetch", "BACKWARD_PRE")
	f.set("fsdp_forward_prefetch", false)
	f.set("fsdp_use_orig_params", true)
	f.set("fsdp_sync_module_states", true)
}

func getDistribution(in *Input, r *reader) {
	switch r.text("distributed_type") {
	case "FSDP":
		getFSDP(in, r)
	case "MULTI_GPU":
		in.Training.Sharding = "ddp"
	case "NO":
		in.Training.Sharding = "none"
	case "DEEPSPEED":
		getLaunched(in, r)
	default:
		r.keep("distributed_type")
	}
}

const fsdp = "fsdp_config.fsdp_"

func getFSDP(in *Input, r *reader) {
	in.Training.Sharding = "fsdp"
	if n, _ := r.optional(fsdp + "version"); n == 2 {
		in.Training.Sharding = "fsdp2"
	}
	getStrategy(in, r)
	if on, said := r.flag(fsdp + "offload_params"); said {
		where := map[bool]string{true: "host", false: "none"}[on]
		offload(in).Params, offload(in).Optimizer = where, where
	}
	if r.on(fsdp + "activation_checkpointing") {
		in.Training.Recompute = "full"
	}
	for key := range strings.FieldsSeq("auto_wrap_policy cpu_ram_efficient_loading state_dict_type backward_prefetch forward_prefetch use_orig_params sync_module_states transformer_layer_cls_to_wrap") {
		r.take(fsdp + key)
	}
}

// getStrategy: parameters that stay whole after forward are not sharding of a plan, and stay unread.
func getStrategy(in *Input, r *reader) {
	switch strings.ToUpper(r.text(fsdp + "sharding_strategy")) {
	case "FULL_SHARD", "1", "":
	case "HYBRID_SHARD", "4":
		in.Training.Sharding = "hsdp"
	case "NO_SHARD", "3":
		in.Training.Sharding = "ddp"
	default:
		r.keep(fsdp + "sharding_strategy")
	}
	if whole := strings.ToLower(r.text(fsdp + "reshard_after_forward")); has("false shard_grad_op", whole) {
		r.keep(fsdp + "reshard_after_forward")
	}
}

// getLaunched reads DeepSpeed as accelerate launches it.
func getLaunched(in *Input, r *reader) {
	const ds = "deepspeed_config."
	if n, ok := r.optional(ds + "zero_stage"); ok && n <= 3 {
		in.Training.Sharding = []string{"ddp", "zero1", "zero2", "zero3"}[n]
	}
	for _, c := range []struct {
		key string
		at  *string
	}{{"offload_optimizer_device", &offload(in).Optimizer}, {"offload_param_device", &offload(in).Params}} {
		switch where := r.text(ds + c.key); where {
		case "":
		case "cpu":
			*c.at = "host"
		case "none", "nvme":
			*c.at = where
		default:
			r.keep(ds + c.key)
		}
	}
}

const degrees = "parallelism_config.parallelism_config_"

// putDegrees: splitting layers or sequences, and copies across nodes, go with FSDP2.
func putDegrees(in *Input, s *section) {
	if !has("fsdp2 hsdp", in.Training.Sharding) || in.Plan.TP <= 1 && in.Plan.CP <= 1 && across(in) == 1 {
		return
	}
	for _, d := range []struct {
		key string
		n   int64
	}{{"dp_replicate_size", across(in)}, {"dp_shard_size", replicas(in) / across(in)}, {"tp_size", degree(in.Plan.TP)}, {"cp_size", degree(in.Plan.CP)}} {
		s.set(degrees+d.key, d.n)
	}
}

func getDegrees(in *Input, r *reader) {
	count(degrees+"tp_size", tp).get(in, r)
	count(degrees+"cp_size", cp).get(in, r)
	if n, ok := r.optional(degrees + "dp_replicate_size"); ok && n > 1 {
		in.Training.Sharding = "hsdp"
	}
	r.take(degrees + "dp_shard_size") // it follows from the processes
}

// settleAccelerate: replicas are the processes over the other degrees; without shards it is plain transformers.
func settleAccelerate(in *Input) {
	in.Training.Framework = map[bool]string{true: "fsdp", false: "transformers"}[sharded(in)]
	if zero(in) {
		in.Training.Framework = "deepspeed"
	}
	if in.Devices > 0 && in.Devices%ranks(in) == 0 {
		in.Plan.DP = in.Devices / ranks(in)
	}
}
