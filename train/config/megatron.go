package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/memwall/memwall/plan"
)

// megatron is the command line of Megatron-LM's pretrain_gpt.py (core 0.15).
func megatron() *framework {
	return &framework{
		name: "megatron", title: "Megatron-LM", plan: "megatron", names: "megatron-lm megatron-core",
		says: map[string]string{
			"objective": "pretrain sft", "method": "~full", "optimizer": "adamw adamw-fused sgd", "precision": "bf16-mixed fp16-mixed fp32 fp8 mxfp8 nvfp4",
			"sharding": "ddp none zero1 zero2 zero3 fsdp2", "tp": "*", "pp": "*", "vpp": "*", "cp": "*", "cp_comm_type": "p2p allgather a2a", "ep": "*", "etp": "*", "dp": "*", "schedule": "1f1b interleaved",
			"sequence_parallel": "true", "sequence_length": "*", "micro_batch": "*", "accumulation": "*", "global_batch": "*", "recompute": "none selective modules full uniform block", "grad_dtype": "bf16", "moment_dtype": "bf16 fp8", "first_stage_layers": "*", "last_stage_layers": "*",
			"attention": "flash eager", "fused_loss": "true", "fused_kernels": "true", "tokens": "*", "offload.optimizer": "host", "packing": "~true",
		},
		parts: []part{{
			name: "train.sh", keys: "megatron torchrun", rules: megatronRules(), decode: fromShell,
			encode: func(in *Input, s *section) string {
				return "#!/bin/bash\n" + toShell(torchrun(in), "pretrain_gpt.py", s)
			},
		}},
		refuses: megatronRefuses(),
		settle:  settleMegatron,
	}
}

func megatronRefuses() []refusal {
	return []refusal{
		{"sharding", func(in *Input) bool {
			return in.Training.Sharding == "fsdp2" && (in.Plan.PP > 1 || in.Plan.EP > 1)
		}, "runs with neither a pipeline nor expert parallelism", "sharding = zero1, or pp = 1 and ep = 1"},
		{"sharding", func(in *Input) bool { return in.Training.Sharding == "none" && replicas(in) > 1 }, "leaves replicas apart", "sharding = ddp"},
		{"schedule", func(in *Input) bool { return scheduled(in) == "interleaved" && in.Training.VPP <= 1 }, "needs several chunks of a stage", "vpp = 2, or schedule = 1f1b"},
		{"schedule", func(in *Input) bool { return scheduled(in) == "1f1b" && in.Training.VPP > 1 }, "has one chunk of a stage", "vpp = 1, or schedule = interleaved"},
		{"sequence_parallel", func(in *Input) bool { return yes(in.Training.SequenceParallel) && in.Plan.TP <= 1 }, "shares norms among the ranks of a tensor group, and there is one rank", "sequence_parallel = false, or tp = 2"},
		{"precision", func(in *Input) bool {
			return place(in, optimizer) == "host" && in.Training.Precision == "fp32"
		}, "has no optimizer on the host, which is the precision-aware one", "precision = bf16-mixed"},
	}
}

func megatronRules() []rule {
	return []rule{
		{get: func(_ *Input, r *reader) { r.take(scriptKey) }},
		{get: getLaunch},
		{put: putShape, get: takeShape},
		count("--tensor-model-parallel-size", tp), count("--pipeline-model-parallel-size", pp), count("--context-parallel-size", cp),
		count("--expert-model-parallel-size", ep), count("--expert-tensor-parallel-size", etp),
		{put: func(in *Input, s *section) {
			if in.Training.VPP > 1 {
				s.set("--num-virtual-stages-per-pipeline-rank", in.Training.VPP)
			}
		}, get: count("--num-virtual-stages-per-pipeline-rank", vpp).get},
		flag("--sequence-parallel", sequenceParallel),
		words("--cp-comm-type", cpComm, "p2p=p2p", "allgather=allgather", "a2a=a2a"),
		count("--seq-length", sequence),
		count("--micro-batch-size", microBatch),
		{put: func(in *Input, s *section) {
			t := &in.Training
			s.set("--global-batch-size", int64(t.MicroBatch)*int64(t.Accumulation)*replicas(in))
		}, get: count("--global-batch-size", globalBatch).get},
		{put: putSamples, get: getSamples},
		{put: putObjective, get: getObjective},
		words("--optimizer", optimizerName, "adamw=adam", "adamw-fused>adam", "sgd=sgd"),
		{put: putMegatronPrecision, get: getMegatronPrecision},
		{put: putMegatronSharding, get: getMegatronSharding},
		{put: putStates, get: getStates},
		count("--decoder-first-pipeline-num-layers", func(in *Input) *int64 { return &in.Training.FirstStage }),
		count("--decoder-last-pipeline-num-layers", func(in *Input) *int64 { return &in.Training.LastStage }),
		{get: getEnds},
		{get: flag("--activation-func-fp8-input-store", func(in *Input) **bool { return &in.Training.NarrowActs }).get}, // after core 0.15
		{put: putRecompute, get: getRecompute},
		words("--attention-backend", attention, "flash=flash", "eager=unfused"),
		also("--attention-backend", attention, "flash=fused", "auto=auto"), // cuDNN's, which writes no scores either
		{put: putFusedLoss, get: getFusedLoss},
		{put: putFused, get: getFused},
		fixed("--lr", 0.0003), fixed("--mock-data", true), fixed("--tokenizer-type", "NullTokenizer"), made("--vocab-size", vocab),
	}
}

