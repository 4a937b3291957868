package config

import (
	"fmt"
	"slices"
	"strings"
)

// torchtune is the YAML of torchtune's recipes (0.6.1). Which recipe runs is said on the command line; the file
// tells it by its components.
func torchtune() *framework {
	return &framework{
		name: "torchtune", title: "torchtune", plan: "torchtune",
		says: map[string]string{
			"objective": "sft pretrain dpo qat", "method": "full lora qlora dora", "weights": "nf4",
			"optimizer": "adamw adamw-fused adamw-8bit paged-adamw-8bit paged-adamw adafactor lion sgd", "precision": "bf16 fp32",
			"sharding": "~none ~fsdp2", "tp": "*", "sequence_length": "*", "micro_batch": "*", "accumulation": "*", "recompute": "none full", "optimizer_in_backward": "true", "attention": "~sdpa ~flash",
			"fused_loss": "true", "compile": "true", "lora_rank": "*", "lora_targets": "*", "lora_dropout": "*", "packing": "true",
			"offload.optimizer": "host", "offload.params": "host", "offload.activations": "host",
		},
		parts: []part{{
			name: "recipe.yaml", keys: "torchtune", rules: tuneRules(), decode: fromYAML, run: tuneRun,
			encode: func(_ *Input, s *section) string { return toYAML(s) },
		}},
		refuses: tuneRefuses(),
		idle:    []string{"max_new_tokens", "tasks", "quantizer"},
	}
}

func tuneRefuses() []refusal {
	return []refusal{
		{"model", func(in *Input) bool { _, ok := tuned(in); return !ok }, "has no builder in torchtune 0.6.1", "a model of torchtune.models, or axolotl"},
		{"method", func(in *Input) bool { return builder(in) == "-" }, "has no recipe for this model in torchtune 0.6.1", "method = lora"},
		{"lora_targets", func(in *Input) bool { return adapted(in) && !tuneTargets(in) }, "names layers one by one, and torchtune takes those of the MLP together", "lora_targets = all-linear"},
		{"modules_to_save", func(in *Input) bool { return len(in.Training.Full) > 0 }, "has no word in torchtune: " + unsaid["modules_to_save"], "without modules_to_save"},
		{"tp", func(in *Input) bool { return in.Plan.TP > 1 && adapted(in) }, "is a setting of the full recipes alone", "method = full, or tp = 1"},
		{"tp", func(in *Input) bool { m, _ := tuned(in); return in.Plan.TP > 1 && m.split == "-" }, "has no plan for this model in torchtune 0.6.1", "tp = 1"},
		{"sharding", func(in *Input) bool { return in.Devices > 1 && in.Training.Sharding == "none" }, "is one device's recipe", "sharding = fsdp2"},
		{"sharding", func(in *Input) bool {
			o := in.Training.Objective
			return in.Training.Sharding == "none" && (o == "qat" || o == "dpo" && !adapted(in))
		}, "has no recipe of one device for this objective", "sharding = fsdp2"},
		{"offload.params", func(in *Input) bool { return place(in, params) != place(in, optimizer) }, "moves parameters, gradients and optimizer states together", "offload.params = offload.optimizer"},
		{"offload.params", func(in *Input) bool { return place(in, params) != "none" && in.Training.Sharding != "fsdp2" }, "is part of FSDP", "sharding = fsdp2"},
		{"offload.activations", func(in *Input) bool {
			return place(in, activations) != "none" && in.Training.Recompute != "full"
		}, "keeps inputs of blocks that are computed again", "recompute = full"},
		{"fused_loss", func(in *Input) bool { return yes(in.Training.FusedLoss) && in.Training.Objective == "dpo" }, "is not a form of the loss of preferences", "fused_loss = false"},
		{"objective", func(in *Input) bool { return in.Training.Objective == "qat" && in.Training.Method == "qlora" }, "trains for weights that are quantised later", "method = lora"},
		{"optimizer_in_backward", func(in *Input) bool {
			return yes(in.Training.InBackward) && (adapted(in) || in.Training.Accumulation > 1 || !has("sft pretrain", in.Training.Objective))
		}, "is of recipes that train the whole model, with a step for each pass", "method = full and accumulation = 1"},
		{"packing", func(in *Input) bool { return yes(in.Training.Packing) && in.Training.Objective == "dpo" }, "packs samples, and preferences are never packed", "packing = false"},
	}
}

