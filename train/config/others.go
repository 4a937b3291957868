package config

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/plan"
)

// others are formats that are read and not written, in the order in which they are tried.
var others = sync.OnceValue(func() []*framework {
	return []*framework{litgpt(), swift(), swiftMegatron(), verl(), verlSFT(), slime(), openRLHF(), nemoRL()}
})

// dottedArguments reads a file of keys, or the flags of a command, in which --train.max_seq_length stands for a key of a block.
func dottedArguments(data []byte) (*node, error) {
	n, err := yamlOrArguments(data)
	if err != nil || !isCommand(data) {
		return n, err
	}
	out := block()
	for _, key := range n.keys {
		if strings.Contains(key, "${") {
			out.put(key, n.of[key])
			continue
		}
		out.putPath(key, n.of[key])
	}
	return out, nil
}

// overrides reads a file of keys, or the words of a command as Hydra takes them: data.max_prompt_length=512, with + before keys that are
// new.
func overrides(data []byte) (*node, error) {
	if !isCommand(data) {
		return fromYAML(data)
	}
	script, err := follow(data)
	if err != nil {
		return nil, err
	}
	out := block()
	for _, w := range longest(script, isSetting) {
		if isSetting(w) {
			key, value, _ := strings.Cut(w, "=")
			out.putPath(strings.TrimLeft(key, "+~"), &node{text: value, given: true})
		}
	}
	if len(out.keys) == 0 {
		return nil, wrong("command", "has no settings of the form key.name=value", "python3 -m verl.trainer.main_ppo key.name=value …")
	}
	return out, nil
}

// isSetting tells key.name=value, and the settings of trainers that have one part; engine=megatron chooses a table.
func isSetting(w string) bool {
	key, _, ok := strings.Cut(strings.TrimLeft(w, "+~"), "=")
	named := strings.Contains(key, ".") || has("ulysses_sequence_parallel_size use_remove_padding", key)
	return ok && named && !strings.HasPrefix(key, "-") && !strings.ContainsAny(key, "/ {\"'$")
}

// putPath sets the value of a dotted path; what stands in the way stays.
func (n *node) putPath(path string, v *node) {
	for range maxDepth {
		head, rest, more := strings.Cut(path, ".")
		if !more {
			n.put(head, v)
			return
		}
		if n.of[head] == nil {
			n.put(head, block())
		}
		if n, path = n.of[head], rest; n.of == nil {
			return
		}
	}
}

// referring puts the values of ${a.b} in, where that is another key of the file; other expressions stand as they are.
func referring(data []byte) (*node, error) {
	root, err := fromYAML(data)
	if err != nil {
		return nil, err
	}
	root.refer(root)
	if base := root.textAt("defaults"); base != "" {
		root.drop("defaults")
		root.put(sourceKey+base, &node{text: "true"})
		root.put("defaults", &node{null: true})
	}
	return root, nil
}

func (n *node) refer(root *node) {
	for k, v := range n.of {
		path, ok := strings.CutPrefix(v.text, "${")
		if ok && strings.HasSuffix(path, "}") {
			if to := root.at(strings.TrimSuffix(path, "}")); to != nil && to.leaf() && !strings.HasPrefix(to.text, "${") {
				n.of[k] = &node{text: to.text, null: to.null}
			}
		}
		v.refer(root)
	}
}

// machines is how many devices two keys come to: those of a machine, and how many machines.
func machines(each, nodes string) rule {
	return rule{get: func(in *Input, r *reader) {
		n, k := first64(r, each), max(1, first64(r, nodes))
		if n > 0 && n <= plan.MaxRanks/k {
			in.Devices, in.Nodes = n*k, k
		}
	}}
}

