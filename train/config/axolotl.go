package config

import (
	"slices"
	"strings"
)

// axolotl is its YAML (0.18).
func axolotl() *framework {
	zeroFile := deepspeedFile(zero)
	return &framework{
		name: "axolotl", title: "axolotl", plan: "axolotl",
		says: map[string]string{
			"objective": "sft pretrain dpo grpo", "method": "full lora qlora dora", "weights": "nf4 nf4-all nf4-single bnb-int8 bnb-int8-all", "reference_model": "none", "rollout": "vllm",
			"optimizer": "adamw adamw-fused adamw-8bit adamw-4bit paged-adamw-8bit paged-adamw adafactor lion sgd galore muon schedule-free-adamw", "precision": "bf16-mixed bf16 fp16-mixed fp32 tf32 fp8",
			"sharding": "~none ddp zero1 zero2 zero3 fsdp fsdp2 hsdp", "tp": "*", "cp": "*", "sequence_length": "*", "micro_batch": "*", "accumulation": "*", "recompute": "none full",
			"attention": "flash sdpa eager", "fused_loss": "true", "fused_kernels": "true", "compile": "true", "lora_rank": "*", "lora_targets": "*", "lora_dropout": "*", "modules_to_save": "*",
			"packing": "true", "offload.optimizer": "host nvme", "offload.params": "host nvme", "offload.activations": "host",
		},
		parts: []part{{
			name: "axolotl.yaml", keys: "axolotl", rules: axolotlRules(), decode: fromYAML,
			encode: func(_ *Input, s *section) string { return toYAML(s) },
			run:    func(*Input) string { return "axolotl train axolotl.yaml" },
		}, zeroFile},
		ways:    []string{"adapter=lora qlora"},
		refuses: append(axolotlRefuses(), zeroOnly(zeroRefuses())...),
	}
}

// zeroOnly are rules of DeepSpeed that hold where it is used, and where nothing shards.
func zeroOnly(rules []refusal) (out []refusal) {
	for _, r := range rules {
		when := r.when
		r.when = func(in *Input) bool { return !has("fsdp fsdp2 hsdp", in.Training.Sharding) && when(in) }
		out = append(out, r)
	}
	return out
}

func axolotlRefuses() []refusal {
	return []refusal{
		{"precision", func(in *Input) bool {
			return has("bf16-mixed fp16-mixed", in.Training.Precision) && !adapted(in) && !sharded(in)
		}, "keeps no masters here: axolotl loads the weights in 16 bits", "precision = bf16, or sharding = fsdp2"},
		{"optimizer", func(in *Input) bool {
			return in.Plan.TP > 1 && has("adamw-8bit paged-adamw-8bit", in.Training.Optimizer)
		}, "is refused beside tensor parallelism", "optimizer = adamw-fused"},
		{"fused_kernels", func(in *Input) bool { return in.Plan.TP > 1 && yes(in.Training.Fused) }, "has fused norms, which axolotl refuses beside tensor parallelism", "fused_kernels = false"},
		{"tp", func(in *Input) bool { return in.Plan.TP > 1 && in.Training.Sharding == "fsdp" }, "goes with FSDP2 or DeepSpeed", "sharding = fsdp2"},
		{"optimizer", func(in *Input) bool {
			return strings.Contains(in.Training.Optimizer, "8bit") && in.Training.Sharding == "fsdp" && place(in, params) == "host"
		}, "is refused beside FSDP's offload", "optimizer = adamw-fused"},
		{"optimizer", func(in *Input) bool { return in.Training.Optimizer == "muon" && zero(in) }, "is refused beside DeepSpeed", "sharding = fsdp2"},
		{"offload.params", func(in *Input) bool {
			return has("fsdp fsdp2 hsdp", in.Training.Sharding) && (place(in, params) != place(in, optimizer) || place(in, params) == "nvme")
		}, "moves parameters, gradients and optimizer states together, and to the host", "offload.params = offload.optimizer = host"},
		{"sharding", lonely, "makes a copy for each node, and there is one", "sharding = fsdp2"},
		{"packing", func(in *Input) bool { return yes(in.Training.Packing) && !has("sft pretrain", in.Training.Objective) }, "packs samples, and preferences and prompts are never packed", "packing = false"},
		{"packing", func(in *Input) bool { return yes(in.Training.Packing) && has("sdpa eager", in.Plan.Attention) }, "keeps samples apart by kernels that this attention does not have", "attention = flash"},
		{"offload.activations", func(in *Input) bool {
			return place(in, activations) == "host" && in.Training.Recompute != "full"
		}, "keeps inputs of blocks that are computed again", "recompute = full"},
		{"reference_model", func(in *Input) bool {
			return in.Training.ReferenceModel == "none" && in.Training.Objective != "dpo"
		}, "is left out for dpo alone, by computing its log-probabilities beforehand", "without reference_model"},
		{"accumulation", partGroups, "x micro_batch x dp is not a whole number of prompts with all their answers", "accumulation = a multiple of the answers to one prompt"},
		{"rollout", func(in *Input) bool { return in.Training.Rollout != nil && in.Training.Objective != "grpo" }, "writes answers, which only grpo scores", "objective = grpo"},
	}
}

