package config

import (
	"strconv"
	"strings"
)

// field is a setting of a plan that a format may or may not have a word for.
type field struct {
	name string
	// of gives its value; "" when it asks for nothing that a format would have to say.
	of func(in *Input) string
}

// fields are those that are refused where a format has no word for them.
func fields() []field {
	return []field{
		{"objective", func(in *Input) string { return in.Training.Objective }},
		{"method", func(in *Input) string { return in.Training.Method }},
		{"weights", quantized},
		{"reference_model", func(in *Input) string { return other(in, in.Training.ReferenceModel) }},
		{"reward_model", func(in *Input) string { return other(in, in.Training.RewardModel) }},
		{"critic_model", func(in *Input) string { return other(in, in.Training.CriticModel) }},
		{"teacher_model", func(in *Input) string { return other(in, in.Training.TeacherModel) }},
		{"rollout", rollout},
		{"optimizer", func(in *Input) string { return in.Training.Optimizer }},
		{"precision", func(in *Input) string { return in.Training.Precision }},
		{"sharding", func(in *Input) string { return in.Training.Sharding }},
		{"tp", func(in *Input) string { return many(in.Plan.TP) }},
		{"pp", func(in *Input) string { return many(in.Plan.PP) }},
		{"vpp", func(in *Input) string { return many(in.Training.VPP) }},
		{"cp", func(in *Input) string { return many(in.Plan.CP) }},
		{"ep", func(in *Input) string { return many(in.Plan.EP) }},
		{"etp", func(in *Input) string { return many(in.Training.ETP) }},
		{"cp_comm_type", contextual},
		{"schedule", scheduled},
		{"sequence_parallel", func(in *Input) string { return asked(in.Training.SequenceParallel) }},
		{"first_stage_layers", func(in *Input) string { return number(in.Training.FirstStage) }},
		{"last_stage_layers", func(in *Input) string { return number(in.Training.LastStage) }},
		{"grad_dtype", func(in *Input) string { return unless(in.Training.GradDtype, "fp32") }},
		{"moment_dtype", func(in *Input) string { return unless(in.Training.MomentDtype, "fp32") }},
		{"fp8_activation_inputs", func(in *Input) string { return asked(in.Training.NarrowActs) }},
		{"optimizer_in_backward", func(in *Input) string { return asked(in.Training.InBackward) }},
		{"recompute", func(in *Input) string { return in.Training.Recompute }},
		{"attention", func(in *Input) string { return unless(in.Plan.Attention, "auto") }},
		{"fused_loss", func(in *Input) string { return asked(in.Training.FusedLoss) }},
		{"fused_kernels", func(in *Input) string { return asked(in.Training.Fused) }},
		{"compile", func(in *Input) string { return asked(in.Training.Compile) }},
		{"modules_to_save", func(in *Input) string { return strings.Join(in.Training.Full, ",") }},
		{"frozen", func(in *Input) string { return strings.Join(in.Training.Frozen, ",") }},
		{"trained_layers", func(in *Input) string { return in.Training.Thawed }},
		{"packing", func(in *Input) string { return asked(in.Training.Packing) }},
		{"offload.optimizer", func(in *Input) string { return unless(place(in, optimizer), "none") }},
		{"offload.params", func(in *Input) string { return unless(place(in, params), "none") }},
		{"offload.activations", func(in *Input) string { return unless(place(in, activations), "none") }},
	}
}

// unsaid gives, for each field that some format does not say, why a plan may still hold it, or where it is said.
var unsaid = map[string]string{
	"framework":             "the format itself is the framework",
	"objective":             "the program is made for one objective",
	"method":                "the framework trains all weights only",
	"weights":               "what the weights are stored in follows from precision, unless they are quantised",
	"reference_model":       "the trainer takes the model itself as its reference",
	"reward_model":          "rewards come from a function or a server that the data's owner writes",
	"critic_model":          "the trainer that has a critic is given the model itself",
	"teacher_model":         "no recipe of the framework distils",
	"rollout":               "the framework has no rollout engine",
	"sharding":              "the launcher makes as many processes as there are devices; without a key each holds all",
	"tp":                    "the framework does not split layers",
	"pp":                    "the framework does not split the model into stages",
	"vpp":                   "the framework has no interleaved stages",
	"cp":                    "the framework does not split sequences",
	"ep":                    "the framework does not split experts",
	"etp":                   "the framework does not split the tensors of experts",
	"dp":                    "it follows from the number of processes",
	"global_batch":          "it follows from micro_batch, accumulation and the number of processes",
	"cp_comm_type":          "the framework has one way, or chooses it by itself",
	"schedule":              "it follows from the pipeline",
	"sequence_parallel":     "it comes with tensor parallelism, or there is none",
	"first_stage_layers":    "the framework cuts layers evenly",
	"last_stage_layers":     "the framework cuts layers evenly",
	"optimizer_in_backward": "the framework's optimizer steps after the backward pass",
	"grad_dtype":            "what gradients are in follows from precision",
	"moment_dtype":          "what moments are in follows from precision and optimizer",
	"fp8_activation_inputs": "the framework has no switch for it",
	"attention":             "the framework chooses the kernel",
	"fused_loss":            "the framework has no switch for it",
	"fused_kernels":         "the framework has no switch for it",
	"compile":               "the framework has no switch for it",
	"lora_rank":             "the framework has no adapters",
	"lora_targets":          "the framework has no adapters",
	"lora_dropout":          "the framework has no adapters",
	"modules_to_save":       "the framework trains no modules in full beside adapters",
	"frozen":                "the framework freezes no parts by a key",
	"trained_layers":        "the framework trains all layers, or patterns of names say which",
	"tokens":                "a run is as long as its epochs or steps",
	"data":                  "lengths of samples are the data's own",
	"packing":               "the data loader cuts a stream of tokens into full sequences",
	"offload.optimizer":     "the framework keeps optimizer states on the device",
	"offload.params":        "the framework keeps parameters on the device",
	"offload.activations":   "the framework keeps activations on the device",
}