// litgpt is its YAML and command line (0.5: litgpt/finetune/*.py, litgpt/args.py, config_hub).
func litgpt() *framework {
	targets := []struct{ key, names string }{
		{"lora_query", "q_proj"}, {"lora_key", "k_proj"}, {"lora_value", "v_proj"}, {"lora_projection", "o_proj"}, {"lora_mlp", "gate_proj up_proj down_proj"}, {"lora_head", "lm_head"},
	}
	return &framework{
		name: "litgpt", title: "litgpt", plan: "litgpt", marks: "checkpoint_dir model_name",
		parts: []part{{name: "litgpt.yaml", keys: "litgpt", decode: dottedArguments, rules: []rule{
			{get: func(in *Input, r *reader) {
				in.Training.Objective, in.Training.Method = "sft", "full"
				if name := r.text("model_name"); name != "" {
					in.Hub, in.Training.Objective = name, "pretrain"
				}
				if dir := r.text("checkpoint_dir"); dir != "" {
					in.Hub = strings.TrimPrefix(strings.TrimPrefix(dir, "./"), "checkpoints/")
				}
			}},
			words("precision", precision, "bf16=bf16-true", "bf16-mixed=bf16-mixed", "fp16-mixed=16-mixed", "fp32=32-true"),
			count("lora_r", loraRank), dropout("lora_dropout"), made("lora_alpha", nil),
			{get: func(in *Input, r *reader) {
				for _, t := range targets {
					if on, said := r.flag(t.key); said && on {
						in.Training.LoRA = append(in.Training.LoRA, strings.Fields(t.names)...)
					}
				}
				if r.root.at("lora_r") != nil || len(in.Training.LoRA) > 0 {
					in.Training.Method = "lora"
				}
				switch r.text("quantize") {
				case "bnb.nf4", "nf4":
					in.Plan.Weights = "nf4-single"
				case "bnb.nf4-dq", "nf4-dq":
					in.Plan.Weights = "nf4"
				default:
					r.keep("quantize")
				}
				if in.Plan.Weights != "" && in.Training.Method == "lora" {
					in.Training.Method = "qlora"
				}
			}},
			count("train.global_batch_size", globalBatch), count("train.micro_batch_size", microBatch), count("train.max_seq_length", sequence),
			count("train.max_tokens", func(in *Input) *plan.Int { return &in.Training.Tokens }),
			words("optimizer", optimizerName, "adamw=AdamW", "sgd=SGD", "adamw-8bit=bitsandbytes.optim.AdamW8bit", "paged-adamw-8bit=bitsandbytes.optim.PagedAdamW8bit", "paged-adamw=bitsandbytes.optim.PagedAdamW", "galore=GaLore"),
			machines("devices", "num_nodes"),
		}}},
	}
}

// swift is ms-swift's YAML and command line (3.10: swift/llm/argument/*.py), with the names of 4 beside them.
func swift() *framework {
	return &framework{
		name: "ms-swift", title: "ms-swift", plan: "ms-swift", marks: "train_type tuner_type rlhf_type attn_impl quant_bits torch_dtype",
		parts: []part{{name: "swift.yaml", keys: "swift transformers", decode: swiftArguments, rules: joined([]rule{
			{get: func(in *Input, r *reader) { in.Training.Objective, in.Hub = "sft", r.text("model") }},
			words("rlhf_type", objective, "dpo=dpo", "grpo=grpo", "ppo=ppo", "distill=gkd"),
			words("train_type", method, "full=full", "lora=lora", "adalora=adalora", "vera=vera", "boft=boft"),
			words("tuner_type", method, "full=full", "lora=lora", "adalora=adalora", "vera=vera", "boft=boft"),
			{get: getSwiftWeights},
			count("lora_rank", loraRank), dropout("lora_dropout"), made("lora_alpha", nil), texts("target_modules", func(in *Input) *[]string { return &in.Training.LoRA }),
			texts("modules_to_save", func(in *Input) *[]string { return &in.Training.Full }),
			flag("use_dora", func(*Input) **bool { return new(*bool) }),
			count("max_length", sequence), flag("packing", packing), count("sequence_parallel_size", cp), {get: getSwiftLiger},
			words("attn_impl", attention, "flash=flash_attn", "flash=flash_attention_2", "flash=flash_attention_3", "sdpa=sdpa", "eager=eager"),
			{get: func(in *Input, r *reader) {
				switch r.text("torch_dtype") {
				case "bfloat16":
					in.Training.Precision = "bf16-mixed"
					if in.Training.Method == "full" || in.Training.Method == "" {
						in.Training.Precision = "bf16" // weights stay in what they are loaded in
					}
				case "float16":
					in.Training.Precision = "fp16-mixed"
				case "float32":
					in.Training.Precision = "fp32"
				default:
					r.keep("torch_dtype")
				}
			}},
			another("teacher_model", func(in *Input) *string { return &in.Training.TeacherModel }), another("reward_model", func(in *Input) *string { return &in.Training.RewardModel }),
			words("teacher_deepspeed", func(in *Input) *string { return &in.Training.TeacherShards },
				"none=zero0", "none=zero1", "none=zero2", "zero3=zero3"),
			{get: getSwiftZero}, {get: getSwiftRollout},
		}, trainer(""), []rule{processes()})}, argumentsOnly(accelerateFile()), argumentsOnly(deepspeedFile(zero))},
	}
}