// torchrun starts one process for each device; several nodes meet at the first.
func torchrun(in *Input) string {
	command := fmt.Sprintf("torchrun --nproc-per-node %d --nnodes %d", in.Devices/in.Nodes, in.Nodes)
	if in.Nodes > 1 {
		command += " --rdzv-backend c10d --rdzv-endpoint first-node:29500"
	}
	return command
}

// getLaunch reads how many processes torchrun starts; variables that the text does not set leave it open.
func getLaunch(in *Input, r *reader) {
	for _, key := range []string{"--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--node-rank", "--node_rank", "--master-addr", "--master_addr", "--master-port", "--master_port", "--standalone"} {
		r.take(key) // where processes meet
	}
	each, ok := r.optional("--nproc-per-node")
	if !ok {
		each, ok = r.optional("--nproc_per_node")
	}
	nodes, several := r.optional("--nnodes")
	if !several {
		nodes = 1
	}
	if !ok { // slime's trainers
		each, ok = r.optional("--actor-num-gpus-per-node")
		nodes = max(1, first64(r, "--actor-num-nodes"))
	}
	if ok && each*nodes <= plan.MaxRanks {
		in.Devices = each * nodes
	}
}

func vocab(in *Input) any {
	if in.Shape == nil {
		return int64(32000)
	}
	return in.Shape.Vocab
}

// putShape builds the model from numbers, or asks its checkpoint.
func putShape(in *Input, s *section) {
	d := in.Shape
	if d == nil {
		s.set("--use-checkpoint-args", true)
		s.set("--load", "path/to/checkpoint")
		if in.Layers > 0 {
			s.set("--num-layers", in.Layers)
		}
		return
	}
	for _, c := range []struct {
		key string
		n   int64
	}{
		{"--num-layers", d.Layers}, {"--hidden-size", d.Hidden}, {"--num-attention-heads", d.Heads}, {"--kv-channels", d.HeadDim}, {"--ffn-hidden-size", d.FFN},
		{"--num-query-groups", d.KVHeads}, {"--max-position-embeddings", max(d.Positions, int64(in.Training.SequenceLength))},
		{"--num-experts", d.Experts}, {"--moe-router-topk", d.TopK}, {"--moe-ffn-hidden-size", d.ExpertFFN},
	} {
		if c.n > 0 {
			s.set(c.key, c.n)
		}
	}
	s.set("--group-query-attention", d.KVHeads > 0 && d.KVHeads < d.Heads)
	s.set("--swiglu", d.Gated)
	s.set("--untie-embeddings-and-output-weights", !d.Tied)
	s.set("--disable-bias-linear", !d.Biased)
	if d.RMSNorm {
		s.set("--normalization", "RMSNorm")
	}
	if d.Rotary {
		s.set("--position-embedding-type", "rope")
	}
}

