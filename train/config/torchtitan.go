package config

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/plan"
)

// torchtitan is its TOML, which 0.2.2 is the last release to read: later ones are configured in Python.
func torchtitan() *framework {
	return &framework{
		name: "torchtitan", title: "torchtitan", plan: "torchtitan",
		says: map[string]string{
			"objective": "~pretrain", "method": "~full", "optimizer": "adamw adamw-fused", "precision": "bf16-mixed bf16 fp32 fp8 fp8-rowwise mxfp8", "sharding": "none ddp fsdp2 hsdp",
			"tp": "*", "pp": "*", "vpp": "*", "cp": "*", "cp_comm_type": "p2p allgather", "ep": "*", "etp": "*", "dp": "*", "schedule": "1f1b gpipe interleaved zbv", "sequence_parallel": "~true",
			"sequence_length": "*", "micro_batch": "*", "accumulation": "*", "global_batch": "*", "recompute": "none selective full every", "attention": "~sdpa ~flash",
			"compile": "true", "tokens": "*", "packing": "~true", "offload.optimizer": "host", "offload.params": "host",
		},
		parts: []part{{
			name: "train.toml", keys: "torchtitan", rules: titanRules(), decode: fromTOML,
			encode: func(_ *Input, s *section) string { return toTOML(s) },
			run: func(in *Input) string {
				return "CONFIG_FILE=train.toml NGPU=" + strconv.FormatInt(in.Devices, 10) + " ./run_train.sh"
			},
		}},
		refuses: titanRefuses(),
		settle:  settleTitan,
	}
}

func titanRefuses() []refusal {
	return []refusal{
		{"model", func(in *Input) bool { _, ok := titan(in); return !ok }, "is not a model of torchtitan 0.2.2", "a model of its train_configs, or megatron"},
		{"vpp", func(in *Input) bool { return in.Plan.PP > 1 && twice(in) && degree(in.Training.VPP) != 2 }, "is not the two stages of a rank that this schedule has", "vpp = 2"},
		{"vpp", func(in *Input) bool { return in.Plan.PP > 1 && !twice(in) && in.Training.VPP > 1 }, "needs a schedule with several stages of a rank", "schedule = interleaved, or vpp = 1"},
		{"sequence_parallel", func(in *Input) bool {
			return in.Plan.TP > 1 && in.Training.SequenceParallel != nil && !*in.Training.SequenceParallel
		}, "cannot be switched off beside tensor parallelism", "sequence_parallel = true"},
		{"sharding", func(in *Input) bool {
			return in.Training.Sharding == "ddp" && ranks(in) > 1 || in.Training.Sharding == "none" && in.Plan.CP > 1
		}, "is not combined with other parallelism", "sharding = fsdp2"},
		{"sharding", func(in *Input) bool {
			return in.Training.Sharding == "fsdp2" && replicas(in)*degree(in.Plan.CP) == 1 || in.Training.Sharding == "ddp" && replicas(in) == 1
		}, "has one rank, and nothing to share with", "sharding = none"},
		{"sharding", func(in *Input) bool { return in.Training.Sharding == "none" && replicas(in) > 1 }, "leaves devices without work", "sharding = ddp"},
		{"sharding", lonely, "makes a copy for each node, and there is one", "sharding = fsdp2"},
		{"offload.params", func(in *Input) bool { return place(in, params) != place(in, optimizer) }, "moves parameters, gradients and optimizer states together", "offload.params = offload.optimizer"},
		{"offload.params", func(in *Input) bool { return place(in, params) != "none" && !sharded(in) }, "is part of FSDP", "sharding = fsdp2"},
	}
}

// getTitanModel finds the model of a flavor; one of somebody's own stays unread.
func getTitanModel(in *Input, r *reader) {
	flavor := r.text("model.flavor")
	for _, m := range titanModels {
		if m.flavor == flavor && m.name == r.root.textAt("model.name") {
			in.Hub = m.id
			return
		}
	}
	r.keep("model.flavor")
}

// twice tells a schedule that gives each rank two stages, torchtitan's default for them.
func twice(in *Input) bool { return has("interleaved zbv", in.Training.Schedule) }