// swiftArguments are the flags, and how many processes the environment names before the command.
func swiftArguments(data []byte) (*node, error) {
	n, unsaid := yamlOrArguments(data)
	script, err := follow(data)
	if err != nil || !isCommand(data) {
		return n, unsaid
	}
	if unsaid != nil {
		n = block() // what the command says may stand in a file that it names
	}
	for _, name := range []string{"NPROC_PER_NODE", "NNODES"} {
		if v := script.Vars[name]; len(v) == 1 {
			n.put(strings.ToLower(name), &node{text: v[0], given: true})
		}
	}
	if len(n.keys) == 0 {
		return nil, unsaid
	}
	return n, nil
}

// getSwiftWeights: NF4 with double quantisation is the default of bitsandbytes' four bits here.
func getSwiftWeights(in *Input, r *reader) {
	if r.text("quant_bits") == "8" && has("bnb", r.text("quant_method")) {
		in.Plan.Weights = bnbInt8
		return
	}
	if r.text("quant_bits") != "4" || !has("bnb", r.text("quant_method")) || !has("nf4", first(r.text("bnb_4bit_quant_type"), named{r.root.at("bnb_4bit_quant_type") == nil, "nf4"})) {
		r.keep("quant_bits")
		r.keep("quant_method")
		return
	}
	in.Plan.Weights = "nf4"
	if twice, said := r.flag("bnb_4bit_use_double_quant"); said && !twice {
		in.Plan.Weights = "nf4-single"
	}
	if in.Training.Method == "lora" {
		in.Training.Method = "qlora"
	}
}

// getSwiftLiger: Liger's loss makes no logits where the trainer leaves the loss to the model: not with weights of tokens that are no mask,
// and not where sequences lie on several ranks (4.5: swift/trainers/seq2seq_trainer.py, compute_loss; swift/loss_scale). GRPO and GKD have
// Liger's losses of their own; preferences are compared by logits.
func getSwiftLiger(in *Input, r *reader) {
	used, said := r.flag("use_liger_kernel")
	if !said {
		return
	}
	in.Training.Fused = &used
	weighted := !has("default last_round all ignore_empty_think", first(r.text("loss_scale"), named{r.root.at("loss_scale") == nil, "default"}))
	own := r.on("enable_dft_loss") || r.on("enable_channel_loss") || in.Plan.CP > 1
	switch in.Training.Objective {
	case "sft":
		in.Training.FusedLoss = truth(used && !weighted && !own)
	case "grpo", "distill":
		in.Training.FusedLoss = truth(used)
	}
}