// near are the values to try in place of one, nearest first.
var near = map[string]string{
	"zero1": "zero2 zero3 fsdp2 fsdp", "zero2": "zero1 zero3 fsdp2 fsdp", "zero3": "fsdp2 fsdp zero2 zero1",
	"fsdp": "fsdp2 zero3", "fsdp2": "fsdp zero3", "hsdp": "fsdp2 fsdp zero3", "ddp": "none fsdp2 zero1", "none": "ddp",
	"selective": "full none", "every": "selective full", "full": "none", "modules": "selective full", "uniform": "full", "block": "every full",
	"qlora": "lora full", "dora": "lora full", "lora": "full",
	"adamw-8bit": "paged-adamw-8bit adamw-fused adamw", "adamw-4bit": "adamw-8bit adamw-fused adamw", "paged-adamw-8bit": "adamw-8bit adamw-fused adamw", "paged-adamw": "adamw-fused adamw",
	"adamw-fused": "adamw", "adamw": "adamw-fused", "muon": "adamw-fused adamw", "galore": "adamw-8bit adamw-fused adamw", "schedule-free-adamw": "adamw-fused adamw", "adafactor": "adamw-8bit adamw-fused adamw",
	"bf16": "bf16-mixed", "bf16-mixed": "bf16", "fp8": "bf16-mixed bf16", "fp8-rowwise": "fp8 bf16-mixed", "mxfp8": "fp8 bf16-mixed", "nvfp4": "mxfp8 fp8 bf16-mixed", "tf32": "fp32", "fp16-mixed": "bf16-mixed bf16", "fp32": "bf16-mixed bf16",
	"flash": "sdpa", "sdpa": "flash", "eager": "sdpa flash",
	"zb-h1": "interleaved 1f1b", "zb-h2": "interleaved 1f1b", "zbv": "interleaved 1f1b", "gpipe": "1f1b", "interleaved": "1f1b",
	"nvme": "host", "ppo": "grpo dpo sft", "grpo": "dpo sft", "dpo": "sft", "distill": "sft", "qat": "sft", "sft": "pretrain", "pretrain": "sft",
	"nf4-single": "nf4", "nf4-all": "nf4", "bnb-int8-all": "bnb-int8",
}

// kind is a value without its number: every:4 is every; selective with a list is modules.
func kind(value string) string {
	k, _, listed := strings.Cut(value, ":")
	if listed && k == "selective" {
		return "modules"
	}
	return k
}

// quantized is the format of quantised base weights; others follow from precision.
func quantized(in *Input) string {
	if strings.HasPrefix(in.Plan.Weights, "nf4") || eightBit(in) || in.Training.Method == "qlora" {
		return in.Plan.Weights
	}
	return ""
}

// other is a model that is not the trained one.
func other(in *Input, name string) string {
	if name == in.Model || name == in.Hub {
		return ""
	}
	return name
}

func rollout(in *Input) string {
	if in.Training.Rollout == nil {
		return ""
	}
	engine, _, _ := strings.Cut(in.Training.Rollout.Engine, "@")
	return engine
}

// number is a count; 0 says nothing.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func many(n int64) string {
	if n <= 1 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// scheduled is the schedule of a pipeline; without stages there is none.
// contextual is how sequences are shared, where they are.
func contextual(in *Input) string {
	if in.Plan.CP <= 1 {
		return ""
	}
	return in.Training.CPComm
}

func scheduled(in *Input) string {
	if in.Plan.PP <= 1 {
		return ""
	}
	return in.Training.Schedule
}

func asked(b *bool) string {
	if !yes(b) {
		return ""
	}
	return "true"
}

func unless(value, neutral string) string {
	if value == neutral {
		return ""
	}
	return value
}