func axolotlRules() []rule {
	return joined([]rule{
		loads("base_model"),
		{put: putAxolotlObjective, get: getAxolotlObjective},
		{put: putAxolotlMethod, get: getAxolotlMethod},
	}, ifAdapted(
		count("lora_r", loraRank), made("lora_alpha", func(in *Input) any { return 2 * int64(in.Training.LoRARank) }), dropout("lora_dropout"),
		rule{put: putAxolotlTargets, get: getAxolotlTargets},
		texts("lora_modules_to_save", func(in *Input) *[]string { return &in.Training.Full }),
	), []rule{
		count("sequence_len", sequence),
		flag("sample_packing", packing),
		count("micro_batch_size", microBatch), count("gradient_accumulation_steps", accumulation),
		fixed("num_epochs", int64(1)), fixed("learning_rate", 0.00002), fixed("output_dir", "output"),
		{put: func(in *Input, s *section) {
			if in.Training.Optimizer == "muon" {
				s.set("optimizer", "muon")
			}
		}},
	}, hfOptim("optimizer"), []rule{
		also("optimizer", optimizerName, "muon=muon"),
		galoreTargets("optim_target_modules"),
		{put: putAxolotlSharding, get: getAxolotlSharding},
		{put: putAxolotlPrecision, get: getAxolotlPrecision},
		{put: putAxolotlRecompute, get: getAxolotlRecompute},
		offloaded("activation_offloading"),
	}, hfAttention("attn_implementation"), []rule{
		{get: getAxolotlAttention},
		{put: putAxolotlLiger, get: getAxolotlLiger},
		{get: getAxolotlFrozen},
		flag("torch_compile", compiled),
		count("tensor_parallel_size", tp), count("context_parallel_size", cp),
		{get: func(in *Input, r *reader) {
			if in.Plan.CP == 0 { // its former name
				count("sequence_parallel_degree", cp).get(in, r)
			}
		}},
	})
}

// putAxolotlObjective: rl names preferences and rewards, the type of a data set tells pre-training.
func putAxolotlObjective(in *Input, s *section) {
	kind := "chat_template"
	switch in.Training.Objective {
	case "pretrain":
		kind = "completion"
	case "dpo":
		kind = "chat_template.default"
		s.set("rl", "dpo")
		s.set("precompute_ref_log_probs", in.Training.ReferenceModel == "none")
	case "grpo":
		kind = "rewards.transform"
		s.set("rl", "grpo")
		s.set("trl.reward_funcs", []string{"rewards.reward"})
		putRollout("trl.", "vllm.gpu_memory_utilization", in, s)
	}
	s.set("datasets", []*section{{items: []setting{{"path", "path/to/dataset"}, {"type", kind}}}})
}