// getSwiftZero knows the settings that ms-swift ships under short names: zero3_offload.
func getSwiftZero(in *Input, r *reader) {
	name, offloaded := strings.CutSuffix(r.text("deepspeed"), "_offload")
	sharding := map[string]string{"zero0": "ddp", "zero1": "zero1", "zero2": "zero2", "zero3": "zero3"}[name]
	if sharding == "" {
		r.keep("deepspeed")
		return
	}
	in.Training.Sharding = sharding
	if offloaded {
		*offload(in) = plan.Offload{Optimizer: "host", Params: map[bool]string{true: "host", false: "none"}[sharding == "zero3"]}
	}
}

func getSwiftRollout(in *Input, r *reader) {
	if in.Training.Objective == "grpo" {
		getRollout("", "vllm_gpu_memory_utilization", in, r)
	}
}

// verlAway: parameters and states leave the device while answers are written (0.6: verl/workers/fsdp_workers.py, offload_fsdp_model_to_cpu,
// offload_fsdp_optimizer; megatron_workers.py). One without the other no field says: it stays unread.
func verlAway(r *reader) *bool {
	for _, under := range []string{"actor_rollout_ref.actor.fsdp_config.", "actor_rollout_ref.actor.megatron."} {
		on := func(key string) bool { return strings.EqualFold(r.root.textAt(under+key), "true") }
		if on("param_offload") && on("optimizer_offload") {
			for _, what := range []string{"param_offload", "optimizer_offload", "grad_offload"} {
				r.take(under + what)
			}
			return truth(true)
		}
	}
	return nil
}

// verl are the settings of its trainers as Hydra takes them (0.6: verl/trainer/config/*.yaml).
func verl() *framework {
	const actor, rollout = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."
	return &framework{
		name: "verl", title: "verl", plan: "verl", marks: "actor_rollout_ref",
		parts: []part{{name: "verl.yaml", keys: "verl", decode: overrides, rules: []rule{
			loads("actor_rollout_ref.model.path"),
			{get: func(in *Input, _ *reader) {
				in.Training.Objective, in.Training.Method, in.Training.Sharding, in.Training.Precision = "ppo", "full", "fsdp", "bf16-mixed"
			}},
			words("algorithm.adv_estimator", objective, "ppo=gae", "grpo=grpo", "grpo=grpo_passk", "grpo=rloo", "grpo=remax", "grpo=reinforce_plus_plus", "grpo=reinforce_plus_plus_baseline"),
			words(actor+"strategy", sharding, "fsdp=fsdp", "fsdp2=fsdp2", "zero1=megatron"),
			{get: func(in *Input, r *reader) { // ppo_megatron_trainer.yaml says the strategy, and its keys are named in commands
				if r.root.at(actor+"strategy") == nil && r.root.at(actor+"megatron") != nil {
					in.Training.Sharding = "zero1"
				}
			}},
			count("actor_rollout_ref.model.lora_rank", loraRank), texts("actor_rollout_ref.model.target_modules", func(in *Input) *[]string { return &in.Training.LoRA }),
			words("actor_rollout_ref.model.enable_gradient_checkpointing", recompute, "full=true", "none=false"),
			flag("actor_rollout_ref.model.use_remove_padding", packing), flag("actor_rollout_ref.model.use_liger", func(in *Input) **bool { return &in.Training.Fused }), flag("actor_rollout_ref.model.use_fused_kernels", fusedLoss),
			count(actor+"ppo_micro_batch_size_per_gpu", microBatch), count(actor+"ulysses_sequence_parallel_size", cp),
			count(actor+"megatron.tensor_model_parallel_size", tp), count(actor+"megatron.pipeline_model_parallel_size", pp), count(actor+"megatron.context_parallel_size", cp), count(actor+"megatron.expert_model_parallel_size", ep), count(actor+"megatron.expert_tensor_parallel_size", etp),
			machines("trainer.n_gpus_per_node", "trainer.nnodes"),
			{get: func(in *Input, r *reader) {
				prompt, _ := r.optional("data.max_prompt_length")
				output, _ := r.optional("data.max_response_length")
				n, _ := r.optional(rollout + "n")
				mini, _ := r.optional(actor + "ppo_mini_batch_size")
				o := &plan.Rollout{Samples: plan.Int(max(1, n)), Prompt: plan.Int(prompt), Output: plan.Int(output), Colocated: truth(true)}
				if o.Engine = r.text(rollout + "name"); !has("vllm sglang", o.Engine) {
					o.Engine = ""
					r.keep(rollout + "name")
				}
				o.Share, _ = r.share(rollout + "gpu_memory_utilization")
				width, _ := r.optional(rollout + "tensor_model_parallel_size")
				o.TP = plan.Int(width)
				if freed, said := r.flag(rollout + "free_cache_engine"); said {
					o.Sleep = &freed
				}
				o.Away = verlAway(r)
				in.Training.Rollout, in.Training.SequenceLength = o, plan.Int(prompt+output)
				in.Training.GlobalBatch = plan.Int(mini * max(1, n)) // batches count prompts here
				kl, _ := r.flag(actor + "use_kl_loss")
				in.Training.ReferenceModel = in.Hub
				if rewarded := r.on("algorithm.use_kl_in_reward"); !kl && !rewarded {
					in.Training.ReferenceModel = "none"
				}
				if in.Training.LoRARank > 0 {
					in.Training.Method = "lora"
				}
				if critic := r.text("critic.model.path"); critic != "" && in.Training.Objective == "ppo" {
					in.Training.CriticModel = critic
				}
				if in.Training.Sharding == "zero1" {
					in.Training.Framework = "megatron"
				}
			}},
		}}},
	}
}