// takeShape reads what the model is built from. Widths that are not written follow from others (Megatron-LM core 0.15,
// megatron/training/arguments.py, validate_args).
func takeShape(in *Input, r *reader) {
	d := &Shape{Gated: r.on("--swiglu"), Tied: !r.on("--untie-embeddings-and-output-weights"), Biased: !r.on("--disable-bias-linear")}
	for _, c := range []struct {
		key string
		at  *int64
	}{
		{"--num-layers", &d.Layers}, {"--hidden-size", &d.Hidden}, {"--num-attention-heads", &d.Heads}, {"--kv-channels", &d.HeadDim}, {"--ffn-hidden-size", &d.FFN},
		{"--num-query-groups", &d.KVHeads}, {"--max-position-embeddings", &d.Positions}, {"--vocab-size", &d.Vocab},
		{"--num-experts", &d.Experts}, {"--moe-router-topk", &d.TopK}, {"--moe-ffn-hidden-size", &d.ExpertFFN},
	} {
		*c.at, _ = r.optional(c.key)
		r.take(c.key)
	}
	d.RMSNorm, d.Rotary = r.text("--normalization") == "RMSNorm", r.text("--position-embedding-type") == "rope"
	if !r.on("--group-query-attention") {
		d.KVHeads = d.Heads
	}
	r.take("--use-checkpoint-args")
	r.take("--load")
	if name := r.text("--hf-checkpoint"); name != "" { // slime, and Megatron-Bridge's readers
		in.Hub = onHub(name)
	}
	in.Layers = d.Layers
	d.Latent = r.root.at("--multi-latent-attention") != nil
	d.Plain = !d.Latent && r.root.at("--moe-layer-freq") == nil && r.root.at("--moe-shared-expert-intermediate-size") == nil
	if uneven(r) || r.openWidths() {
		return
	}
	if d.Layers > 0 && d.Hidden > 0 && d.Heads > 0 && d.Heads <= d.Hidden {
		in.Shape = d.filled()
	}
}

// onHub is the name of a model that a path or an id of a hub ends with.
func onHub(path string) string {
	if strings.Count(path, "/") == 1 && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "${") {
		return path
	}
	return path[strings.LastIndexByte(strings.TrimRight(path, "/"), '/')+1:]
}

// uneven: the script builds more than a decoder of equal layers, or something else.
func uneven(r *reader) bool {
	for _, other := range []string{"--language-model-type", "--vision-model-type", "--encoder-num-layers", "--hybrid-override-pattern", "--hybrid-layer-pattern"} {
		if r.root.at(other) != nil {
			return true
		}
	}
	_, kind, _ := strings.Cut(strings.TrimSuffix(r.root.textAt(scriptKey), ".py"), "_")
	return has("bert t5 mamba hybrid retro vlm vision vision_classify vision_dino vision_inpaint ict mimo", kind)
}

// openWidths: a width stands there and is not a number, or a variable that nobody sets may hold some: defaults are of those that stand
// nowhere. Such a width stays among what was not read.
func (r *reader) openWidths() (found bool) {
	for _, key := range []string{"--num-layers", "--hidden-size", "--num-attention-heads", "--kv-channels", "--ffn-hidden-size", "--num-query-groups", "--num-experts", "--moe-router-topk", "--moe-ffn-hidden-size"} {
		if _, ok := r.optional(key); !ok && r.root.at(key) != nil {
			r.keep(key)
			found = true
		}
	}
	return found
}

// filled gives widths that nobody wrote what Megatron-LM gives them.
func (d *Shape) filled() *Shape {
	d.HeadDim = cmp.Or(d.HeadDim, d.Hidden/d.Heads)
	if d.FFN == 0 {
		d.FFN = 4 * d.Hidden
		if d.Gated {
			d.FFN = d.Hidden * 4 * 2 / 3 / 64 * 64
		}
	}
	if d.Experts > 0 {
		d.ExpertFFN = cmp.Or(d.ExpertFFN, d.FFN)
	}
	return d
}

// putSamples: a run's length is a number of sequences.
func putSamples(in *Input, s *section) {
	if n := in.Training.Tokens; n > 0 {
		s.set("--train-samples", max(1, int64(n/in.Training.SequenceLength)))
	}
}

func getSamples(in *Input, r *reader) {
	if n, ok := r.optionalCount("--train-samples"); ok && in.Training.SequenceLength > 0 && n < 1<<62/int64(in.Training.SequenceLength) {
		in.Training.Tokens = plan.Int(n) * in.Training.SequenceLength
	}
}

func putObjective(in *Input, s *section) { s.set("--sft", in.Training.Objective == "sft") }

func getObjective(in *Input, r *reader) {
	in.Training.Objective = map[bool]string{true: "sft", false: "pretrain"}[r.on("--sft")]
}