func getAxolotlObjective(in *Input, r *reader) {
	t := &in.Training
	switch rl := r.text("rl"); rl {
	case "":
		t.Objective = "sft"
	case "dpo":
		t.Objective = rl
		if r.on("precompute_ref_log_probs") {
			t.ReferenceModel = "none"
		}
	case "grpo":
		t.Objective = rl
		r.take("trl.reward_funcs")
		count("sequence_len", sequence).get(in, r)
		getRollout("trl.", "vllm.gpu_memory_utilization", in, r)
	default:
		r.keep("rl")
	}
	data := r.take("datasets")
	if t.Objective == "sft" && (r.take("pretraining_dataset") != nil || data.completion()) {
		t.Objective = "pretrain"
	}
}

// completion tells data sets whose texts are learnt whole.
func (n *node) completion() bool {
	if n == nil || len(n.list) == 0 {
		return false
	}
	for _, d := range n.list {
		if d.textAt("type") != "completion" {
			return false
		}
	}
	return true
}

const bnbNested = "bnb_config_kwargs.bnb_4bit_use_double_quant"

func putAxolotlMethod(in *Input, s *section) {
	if !adapted(in) {
		return
	}
	s.set("adapter", map[bool]string{true: "qlora", false: "lora"}[fourBit(in)])
	s.set("load_in_4bit", fourBit(in))
	s.set("load_in_8bit", eightBit(in))
	if fourBit(in) {
		s.set(bnbNested, nested(in))
	}
	if strings.HasSuffix(in.Plan.Weights, ofExperts) {
		s.set("quantize_moe_experts", true)
	}
	if in.Training.Method == "dora" {
		s.set("peft_use_dora", true)
	}
}

// getAxolotlMethod: double quantisation is on unless it is switched off.
func getAxolotlMethod(in *Input, r *reader) {
	switch a := r.text("adapter"); a {
	case "lora", "qlora":
		in.Training.Method = a
	case "":
		in.Training.Method = "full"
	default:
		r.keep("adapter")
		return
	}
	four := r.on("load_in_4bit")
	switch eight := r.on("load_in_8bit"); {
	case eight && adapted(in) && !four:
		in.Plan.Weights = bnbInt8
	case eight:
		r.keep("load_in_8bit")
	}
	if four && adapted(in) {
		in.Training.Method, in.Plan.Weights = "qlora", "nf4"
		if twice, said := r.flag(bnbNested); said && !twice {
			in.Plan.Weights = "nf4-single"
		}
	}
	getAxolotlExperts(in, r)
	if r.on("gptq") {
		in.Plan.Weights = "gptq"
		r.take("gptq_disable_exllama")
	}
	if r.on("peft_use_dora") {
		in.Training.Method = "dora"
	}
}

// getAxolotlExperts: experts that a class stacks are quantised as they are loaded, or are linear layers in a checkpoint of axolotl's
// own (axolotl/monkeypatch/moe_quant.py; monkeypatch/models/llama4/modeling.py).
func getAxolotlExperts(in *Input, r *reader) {
	stacked, linear := r.on("quantize_moe_experts"), r.on("llama4_linearized_experts")
	switch w := in.Plan.Weights; {
	case !stacked && !linear:
	case w == "nf4" || w == bnbInt8:
		in.Plan.Weights = w + ofExperts
	case stacked:
		r.keep("quantize_moe_experts")
	}
}

func putAxolotlTargets(in *Input, s *section) {
	if l := in.Training.LoRA; len(l) == 1 && l[0] == "all-linear" {
		s.set("lora_target_linear", true)
		return
	}
	s.set("lora_target_modules", in.Training.LoRA)
}

func getAxolotlTargets(in *Input, r *reader) {
	in.Training.LoRA = r.list("lora_target_modules")
	if pattern := r.text("lora_target_modules"); strings.ContainsAny(pattern, `[(\*`) {
		in.Training.LoRA = matched(pattern)
		if len(in.Training.LoRA) == 0 {
			in.Training.LoRA = []string{pattern} // which names no layer, and is refused by its name
		}
	}
	if r.on("lora_target_linear") {
		in.Training.LoRA = []string{"all-linear"}
	}
}