// openRLHF are its commands (0.8: openrlhf/cli/*.py), whose models DeepSpeed shares.
func openRLHF() *framework {
	return &framework{
		name: "openrlhf", title: "OpenRLHF", plan: "openrlhf", marks: "pretrain micro_train_batch_size",
		parts: []part{{name: "openrlhf.sh", keys: "openrlhf", decode: openArguments, rules: []rule{
			loads("pretrain"),
			{get: func(in *Input, r *reader) {
				in.Training.Objective, in.Training.Method, in.Training.Sharding, in.Training.Precision = "sft", "full", "zero2", "fp32"
				module := r.text("module") + " " + r.text("script")
				switch {
				case strings.Contains(module, "dpo"), r.root.at("beta") != nil:
					in.Training.Objective = "dpo"
				case r.root.at("n_samples_per_prompt") != nil, r.root.at("generate_max_len") != nil:
					in.Training.Objective = "ppo"
				case r.on("pretrain_mode"):
					in.Training.Objective = "pretrain"
				}
				for i, z := range []string{"ddp", "zero1", "zero2", "zero3"} {
					if r.text("zero_stage") == string(rune('0'+i)) {
						in.Training.Sharding = z
					}
				}
				if r.on("bf16") || r.text("param_dtype") == "bf16" {
					in.Training.Precision = "bf16-mixed"
				}
				if r.on("adam_offload") {
					offload(in).Optimizer = "host"
				}
				if r.on("flash_attn") {
					in.Plan.Attention = "flash"
				}
				if r.on("gradient_checkpointing") {
					in.Training.Recompute = "full"
				}
			}},
			words("advantage_estimator", objective, "ppo=gae", "grpo=group_norm", "grpo=rloo", "grpo=reinforce", "grpo=reinforce_baseline", "grpo=dr_grpo"),
			words("attn_implementation", attention, "flash=flash_attention_2", "sdpa=sdpa", "eager=eager"),
			count("max_len", sequence), count("micro_train_batch_size", microBatch), count("train_batch_size", globalBatch),
			flag("packing_samples", packing), flag("use_liger_kernel", func(in *Input) **bool { return &in.Training.Fused }), count("ring_attn_size", cp), count("ds_tensor_parallel_size", tp),
			count("lora_rank", loraRank), dropout("lora_dropout"), made("lora_alpha", nil), texts("target_modules", func(in *Input) *[]string { return &in.Training.LoRA }),
			{get: func(in *Input, r *reader) {
				in.Training.ReferenceModel, in.Training.RewardModel, in.Training.CriticModel = r.text("ref_pretrain"), r.text("reward_pretrain"), r.text("critic_pretrain")
			}},
			{get: getOpenRLHF}, machines("actor_num_gpus_per_node", "actor_num_nodes"), processes(),
		}}},
	}
}