func putMegatronPrecision(in *Input, s *section) {
	p := in.Training.Precision
	s.set("--bf16", p == "bf16-mixed" || in.Training.Narrow())
	s.set("--fp16", p == "fp16-mixed")
	switch p {
	case "fp8": // scales of tensors are the default
		s.set("--fp8-format", "hybrid")
	case "mxfp8":
		s.set("--fp8-format", "e4m3")
		s.set("--fp8-recipe", "mxfp8")
	case "nvfp4":
		s.set("--fp4-format", "e2m1")
		s.set("--fp4-recipe", "nvfp4")
	}
}

func getMegatronPrecision(in *Input, r *reader) {
	const recipe = "--fp8-recipe"
	bf16, fp16, fp8, fp4 := r.on("--bf16"), r.on("--fp16"), r.text("--fp8-format") != "", r.text("--fp4-format") != ""
	r.take("--fp4-recipe") // there is one
	how := r.text(recipe)
	if how == "blockwise" {
		r.keep(recipe)
	}
	in.Training.Precision = first("fp32", named{fp4, "nvfp4"}, named{fp8 && how == "mxfp8", "mxfp8"}, named{fp8, "fp8"}, named{bf16, "bf16-mixed"}, named{fp16, "fp16-mixed"})
}

// strategies of Megatron-FSDP. Its optim alone is the distributed optimizer.
var strategies = []string{"zero2=optim_grads", "zero3=optim_grads_params"}

func putMegatronSharding(in *Input, s *section) {
	switch in.Training.Sharding {
	case "zero1":
		s.set("--use-distributed-optimizer", true)
	case "zero2", "zero3":
		s.set("--use-distributed-optimizer", true)
		s.set("--use-megatron-fsdp", true)
		s.set("--data-parallel-sharding-strategy", translate(in.Training.Sharding, strategies))
	case "fsdp2":
		s.set("--use-torch-fsdp2", true)
	}
}

func getMegatronSharding(in *Input, r *reader) {
	t := &in.Training
	t.Sharding = "ddp"
	if r.on("--use-distributed-optimizer") {
		t.Sharding = "zero1"
	}
	if r.on("--use-torch-fsdp2") {
		t.Sharding = "fsdp2"
	}
	if !r.on("--use-megatron-fsdp") {
		return
	}
	if z := back(r.text("--data-parallel-sharding-strategy"), strategies); z != "" {
		t.Sharding = z
		return
	}
	r.keep("--data-parallel-sharding-strategy")
}

// putStates: the optimizer on the host, and moments in fewer bits, are forms of the precision-aware one.
func putStates(in *Input, s *section) {
	host, t := place(in, optimizer) == "host", &in.Training
	narrow := t.MomentDtype != "" && t.MomentDtype != "fp32"
	if host {
		s.set("--optimizer-cpu-offload", true)
	}
	if host || narrow {
		s.set("--use-precision-aware-optimizer", true)
	}
	if narrow {
		s.set("--exp-avg-dtype", t.MomentDtype)
		s.set("--exp-avg-sq-dtype", t.MomentDtype)
	}
	if t.GradDtype == "bf16" {
		s.set("--grad-reduce-in-bf16", true)
	}
}

// getStates: moments of two formats are none of a plan.
func getStates(in *Input, r *reader) {
	const first, second = "--exp-avg-dtype", "--exp-avg-sq-dtype"
	aware := r.on("--use-precision-aware-optimizer")
	if r.on("--optimizer-cpu-offload") {
		offload(in).Optimizer = "host"
	}
	if m := r.text(first); m != "" && aware {
		if m == r.text(second) && back(m, []string{"fp32=fp32", "bf16=bf16", "fp8=fp8"}) != "" {
			in.Training.MomentDtype = m
		} else {
			r.keep(first)
			r.keep(second)
		}
	}
	in.Training.GradDtype = map[bool]string{true: "bf16"}[r.on("--grad-reduce-in-bf16")]
	r.take("--accumulate-allreduce-grads-in-fp32") // which is so unless it is told otherwise
}

// getEnds: embedding and head that count as a layer each leave the first and the last stage one fewer.
func getEnds(in *Input, r *reader) {
	const first, last = "--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split"
	head, tail := r.on(first), r.on(last)
	ends := map[bool]int64{true: 1}
	all := in.Layers + ends[head] + ends[tail]
	if !head && !tail {
		return
	}
	if in.Layers == 0 || all%degree(in.Plan.PP) != 0 || in.Plan.PP <= 1 {
		r.keep(first)
		r.keep(last)
		return
	}
	if head {
		in.Training.FirstStage = all/in.Plan.PP - 1
	}
	if tail {
		in.Training.LastStage = all/in.Plan.PP - 1
	}
}