func putAxolotlSharding(in *Input, s *section) {
	switch sh := in.Training.Sharding; {
	case sh == "ddp":
		s.set("ddp", true)
	case zero(in):
		s.set("deepspeed", "ds_config.json")
	case sharded(in):
		s.set("fsdp_version", map[bool]int64{true: 1, false: 2}[sh == "fsdp"])
		f := s.child("fsdp_config")
		f.set("auto_wrap_policy", "TRANSFORMER_BASED_WRAP")
		f.set("offload_params", place(in, params) == "host")
		f.set("state_dict_type", "SHARDED_STATE_DICT")
		f.set("reshard_after_forward", true)
		putAxolotlDegrees(in, s)
	}
}

func putAxolotlDegrees(in *Input, s *section) {
	if in.Training.Sharding == "hsdp" {
		s.set("dp_replicate_size", across(in))
	}
	if in.Training.Sharding == "hsdp" || in.Plan.TP > 1 || in.Plan.CP > 1 {
		s.set("dp_shard_size", replicas(in)/across(in))
	}
}

func getAxolotlSharding(in *Input, r *reader) {
	t := &in.Training
	if r.on("ddp") {
		t.Sharding = "ddp"
	}
	if file := r.text("deepspeed"); strings.Contains(file, "zero") {
		for _, z := range []string{"zero1", "zero2", "zero3"} { // the files that axolotl ships
			if strings.Contains(file, z) {
				t.Sharding = z
			}
		}
	}
	f := r.root.at("fsdp_config")
	if f == nil || f.leaf() {
		return
	}
	getAxolotlFSDP(in, r)
}

func getAxolotlFSDP(in *Input, r *reader) {
	t := &in.Training
	t.Sharding = "fsdp"
	for _, key := range []string{"fsdp_version", "fsdp_config.fsdp_version"} {
		if n, _ := r.optional(key); n == 2 {
			t.Sharding = "fsdp2"
		}
	}
	r.take("fsdp") // the switches of FSDP1, which are its defaults
	if on, said := r.flag(fsdpKey(r, "offload_params")); said {
		where := map[bool]string{true: "host", false: "none"}[on]
		offload(in).Params, offload(in).Optimizer = where, where
	}
	if whole, said := r.flag(fsdpKey(r, "reshard_after_forward")); said && !whole {
		r.keep(fsdpKey(r, "reshard_after_forward"))
	}
	if fsdpStrategy(r) {
		t.Sharding = "hsdp"
	}
	for _, key := range []string{"auto_wrap_policy", "state_dict_type", "final_state_dict_type", "cpu_ram_efficient_loading", "sync_module_states", "use_orig_params", "transformer_layer_cls_to_wrap"} {
		r.take(fsdpKey(r, key))
	}
	if r.on(fsdpKey(r, "activation_checkpointing")) {
		t.Recompute = "full"
	}
	if n, _ := r.optional("dp_replicate_size"); n > 1 {
		t.Sharding = "hsdp"
	}
	r.take("dp_shard_size") // it follows from the processes
}

// fsdpKey is the place of a setting: axolotl takes off the prefix that its files had before.
func fsdpKey(r *reader, key string) string {
	const under = "fsdp_config."
	if former := under + "fsdp_" + key; r.root.at(former) != nil {
		return former
	}
	return under + key
}

// fsdpStrategy reads the strategy of former files; it tells shards within a node. Others than whole shards stay unread.
func fsdpStrategy(r *reader) (hybrid bool) {
	key := fsdpKey(r, "sharding_strategy")
	switch r.text(key) {
	case "HYBRID_SHARD":
		return true
	case "FULL_SHARD", "":
	default:
		r.keep(key)
	}
	return false
}