// getOpenRLHF derives adapters and how answers are made.
func getOpenRLHF(in *Input, r *reader) {
	t := &in.Training
	if t.LoRARank > 0 {
		t.Method = "lora"
	}
	if r.on("load_in_4bit") {
		in.Plan.Weights, t.Method = "nf4", map[bool]string{true: "qlora", false: t.Method}[t.Method == "lora"]
	}
	prompt, _ := r.optional("prompt_max_len")
	output, _ := r.optional("generate_max_len")
	n, _ := r.optional("n_samples_per_prompt")
	if prompt+output == 0 {
		return
	}
	o := &plan.Rollout{Prompt: plan.Int(prompt), Output: plan.Int(output), Samples: plan.Int(n)}
	if engines, _ := r.optional("vllm_num_engines"); engines > 0 {
		o.Engine, o.Colocated = "vllm", truth(r.on("colocate_all_models"))
	}
	o.Share, _ = r.share("vllm_gpu_memory_utilization")
	if all := in.Training.SequenceLength; prompt == 0 && int64(all) > output {
		o.Prompt = all - o.Output // 0.11 says both together
	}
	width, _ := r.optional("vllm_tensor_parallel_size")
	o.TP = plan.Int(width)
	if r.on("vllm_enable_sleep") {
		o.Sleep = truth(true)
	}
	t.Rollout, t.SequenceLength = o, o.Prompt+o.Output
}

// openNames are OpenRLHF's names of 0.11 for those of 0.8.
const openNames = `model.model_name_or_path=pretrain actor.model_name_or_path=pretrain ref.model_name_or_path=ref_pretrain reward.model_name_or_path=reward_pretrain
	critic.model_name_or_path=critic_pretrain train.batch_size=train_batch_size train.micro_batch_size=micro_train_batch_size data.max_len=max_len
	ds.zero_stage=zero_stage ds.param_dtype=param_dtype ds.adam_offload=adam_offload ds.attn_implementation=attn_implementation ds.packing_samples=packing_samples
	ds.use_liger_kernel=use_liger_kernel ds.ring_attn_size=ring_attn_size ds.tensor_parallel_size=ds_tensor_parallel_size ds.load_in_4bit=load_in_4bit
	ds.lora.rank=lora_rank ds.lora.alpha=lora_alpha ds.lora.dropout=lora_dropout ds.lora.target_modules=target_modules
	model.gradient_checkpointing_enable=gradient_checkpointing actor.gradient_checkpointing_enable=gradient_checkpointing model.beta=beta
	model.pretrain_mode_enable=pretrain_mode actor.num_gpus_per_node=actor_num_gpus_per_node actor.num_nodes=actor_num_nodes
	rollout.max_new_tokens=generate_max_len rollout.n_samples_per_prompt=n_samples_per_prompt algo.advantage.estimator=advantage_estimator
	vllm.num_engines=vllm_num_engines vllm.tensor_parallel_size=vllm_tensor_parallel_size vllm.gpu_memory_utilization=vllm_gpu_memory_utilization
	vllm.enable_sleep=vllm_enable_sleep train.colocate_all=colocate_all_models`

// openArguments are the flags, by the names of 0.8.
func openArguments(data []byte) (*node, error) {
	n, err := yamlOrArguments(data)
	if err != nil {
		return nil, err
	}
	out, old := block(), map[string]string{}
	for pair := range strings.FieldsSeq(openNames) {
		name, before, _ := strings.Cut(pair, "=")
		old[name] = before
	}
	for _, key := range n.keys {
		out.put(cmp.Or(old[key], key), n.of[key])
	}
	return out, nil
}