const tuneHead = "torchtune.models."

// builder is the model's component for a method, without its head; "-" where there is none.
func builder(in *Input) string {
	m, _ := tuned(in)
	switch {
	case in.Training.Method == "qlora" || fourBit(in) && m.qlora != "-":
		return m.qlora
	case adapted(in):
		return m.lora
	}
	return m.full
}

func tuneRun(in *Input) string {
	recipe := map[string]string{"qat": "qat", "dpo": "full_dpo"}[in.Training.Objective]
	if recipe == "" {
		recipe = "full_finetune"
	}
	if adapted(in) {
		recipe = map[string]string{"qat": "qat_lora_finetune", "dpo": "lora_dpo"}[in.Training.Objective]
		if recipe == "" {
			recipe = "lora_finetune"
		}
	}
	if in.Training.Sharding == "none" {
		return "tune run " + recipe + "_single_device --config recipe.yaml"
	}
	return fmt.Sprintf("tune run --nnodes %d --nproc_per_node %d %s_distributed --config recipe.yaml", in.Nodes, in.Devices/in.Nodes, recipe)
}

func tuneRules() []rule { return joined(tuneParts(), tuneSteps(), tunePlaces()) }

// tuneParts are what a recipe is built from: model, tokenizer, checkpoint and data.
func tuneParts() []rule {
	return []rule{
		fixed("output_dir", "output"),
		{put: putTuneModel, get: getTuneModel},
		made("tokenizer._component_", func(in *Input) any { m, _ := tuned(in); return tuneHead + m.tokenizer }),
		fixed("tokenizer.path", "path/to/tokenizer"),
		count("tokenizer.max_seq_len", sequence),
		fixed("checkpointer._component_", "torchtune.training.FullModelHFCheckpointer"),
		fixed("checkpointer.checkpoint_dir", "path/to/model"),
		fixed("checkpointer.checkpoint_files", []string{"model.safetensors"}),
		fixed("checkpointer.output_dir", "output"),
		made("checkpointer.model_type", func(in *Input) any { m, _ := tuned(in); return m.kind }),
		{put: putTuneReference, get: func(_ *Input, r *reader) { r.take("ref_checkpointer") }},
		{put: putTuneData, get: getTuneData},
		flag("dataset.packed", packing),
	}
}

// tuneSteps are batch, optimizer and loss.
func tuneSteps() []rule {
	return []rule{
		count("batch_size", microBatch),
		count("gradient_accumulation_steps", accumulation),
		fixed("epochs", int64(1)), fixed("seed", int64(0)), fixed("shuffle", true), fixed("max_steps_per_epoch", int64(1000)), fixed("resume_from_checkpoint", false),
		words("optimizer._component_", optimizerName, "adamw=torch.optim.AdamW", "adamw-fused>torch.optim.AdamW", "adamw-8bit=bitsandbytes.optim.AdamW8bit", "paged-adamw-8bit=bitsandbytes.optim.PagedAdamW8bit",
			"paged-adamw=bitsandbytes.optim.PagedAdamW", "adafactor=torch.optim.Adafactor", "lion=bitsandbytes.optim.Lion", "sgd=torch.optim.SGD"),
		{put: putTuneFused, get: getTuneFused},
		fixed("optimizer.lr", 0.00002),
		{put: putTuneBackward, get: getTuneBackward},
		{put: putTuneWarmup, get: func(_ *Input, r *reader) { r.take("lr_scheduler") }},
		{put: putTuneLoss, get: getTuneLoss},
	}
}

// putTuneFused: torch's AdamW has a fused form; bitsandbytes' has no such argument.
func putTuneFused(in *Input, s *section) {
	if has("adamw adamw-fused", in.Training.Optimizer) {
		s.set("optimizer.fused", in.Training.Optimizer == "adamw-fused")
	}
}

func getTuneFused(in *Input, r *reader) {
	if r.on("optimizer.fused") && in.Training.Optimizer == "adamw" {
		in.Training.Optimizer = "adamw-fused"
	}
}

// putTuneBackward: recipes that train the whole model take steps within the backward pass, if one pass is a step.
func putTuneBackward(in *Input, s *section) {
	if !adapted(in) && has("sft pretrain", in.Training.Objective) {
		s.set("optimizer_in_bwd", yes(in.Training.InBackward))
	}
}

func getTuneBackward(in *Input, r *reader) {
	if r.on("optimizer_in_bwd") {
		in.Training.InBackward = truth(true)
	}
}