// putAxolotlPrecision: bf16 computes in bfloat16 beside weights that FSDP and DeepSpeed keep in fp32 as well;
// bfloat16 has nothing but 16 bits.
func putAxolotlPrecision(in *Input, s *section) {
	putSwitches(in, s, "bfloat16")
	if in.Training.Precision == "fp32" {
		s.set("float32", true)
	}
}

func getAxolotlPrecision(in *Input, r *reader) {
	auto := r.root.textAt("bf16") == "auto"
	bf16, fp16, fp8 := r.on("bf16") || auto, r.on("fp16"), r.on("fp8")
	plain, half, single := r.on("bfloat16"), r.on("float16"), r.on("float32")
	tf32 := r.on("tf32")
	p := ""
	switch {
	case fp8:
		p = "fp8"
	case bf16 && (adapted(in) || sharded(in)):
		p = "bf16-mixed"
	case bf16, plain:
		p = "bf16"
	case fp16:
		p = "fp16-mixed"
	case tf32:
		p = "tf32"
	case single:
		p = "fp32"
	case half:
		r.keep("float16")
	}
	if p != "" {
		in.Training.Precision = p
	}
}

func putAxolotlRecompute(in *Input, s *section) {
	s.set("gradient_checkpointing", in.Training.Recompute == "full")
}

// getAxolotlRecompute: "offload" computes again from inputs on the host.
func getAxolotlRecompute(in *Input, r *reader) {
	const key = "gradient_checkpointing"
	if r.root.textAt(key) == "offload" {
		r.take(key)
		in.Training.Recompute, offload(in).Activations = "full", "host"
		return
	}
	words(key, recompute, "none=false", "full=true").get(in, r)
}

// getAxolotlAttention reads the switches that came before attn_implementation.
func getAxolotlAttention(in *Input, r *reader) {
	for _, p := range []string{"flash=flash_attention", "sdpa=sdp_attention", "eager=eager_attention"} {
		value, key, _ := strings.Cut(p, "=")
		if r.on(key) {
			in.Plan.Attention = value
		}
	}
}

// Plugins that make kernels or a loss another one (axolotl/integrations). That of cut cross entropy is on where it is named.
const (
	ligerPlugin = "axolotl.integrations.liger.LigerPlugin"
	cutPlugin   = "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin"
)

// ligerKernels are the fused kernels beside the loss. Those of the norms and of the activation are what keeps less.
var ligerKernels = []string{"liger_rope", "liger_rms_norm", "liger_glu_activation"}

func putAxolotlLiger(in *Input, s *section) {
	fused, loss := yes(in.Training.Fused), yes(in.Training.FusedLoss)
	if fused || loss {
		s.set("plugins", []string{ligerPlugin})
	}
	if in.Training.Fused != nil {
		for _, key := range ligerKernels {
			s.set(key, fused)
		}
	}
	if in.Training.FusedLoss != nil {
		s.set("liger_fused_linear_cross_entropy", loss)
	}
}

func getAxolotlLiger(in *Input, r *reader) {
	plugins := r.list("plugins")
	for _, p := range plugins {
		if p != ligerPlugin && p != cutPlugin {
			r.keep("plugins")
		}
	}
	getLigerKernels(in, r)
	loss, given := r.flag("liger_fused_linear_cross_entropy")
	cut, also := r.flag("cut_cross_entropy")
	if !also && slices.Contains(plugins, cutPlugin) {
		cut, also = true, true
	}
	if given || also {
		in.Training.FusedLoss = truth(loss || cut)
	}
}

// getLigerKernels: a plan has one word for them; one kernel without the other is no plan's.
func getLigerKernels(in *Input, r *reader) {
	rope, a := r.flag(ligerKernels[0])
	norm, b := r.flag(ligerKernels[1])
	glu, c := r.flag(ligerKernels[2])
	if !a && !b && !c {
		return
	}
	if norm == glu && (glu || !rope) {
		in.Training.Fused = truth(glu)
		return
	}
	for _, key := range ligerKernels {
		r.keep(key)
	}
}
