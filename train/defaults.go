package train

import (
	"cmp"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// Defaults fills in unset fields as the framework would, with a note on each. It fails if the framework is unknown.
func Defaults(j *Job) error {
	if err := j.findFramework(); err != nil {
		return err
	}
	denoiserDefaults(j)
	j.methodDefaults()
	j.groupDefaults()
	j.stepDefaults()
	j.batchDefaults()
	rolloutLengths(j)
	remarkGeneration(j)
	j.remarkTowers()
	j.remarkDevices()
	remarkLoads(j)
	return nil
}

// remarkTowers notes that for parts other than the decoder only parameters are counted.
func (j *Job) remarkTowers() {
	for i := range j.Model.Parts {
		if p := &j.Model.Parts[i]; i > 0 && p.Name != model.PartMTP && !p.Speaks {
			j.Note("tower_activations", "warn", "frozen", "the %s part counts with its parameters; what it keeps for images or audio does not, as their number is unknown", p.Name)
		}
	}
}

// bfloat16Since is the compute capability from which devices multiply bf16 and tf32; transformers rejects bf16 below it
// (transformers/training_args.py).
const bfloat16Since = 8.0

// precision returns the framework's default precision, or its alternative if a device does not multiply bf16.
func precision(j *Job) string {
	f := j.Framework
	if f.Narrow == (Narrow{}) || j.Machine == nil {
		return f.Precision
	}
	for i := range j.Machine.Groups {
		switch c, ok := engine.Capability(&j.Machine.Groups[i].Device); {
		case !ok || c >= bfloat16Since:
		case j.Adapters():
			return f.Narrow.Adapters
		default:
			return f.Narrow.Full
		}
	}
	return f.Precision
}

// scaling is the default fp16 loss scaling of frameworks: deepspeed/runtime/config.py and fp16/loss_scaler.py,
// megatron/training/arguments.py, and torch/amp/grad_scaler.py for the others.
var scaling = map[string]string{
	"deepspeed": "fp16.loss_scale = 0: 2^16 at first, half at an overflow, double after 1,000 steps without one",
	"megatron":  "without --loss-scale: 2^32 at first, half at overflows, double after 1,000 steps without one",
	"":          "torch.amp.GradScaler: 2^16 at first, half at an overflow, double after 2,000 steps without one",
}

// remarkScale notes what fp16 training requires besides memory.
func remarkScale(j *Job) {
	if j.Training.Precision != "fp16-mixed" {
		return
	}
	how := scaling[j.Framework.Name]
	if how == "" {
		how = scaling[""]
	}
	j.Note("loss_scale", "info", "precision",
		"fp16 has no numbers between 0 and 6e-8 and none over 65,504: gradients vanish or overflow unless the loss is scaled "+
			"(%s). Steps that overflow are left out; bf16-mixed needs none of it", how)
}

func (j *Job) remarkDevices() {
	remarkScale(j)
	if v := j.Machine.Vendor(); v != "" && v != "NVIDIA" && v != "AMD" {
		j.Note("other_vendor", "warn", "hardware",
			"the rules are those of %s on NVIDIA and AMD devices: no run on one of %s is behind them", j.Framework.Name, v)
	}
	p := j.Training.Precision
	if j.Machine == nil || !strings.HasPrefix(p, "bf16") && p != "tf32" {
		return
	}
	for i := range j.Machine.Groups {
		d := &j.Machine.Groups[i].Device
		if c, ok := engine.Capability(d); ok && c < bfloat16Since {
			j.Note("no_bf16", "warn", "precision", "%s of compute capability %s does not multiply in %s: frameworks refuse it or emulate it; --precision fp16-mixed", d.Name, d.Capability, strings.TrimSuffix(p, "-mixed"))
		}
	}
}

// fill sets an unset field.
func (j *Job) fill(field string, word *string, value string) {
	if *word == "" && value != "" {
		*word = value
		j.Default(field, value)
	}
}

func (j *Job) number(field string, n *plan.Int, value int64) {
	if *n == 0 && value > 0 {
		*n = plan.Int(value)
		j.Default(field, value)
	}
}

// referenceDefaults sets the reference model of preference objectives: a copy of the model if fully trained, otherwise
// the base without adapters (trl/trainer/dpo_trainer.py). trl's GRPO has none while beta is 0, its default.
func (j *Job) referenceDefaults() {
	t := j.Training
	if t.ReferenceModel != "" || j.Reference != nil {
		return
	}
	switch own := t.Objective == "dpo" || t.Objective == "ppo"; {
	case own && j.Adapters():
		t.ReferenceModel = "none"
		j.Note("default_used", "info", "reference_model", "the base without its adapters is the reference")
	case own:
		t.ReferenceModel, j.Reference = j.Model.ID, &Frozen{Model: j.Model}
		j.Default("reference_model", t.ReferenceModel)
	case t.Objective == "grpo":
		t.ReferenceModel = "none"
		j.Default("reference_model", t.ReferenceModel)
	}
}

func (j *Job) methodDefaults() {
	t, f := j.Training, j.Framework
	j.fill("method", &t.Method, "full")
	objective := "sft"
	if j.megatron() || f.Name == "torchtitan" || f.Name == "megatron-deepspeed" {
		objective = "pretrain"
	}
	j.fill("objective", &t.Objective, objective)
	objectiveDefaults(j)
	j.rolloutDefaults()
	j.referenceDefaults()
	j.criticDefaults()
	j.fill("precision", &t.Precision, precision(j))
	j.fill("optimizer", &t.Optimizer, engine.At(f.Optimizer, j.Version).Value)
	if t.Sharding == "" || t.Sharding == f.Many {
		j.fill("moment_dtype", &t.MomentDtype, f.Moments)
	}
	if f.NarrowActs && t.NarrowActs == nil {
		narrow := true
		t.NarrowActs = &narrow
		j.Default("fp8_activation_inputs", narrow)
	}
	if t.Method == "qlora" {
		j.fill("weights", &j.Plan.Weights, "nf4")
	}
	if j.Plan.Weights == "" {
		j.Plan.Weights = j.baseFormat()
		j.Default("weights", j.Plan.Weights)
	}
	j.adapterDefaults()
	j.idle("teacher_sharding", t.TeacherShards != "" && j.Teacher == nil, "of a teacher, and there is none: --teacher-model")
}

// adapterDefaults fills in adapter settings, and notes those given without adapters.
func (j *Job) adapterDefaults() {
	t, f := j.Training, j.Framework
	if !j.Adapters() {
		const why = "of adapters, and method = full has none: --method lora"
		j.idle("lora_rank", t.LoRARank > 0 && t.Optimizer != "galore", why)
		j.idle("lora_targets", len(t.LoRA) > 0, why)
		j.idle("lora_dropout", t.Dropout != nil, why)
		j.idle("modules_to_save", len(t.Full) > 0 && t.Thawed == "", why)
		return
	}
	j.idle("frozen", len(t.Frozen) > 0 && !denoises(j), "of whole models that train, and beside adapters all else is frozen")
	tune := tuners[t.Method]
	j.number("lora_rank", &t.LoRARank, cmp.Or(tune.rank, max(8, f.Rank)))
	if n := int64(t.LoRARank); n > j.Model.Hidden {
		j.Note("wide_adapters", "warn", "lora_rank", "lora_rank = %d is more than the %d numbers of the stream: the adapters hold more than what they adapt", n, j.Model.Hidden)
	}
	if len(t.LoRA) == 0 {
		if t.LoRA = tune.targets; len(t.LoRA) == 0 {
			t.LoRA = f.Targets
		}
		if len(t.LoRA) == 0 {
			t.LoRA = queryValue
		}
		j.Default("lora_targets", strings.Join(t.LoRA, ","))
	}
	if t.Dropout == nil {
		p := f.Dropout
		t.Dropout = &p
		j.Default("lora_dropout", p)
	}
}

// idle notes a given field that the plan does not use.
func (j *Job) idle(field string, given bool, why string) {
	if given {
		j.Note("unused", "warn", field, "%s is not used: it is %s", field, why)
	}
}

// baseFormat returns the format that weights are loaded in.
func (j *Job) baseFormat() string {
	switch {
	case j.wide():
		return "f32"
	case j.Training.Precision == "fp16-mixed" && j.Adapters():
		return "f16"
	}
	return "bf16"
}

// groupDefaults gives data parallelism the devices that other groups leave.
func (j *Job) groupDefaults() {
	p, t := j.Plan, j.Training
	for _, n := range []*int64{&p.TP, &p.PP, &p.CP} {
		*n = max(1, *n)
	}
	if p.DP == 0 {
		p.DP = max(1, j.Devices()/(p.TP*p.PP*p.CP))
		if p.DP > 1 {
			j.Default("dp", p.DP)
		}
	}
	p.EP = max(1, p.EP)
	j.idle("etp", t.ETP > 1 && j.Model.Traits.Experts == 0, "of experts, and "+j.Model.ID+" has none")
	if p.EP > 1 && t.ETP == 0 {
		t.ETP = 1
		if j.megatron() && j.Framework.Name != "ms-swift-megatron" && p.DP*p.CP%p.EP == 0 {
			t.ETP = p.TP // expert_tensor_parallel_size defaults to tensor_model_parallel_size
		}
		if p.TP > 1 {
			j.Default("etp", t.ETP)
		}
	}
	j.idle("cp_comm_type", t.CPComm != "" && p.CP == 1, "of a context group, and cp = 1 is none")
	if p.CP > 1 {
		j.fill("cp_comm_type", &t.CPComm, contextBy(j))
	}
	j.shardingDefaults()
	j.scheduleDefaults()
}

func (j *Job) shardingDefaults() {
	p, t, f := j.Plan, j.Training, j.Framework
	sharding := f.One
	if p.DP*p.CP > 1 {
		sharding = f.Many
	}
	j.fill("sharding", &t.Sharding, sharding)
	if t.Sharding == "fsdp" && (f.Name == "torchtitan" || f.Name == "torchtune") {
		t.Sharding = "fsdp2"
	}
	j.idle("sequence_parallel", on(t.SequenceParallel) && p.TP == 1, "of a tensor group, and tp = 1 is none")
	if t.SequenceParallel == nil {
		sp := p.TP > 1 && (f.SequenceParallel || j.megatron() && p.EP > 1)
		t.SequenceParallel = &sp
		if p.TP > 1 {
			j.Default("sequence_parallel", sp)
		}
	}
}

func (j *Job) scheduleDefaults() {
	p, t := j.Plan, j.Training
	if p.PP > 1 && t.Schedule == "" {
		t.Schedule = cmp.Or(j.Framework.Schedule, "1f1b")
		if t.VPP > 1 {
			t.Schedule = "interleaved"
		}
		j.Default("schedule", t.Schedule)
	}
	j.idle("schedule", p.PP <= 1 && t.Schedule != "", "of a pipeline, and pp = 1 is none")
	stageDefaults(j)
	if p.PP > 1 && t.Schedule == "interleaved" && t.VPP <= 1 {
		t.VPP = 2
		j.Default("vpp", t.VPP)
	}
}

func (j *Job) stepDefaults() {
	t, f := j.Training, j.Framework
	j.fill("recompute", &t.Recompute, f.Recompute)
	if j.Plan.Attention == "auto" {
		j.Plan.Attention = ""
	}
	j.fill("attention", &j.Plan.Attention, f.Attention)
	for _, b := range []struct {
		field string
		at    **bool
	}{{"fused_loss", &t.FusedLoss}, {"fused_kernels", &t.Fused}, {"compile", &t.Compile}} {
		if *b.at == nil {
			off := false
			*b.at = &off
			j.Default(b.field, off)
		}
	}
	if t.Masks == nil {
		p := 0.0
		if (j.megatron() || f.Name == "megatron-deepspeed") && learnsPositions(j.Model) {
			p = 0.1
		}
		t.Masks = &p
		j.Default("dropout", p)
	}
	if t.Packing == nil {
		packed := !f.Padded
		t.Packing = &packed
		j.Default("packing", packed)
	}
}

// batchDefaults relates global_batch = micro_batch × accumulation × dp; two of the three determine the third.
func (j *Job) batchDefaults() {
	t, dp := j.Training, max(1, j.Plan.DP)
	length := j.Framework.Length
	if j.Model.Context > 0 {
		length = min(length, j.Model.Context)
	}
	j.number("sequence_length", &t.SequenceLength, length)
	if t.MicroBatch == 0 && t.GlobalBatch > 0 && t.Accumulation > 0 {
		t.MicroBatch = t.GlobalBatch / max(1, t.Accumulation*plan.Int(dp))
	}
	if n := j.Sequence(); n < int64(t.SequenceLength) && j.Longest == 0 {
		j.Note("assumed_length", "warn", "packing", "samples are not packed and their lengths are unknown: the longest of a batch is assumed to be %d tokens, as in the examples of %s; the bands reach to %d", n, j.Framework.Name, t.SequenceLength)
	}
	j.number("micro_batch", &t.MicroBatch, j.Framework.Batch)
	if t.Accumulation == 0 {
		all := t.GlobalBatch
		if all == 0 {
			all = plan.Int(j.Framework.Global)
		}
		t.Accumulation = max(1, all/max(1, t.MicroBatch*plan.Int(dp)))
		if j.Plan.PP > 1 && all == 0 {
			t.Accumulation = plan.Int(4 * j.Plan.PP)
		}
		j.Default("accumulation", t.Accumulation)
	}
	j.number("global_batch", &t.GlobalBatch, int64(t.MicroBatch*t.Accumulation)*dp)
}

// learnsPositions distinguishes GPT's models from later ones: Megatron defaults to 10 % dropout (hidden_dropout,
// attention_dropout in megatron/training/arguments.py), while models with rotary embedding are trained without.
func learnsPositions(m *model.Model) bool {
	pre := m.Decoder().Pre.Ops
	for i := range pre {
		if pre[i].Role == dtype.PositionEmbd {
			return true
		}
	}
	return false
}