// putTuneWarmup: recipes of adapters and preferences do not start without a schedule.
func putTuneWarmup(in *Input, s *section) {
	if adapted(in) || in.Training.Objective == "dpo" {
		s.set("lr_scheduler._component_", "torchtune.training.lr_schedulers.get_cosine_schedule_with_warmup")
		s.set("lr_scheduler.num_warmup_steps", int64(100))
	}
}

// putTuneReference: with all weights trained, the reference is loaded from a checkpoint of its own.
func putTuneReference(in *Input, s *section) {
	if in.Training.Objective != "dpo" || adapted(in) {
		return
	}
	m, _ := tuned(in)
	s.set("ref_checkpointer._component_", "torchtune.training.FullModelHFCheckpointer")
	s.set("ref_checkpointer.checkpoint_dir", "path/to/model")
	s.set("ref_checkpointer.checkpoint_files", []string{"model.safetensors"})
	s.set("ref_checkpointer.output_dir", "output")
	s.set("ref_checkpointer.model_type", m.kind)
}

// tunePlaces are formats, what is kept where, and parallelism.
func tunePlaces() []rule {
	return []rule{
		fixed("device", "cuda"),
		words("dtype", precision, "bf16=bf16", "fp32=fp32"),
		words("enable_activation_checkpointing", recompute, "none=false", "full=true"),
		offloaded("enable_activation_offloading"),
		both("fsdp_cpu_offload"),
		flag("compile", compiled),
		{put: func(in *Input, s *section) {
			if m, _ := tuned(in); in.Plan.TP > 1 {
				s.set("tensor_parallel_dim", in.Plan.TP)
				s.set("tensor_parallel_plan._component_", tuneHead+m.split)
			}
		}, get: func(in *Input, r *reader) {
			count("tensor_parallel_dim", tp).get(in, r)
			r.take("tensor_parallel_plan._component_")
		}},
		fixed("metric_logger._component_", "torchtune.training.metric_logging.DiskLogger"), fixed("metric_logger.log_dir", "output/logs"),
		fixed("log_every_n_steps", int64(1)), fixed("log_peak_memory_stats", true),
		fixed("profiler._component_", "torchtune.training.setup_torch_profiler"), fixed("profiler.enabled", false),
	}
}

// both is one switch that moves parameters and optimizer states to the host.
func both(key string) rule {
	return rule{
		put: func(in *Input, s *section) {
			if in.Plan.Offload != nil && in.Plan.Offload.Params != "" {
				s.set(key, in.Plan.Offload.Params == "host")
			}
		},
		get: func(in *Input, r *reader) {
			if on, said := r.flag(key); said {
				where := map[bool]string{true: "host", false: "none"}[on]
				offload(in).Params, offload(in).Optimizer = where, where
			}
		},
	}
}

func putTuneModel(in *Input, s *section) {
	s.set("model._component_", tuneHead+builder(in))
	if !adapted(in) {
		return
	}
	t := &in.Training
	attn, mlp, head := tuneLayers(in)
	s.set("model.lora_attn_modules", attn)
	s.set("model.apply_lora_to_mlp", mlp)
	s.set("model.apply_lora_to_output", head)
	s.set("model.lora_rank", int64(t.LoRARank))
	s.set("model.lora_alpha", 2*int64(t.LoRARank))
	if t.Dropout != nil {
		s.set("model.lora_dropout", *t.Dropout)
	}
	if t.Method == "dora" {
		s.set("model.use_dora", true)
	}
}

// attention layers as torchtune and peft call them.
var tuneAttention = []string{"q_proj=q_proj", "k_proj=k_proj", "v_proj=v_proj", "o_proj=output_proj"}

var mlpLayers = []string{"gate_proj", "up_proj", "down_proj"}

// tuneLayers are the layers with adapters; all-linear leaves out the head, as peft does.
func tuneLayers(in *Input) (attn []string, mlp, head bool) {
	all := slices.Contains(in.Training.LoRA, "all-linear")
	for _, p := range tuneAttention {
		name, word, _ := strings.Cut(p, "=")
		if all || slices.Contains(in.Training.LoRA, name) {
			attn = append(attn, word)
		}
	}
	return attn, all || slices.Contains(in.Training.LoRA, mlpLayers[0]), slices.Contains(in.Training.LoRA, "lm_head")
}