// nemoRL are NeMo-RL's recipes (examples/configs of 0.4). What ${…} refers to in the same file is put in.
func nemoRL() *framework {
	const dtensor, mcore = "policy.dtensor_cfg.", "policy.megatron_cfg."
	return &framework{
		name: "nemo-rl", title: "NeMo-RL", plan: "nemo-rl", marks: "policy defaults", merges: true,
		parts: []part{{name: "nemo-rl.yaml", keys: "nemo-rl", decode: referring, rules: []rule{
			loads("policy.model_name"),
			{get: func(in *Input, r *reader) {
				in.Training.Method, in.Training.Precision, in.Training.Sharding = "full", "fp32", "fsdp2"
				for _, o := range []string{"sft", "dpo", "grpo"} {
					if r.root.at(o) != nil {
						in.Training.Objective = o
					}
				}
				if r.text("policy.precision") == "bfloat16" {
					in.Training.Precision = "bf16-mixed"
				}
				cfg := dtensor
				if r.on(mcore + "enabled") {
					cfg = mcore
					in.Training.Framework, in.Training.Sharding = "megatron-bridge", "zero1"
				}
				r.take(dtensor + "enabled")
				for _, d := range []struct {
					key string
					at  *int64
				}{
					{dtensor + "tensor_parallel_size", &in.Plan.TP}, {dtensor + "context_parallel_size", &in.Plan.CP}, {mcore + "tensor_model_parallel_size", &in.Plan.TP},
					{mcore + "pipeline_model_parallel_size", &in.Plan.PP}, {mcore + "context_parallel_size", &in.Plan.CP}, {mcore + "expert_model_parallel_size", &in.Plan.EP}, {mcore + "expert_tensor_parallel_size", &in.Training.ETP},
				} {
					if n := first64(r, d.key); strings.HasPrefix(d.key, cfg) {
						*d.at = n
					}
				}
				in.Training.Recompute = map[bool]string{true: "full", false: "none"}[r.on(cfg+"activation_checkpointing")]
				if b, said := r.flag(cfg + "sequence_parallel"); said {
					in.Training.SequenceParallel = &b
				}
				if r.on(cfg + "cpu_offload") {
					*offload(in) = plan.Offload{Params: "host", Optimizer: "host"}
				}
			}},
			count("policy.train_global_batch_size", globalBatch), count("policy.train_micro_batch_size", microBatch), count("policy.max_total_sequence_length", sequence),
			flag("policy.sequence_packing.enabled", packing),
			words("policy.optimizer.name", optimizerName, "adamw=torch.optim.AdamW"),
			{get: getNeMoRollout}, machines("cluster.gpus_per_node", "cluster.num_nodes"),
		}}},
	}
}

func getNeMoRollout(in *Input, r *reader) {
	if in.Training.Objective != "grpo" {
		return
	}
	n, _ := r.optional("grpo.num_generations_per_prompt")
	output, _ := r.optional("policy.generation.max_new_tokens")
	o := &plan.Rollout{Samples: plan.Int(n), Output: min(plan.Int(output), in.Training.SequenceLength/2), Colocated: truth(true)}
	if output != int64(in.Training.SequenceLength) {
		o.Output = plan.Int(output)
	}
	if engine := r.text("policy.generation.backend"); has("vllm sglang", engine) {
		o.Engine = engine
	} else {
		r.keep("policy.generation.backend")
	}
	if b, said := r.flag("policy.generation.colocated.enabled"); said {
		o.Colocated = &b
	}
	o.Share, _ = r.share("policy.generation.vllm_cfg.gpu_memory_utilization")
	width, _ := r.optional("policy.generation.vllm_cfg.tensor_parallel_size")
	o.TP = plan.Int(width)
	o.Prompt = max(0, in.Training.SequenceLength-o.Output)
	in.Training.Rollout = o
}

// reads are the formats that are read, those that are written too behind those that are not.
func reads() []*framework { return slices.Concat(others(), all()) }