func titanRules() []rule {
	return []rule{
		fixed("job.dump_folder", "./outputs"),
		made("model.name", func(in *Input) any { m, _ := titan(in); return m.name }),
		{put: func(in *Input, s *section) { m, _ := titan(in); s.set("model.flavor", m.flavor) }, get: getTitanModel},
		made("model.hf_assets_path", func(in *Input) any { return "./assets/hf/" + in.Model }),
		{put: func(in *Input, s *section) {
			if c, ok := titanNarrow[in.Training.Precision]; ok {
				s.set("model.converters", []string{c.converter})
				if c.recipe != "" {
					s.set(c.converter+".recipe_name", c.recipe)
				}
			}
		}},
		{put: putTitanOptimizer, get: getTitanOptimizer},
		fixed("optimizer.lr", 0.0003),
		{put: putTitanBatch, get: getTitanBatch},
		count("training.seq_len", sequence),
		{put: putTitanSteps, get: getTitanSteps},
		{put: putTitanPrecision, get: getTitanPrecision},
		both("training.enable_cpu_offload"),
		fixed("training.dataset", "c4"),
		{put: putTitanShards, get: getTitanShards},
		count("parallelism.tensor_parallel_degree", tp), count("parallelism.context_parallel_degree", cp),
		words("parallelism.context_parallel_rotate_method", cpComm, "allgather=allgather", "p2p=alltoall"),
		count("parallelism.expert_parallel_degree", ep), count("parallelism.expert_tensor_parallel_degree", etp),
		{put: putTitanPipeline, get: getTitanPipeline},
		{put: putTitanRecompute, get: getTitanRecompute},
		flag("compile.enable", compiled),
	}
}

// titanNarrow are the converters that make products narrow, and their recipes; scales of tensors go without one.
var titanNarrow = map[string]struct{ converter, recipe string }{
	"fp8": {"quantize.linear.float8", ""}, "fp8-rowwise": {"quantize.linear.float8", "rowwise"}, "mxfp8": {"quantize.linear.mx", "mxfp8_cublas"},
}

func putTitanOptimizer(in *Input, s *section) {
	s.set("optimizer.name", "AdamW")
	s.set("optimizer.implementation", map[bool]string{true: "fused", false: "foreach"}[in.Training.Optimizer == "adamw-fused"])
}

func getTitanOptimizer(in *Input, r *reader) {
	if r.text("optimizer.name") != "AdamW" {
		r.keep("optimizer.name")
		return
	}
	switch r.text("optimizer.implementation") {
	case "fused", "": // the default
		in.Training.Optimizer = "adamw-fused"
	case "foreach":
		in.Training.Optimizer = "adamw"
	default:
		r.keep("optimizer.implementation")
	}
}

// putTitanBatch: a pipeline cuts the local batch into its micro-batches; without one, what the global batch holds
// beyond the local ones is accumulated.
func putTitanBatch(in *Input, s *section) {
	t := &in.Training
	local := int64(t.MicroBatch)
	if in.Plan.PP > 1 {
		local *= int64(t.Accumulation)
		s.set("parallelism.pipeline_parallel_microbatch_size", int64(t.MicroBatch))
	}
	s.set("training.local_batch_size", local)
	s.set("training.global_batch_size", int64(t.MicroBatch)*int64(t.Accumulation)*replicas(in))
}

func getTitanBatch(in *Input, r *reader) {
	count("training.local_batch_size", microBatch).get(in, r)
	if n := r.root.textAt("training.global_batch_size"); n == "-1" {
		r.take("training.global_batch_size") // as many as the ranks hold
		return
	}
	count("training.global_batch_size", globalBatch).get(in, r)
}

func putTitanSteps(in *Input, s *section) {
	t := &in.Training
	step := int64(t.MicroBatch) * int64(t.Accumulation) * replicas(in) * int64(t.SequenceLength)
	if t.Tokens > 0 && step > 0 {
		s.set("training.steps", max(1, (int64(t.Tokens)+step-1)/step))
	}
}

func getTitanSteps(in *Input, r *reader) {
	n, ok := r.optionalCount("training.steps")
	if step := int64(in.Training.GlobalBatch) * int64(in.Training.SequenceLength); ok && step > 0 && n < 1<<62/step {
		in.Training.Tokens = plan.Int(n * step)
	}
}

func putTitanPrecision(in *Input, s *section) {
	dtype, param := "float32", "bfloat16"
	switch in.Training.Precision {
	case "bf16":
		dtype = "bfloat16"
	case "fp32":
		param = "float32"
	}
	s.set("training.dtype", dtype)
	s.set("training.mixed_precision_param", param)
}

func getTitanPrecision(in *Input, r *reader) {
	dtype, param := r.text("training.dtype"), r.text("training.mixed_precision_param")
	switch {
	case dtype == "bfloat16":
		in.Training.Precision = "bf16"
	case param == "float32":
		in.Training.Precision = "fp32"
	default: // bfloat16 over float32 is the default of both
		in.Training.Precision = "bf16-mixed"
	}
	getTitanNarrow(in, r)
}