// tuneTargets tells whether the layers are those that torchtune can name.
func tuneTargets(in *Input) bool {
	mlp := 0
	for _, name := range in.Training.LoRA {
		switch {
		case slices.Contains(mlpLayers, name):
			mlp++
		case name != "all-linear" && name != "lm_head" && translate(name, tuneAttention) == "":
			return false
		}
	}
	return mlp == 0 || mlp == len(mlpLayers)
}

func getTuneModel(in *Input, r *reader) {
	t := &in.Training
	name := strings.TrimPrefix(r.text("model._component_"), tuneHead)
	if id := built(name); id != name {
		in.Hub = id
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case strings.HasPrefix(name, "qlora_"), strings.HasPrefix(name, "lora_") && r.on("model.quantize_base"):
		t.Method, in.Plan.Weights = "qlora", "nf4"
	case strings.HasPrefix(name, "lora_"):
		t.Method = "lora"
	case name != "":
		t.Method = "full"
	}
	if r.on("model.use_dora") {
		t.Method = "dora"
	}
	count("model.lora_rank", loraRank).get(in, r)
	r.take("model.lora_alpha")
	dropout("model.lora_dropout").get(in, r)
	getTuneTargets(in, r)
}

func getTuneTargets(in *Input, r *reader) {
	var names []string
	for _, word := range r.list("model.lora_attn_modules") {
		if name := back(word, tuneAttention); name != "" {
			names = append(names, name)
		}
	}
	whole := len(names) == len(tuneAttention)
	mlp := r.on("model.apply_lora_to_mlp")
	switch {
	case whole && mlp:
		names = []string{"all-linear"}
	case mlp:
		names = append(names, mlpLayers...)
	}
	if r.on("model.apply_lora_to_output") {
		names = append(names, "lm_head")
	}
	in.Training.LoRA = names
}

const (
	tuneText   = "torchtune.datasets.text_completion_dataset"
	tuneChat   = "torchtune.datasets.alpaca_dataset"
	tunePairs  = "torchtune.datasets.stack_exchange_paired_dataset"
	tuneChunks = "torchtune.modules.loss.CEWithChunkedOutputLoss"
	tunePlain  = "torch.nn.CrossEntropyLoss"
	tunePrefer = "torchtune.rlhf.loss.DPOLoss"
	tuneQAT    = "torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer"
)

func putTuneData(in *Input, s *section) {
	switch in.Training.Objective {
	case "pretrain":
		s.set("dataset._component_", tuneText)
		s.set("dataset.source", "path/to/dataset")
	case "dpo":
		s.set("dataset._component_", tunePairs)
	default:
		s.set("dataset._component_", tuneChat)
	}
	if in.Training.Objective == "qat" {
		s.set("quantizer._component_", tuneQAT)
		s.set("quantizer.groupsize", int64(256))
	}
}

// getTuneData reads the objective off the components.
func getTuneData(in *Input, r *reader) {
	data, loss := r.text("dataset._component_"), r.root.textAt("loss._component_")
	r.take("dataset.source")
	teacher := r.text("teacher_model._component_")
	switch {
	case teacher != "":
		in.Training.Objective, in.Training.TeacherModel = "distill", built(teacher)
	case strings.Contains(r.text("quantizer._component_"), "QATQuantizer"):
		r.take("quantizer.groupsize")
		in.Training.Objective = "qat"
	case strings.HasSuffix(loss, ".DPOLoss"):
		in.Training.Objective = "dpo"
	case strings.HasSuffix(loss, ".PPOLoss"):
		in.Training.Objective = "ppo"
	case data == tuneText:
		in.Training.Objective = "pretrain"
	case data != "":
		in.Training.Objective = "sft"
	}
}

func putTuneLoss(in *Input, s *section) {
	loss := tunePlain
	switch {
	case in.Training.Objective == "dpo":
		loss = tunePrefer
	case yes(in.Training.FusedLoss):
		loss = tuneChunks
	}
	s.set("loss._component_", loss)
}

func getTuneLoss(in *Input, r *reader) {
	switch loss := r.text("loss._component_"); {
	case loss == tuneChunks, strings.HasSuffix(loss, ".LinearCrossEntropyLoss"):
		in.Training.FusedLoss = truth(true)
	case loss == tunePlain, loss == tunePrefer:
		in.Training.FusedLoss = truth(false)
	case loss != "" && in.Training.Objective != "ppo":
		r.keep("loss._component_")
	}
}