// putFusedLoss: Transformer Engine's writes gradients over the logits; Megatron's own holds as much as the plain loss.
func putFusedLoss(in *Input, s *section) {
	if yes(in.Training.FusedLoss) {
		s.set("--cross-entropy-loss-fusion", true)
		s.set("--cross-entropy-fusion-impl", "te")
	}
}

func getFusedLoss(in *Input, r *reader) {
	fused, how := r.on("--cross-entropy-loss-fusion"), r.text("--cross-entropy-fusion-impl")
	in.Training.FusedLoss = truth(fused && how == "te")
	if how != "" && how != "te" && how != "native" {
		r.keep("--cross-entropy-fusion-impl")
	}
}

func putRecompute(in *Input, s *section) {
	how, rest, _ := strings.Cut(in.Training.Recompute, ":")
	layers := func(method string, n any) {
		s.set("--recompute-granularity", "full")
		s.set("--recompute-method", method)
		s.set("--recompute-num-layers", n)
	}
	switch how {
	case "full":
		layers("uniform", int64(1))
	case "uniform", "block":
		layers(how, rest)
	case "selective":
		s.set("--recompute-granularity", "selective")
		if rest != "" {
			s.set("--recompute-modules", strings.ReplaceAll(rest, "+", " "))
		}
	}
}

// getRecompute: modules count with selective recomputation alone, and layers with full.
func getRecompute(in *Input, r *reader) {
	const layers, how, modules = "--recompute-num-layers", "--recompute-method", "--recompute-modules"
	t := &in.Training
	granularity := r.text("--recompute-granularity")
	if r.on("--recompute-activations") && granularity == "" {
		granularity = "selective"
	}
	n, _ := r.optional(layers)
	method, names := r.text(how), r.list(modules)
	switch granularity {
	case "":
		t.Recompute = "none"
	case "selective":
		t.Recompute = "selective"
		if len(names) > 0 {
			t.Recompute += ":" + strings.Join(names, "+")
		}
	case "full":
		switch {
		case n > 1 && method == "uniform", n > 0 && method == "block":
			t.Recompute = fmt.Sprintf("%s:%d", method, n)
		case method == "uniform":
			t.Recompute = "full"
		default:
			t.Recompute = "full"
			r.keep(how)
			r.keep(layers)
		}
	default:
		r.keep("--recompute-granularity")
	}
}

// putFused: fused kernels are on unless they are switched off.
func putFused(in *Input, s *section) {
	if b := in.Training.Fused; b != nil && !*b {
		for _, key := range unfused {
			s.set(key, true)
		}
	}
}

var unfused = []string{"--no-bias-swiglu-fusion", "--no-bias-gelu-fusion", "--no-rope-fusion"}

func getFused(in *Input, r *reader) {
	off := 0
	for _, key := range unfused {
		if r.root.at(key) != nil {
			off++
		}
	}
	switch off {
	case 0:
		in.Training.Fused = truth(true)
	case len(unfused):
		in.Training.Fused = truth(false)
		for _, key := range unfused {
			r.take(key)
		}
	}
}

// settleMegatron: what is not written is one; replicas and accumulation follow from devices and batch.
func settleMegatron(in *Input) {
	t := &in.Training
	t.Method = "full"
	for _, d := range []*int64{tp(in), pp(in), cp(in)} {
		*d = degree(*d)
	}
	if in.Plan.PP > 1 {
		t.Schedule = map[bool]string{true: "interleaved", false: "1f1b"}[t.VPP > 1]
	}
	if in.Devices == 0 || in.Devices%ranks(in) != 0 {
		return
	}
	in.Plan.DP = in.Devices / ranks(in)
	if in.Plan.DP == 1 && t.Sharding == "ddp" {
		t.Sharding = "none"
	}
	settleSteps(in)
}

// settleSteps: accumulation is what the batch holds beyond one pass of all replicas.
func settleSteps(in *Input) {
	t := &in.Training
	if pass := int64(t.MicroBatch) * in.Plan.DP; pass > 0 && int64(t.GlobalBatch)%pass == 0 {
		t.Accumulation = t.GlobalBatch / plan.Int(pass)
	}
}