// getTitanNarrow reads converters and their recipes. Earlier releases leave out what stands before a converter's last
// point.
func getTitanNarrow(in *Input, r *reader) {
	const converters = "model.converters"
	l := r.list(converters)
	if len(l) == 0 {
		return
	}
	recipe, found := "", false
	for name, c := range titanNarrow {
		if len(l) > 1 || !strings.HasSuffix(c.converter, l[0]) {
			continue
		}
		if recipe = c.converter + ".recipe_name"; r.text(recipe) == c.recipe {
			in.Training.Precision, found = name, true
		}
	}
	if found {
		return
	}
	r.keep(converters)
	if recipe != "" {
		r.keep(recipe)
	}
}

func putTitanShards(in *Input, s *section) {
	copies, shards := across(in), replicas(in)/across(in)
	if in.Training.Sharding == "ddp" {
		copies, shards = replicas(in), 1
	}
	s.set("parallelism.data_parallel_replicate_degree", copies)
	s.set("parallelism.data_parallel_shard_degree", shards)
}

func getTitanShards(in *Input, r *reader) {
	const shardKey = "parallelism.data_parallel_shard_degree"
	copies, shards := int64(1), int64(-1)
	if n, ok := r.optional("parallelism.data_parallel_replicate_degree"); ok {
		copies = max(1, n)
	}
	if r.root.textAt(shardKey) == "-1" {
		r.take(shardKey) // the ranks that are left
	} else if n, ok := r.optional(shardKey); ok {
		shards = max(1, n)
	}
	in.Training.Sharding = titanSharding(copies, shards)
	if n := copies * shards; n > 0 && n <= plan.MaxRanks {
		in.Plan.DP = n
	}
}

func titanSharding(copies, shards int64) string {
	switch {
	case copies > 1 && shards == 1:
		return "ddp"
	case copies > 1:
		return "hsdp"
	case shards == 1:
		return "none"
	}
	return "fsdp2"
}

// titanSchedules are the classes of torch's pipelining.
var titanSchedules = []string{"1f1b=1F1B", "gpipe=GPipe", "interleaved=Interleaved1F1B", "zbv=ZBVZeroBubble"}

func putTitanPipeline(in *Input, s *section) {
	s.set("parallelism.pipeline_parallel_degree", degree(in.Plan.PP))
	if in.Plan.PP <= 1 {
		return
	}
	name := in.Training.Schedule
	if name == "" {
		name = "1f1b"
	}
	s.set("parallelism.pipeline_parallel_schedule", translate(name, titanSchedules))
}

func getTitanPipeline(in *Input, r *reader) {
	const schedule, size = "parallelism.pipeline_parallel_schedule", "parallelism.pipeline_parallel_microbatch_size"
	count("parallelism.pipeline_parallel_degree", pp).get(in, r)
	if in.Plan.PP <= 1 {
		r.take(schedule) // there is none
		return
	}
	in.Training.Schedule = "1f1b"
	words(schedule, func(in *Input) *string { return &in.Training.Schedule }, titanSchedules...).get(in, r)
	in.Training.VPP = map[bool]int64{true: 2, false: 1}[twice(in)]
	in.Training.MicroBatch = 1
	count(size, microBatch).get(in, r)
}

func putTitanRecompute(in *Input, s *section) {
	mode, how := in.Training.Recompute, ""
	switch k, n, _ := strings.Cut(mode, ":"); {
	case k == "every":
		mode, how = "selective", n
	case mode == "selective":
		how = "op"
	}
	s.set("activation_checkpoint.mode", mode)
	if how != "" {
		s.set("activation_checkpoint.selective_ac_option", how)
	}
}

func getTitanRecompute(in *Input, r *reader) {
	const mode, option = "activation_checkpoint.mode", "activation_checkpoint.selective_ac_option"
	switch m := r.text(mode); m {
	case "none", "full":
		in.Training.Recompute = m
		r.take(option)
	case "selective":
		how := r.text(option)
		if n, err := strconv.ParseUint(how, 10, 16); err == nil && n > 0 {
			in.Training.Recompute = "every:" + how
		} else if how == "op" {
			in.Training.Recompute = "selective"
		} else {
			r.keep(option)
		}
	default:
		r.keep(mode)
	}
}

// settleTitan: accumulation is what the global batch holds beyond one pass.
func settleTitan(in *Input) {
	in.Training.Objective, in.Training.Method = "pretrain", "full"
	if in.Training.Sharding == "none" && in.Plan.CP > 1 { // shards are shared over the ranks of a sequence as well
		in.Training.Sharding = "fsdp2"
	}
	if in.Plan.DP > 0 {
		settleSteps(in)
	}
}
