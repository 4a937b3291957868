package train

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/spell"
)

// Check rejects what the framework would reject, and what no framework can run. Call Defaults first. Errors are
// *plan.Problem.
func Check(j *Job) error {
	for _, check := range []func(*Job) error{checkModel, checkWords, checkRoles, checkPrecision, checkCounts, checkGroups, checkBatch, checkMethod, checkSharding, checkPipeline, checkStages, checkRecompute, checkStates, checkOffload, checkCritic} {
		if err := check(j); err != nil {
			return err
		}
	}
	return nil
}

// impossible returns the error that no such plan can run.
func impossible(field string, value any, fix, message string, args ...any) error {
	return &plan.Problem{Field: field, Value: fmt.Sprint(value), Message: fmt.Sprintf(message, args...), Fix: fix, Impossible: true}
}

func unknown(field, value string, known ...string) error {
	fix := "one of " + strings.Join(known, ", ")
	if near := spell.Nearest(value, known); len(near) > 0 {
		fix = "did you mean: " + strings.Join(near, ", ")
	}
	return &plan.Problem{Field: field, Value: value, Message: fmt.Sprintf("%s = %s is not known", field, value), Fix: fix}
}

// checkModel rejects architectures whose training is not described: an encoder next to the decoder keeps activations of
// its own.
func checkModel(j *Job) error {
	lacking := func(what string) error {
		return &plan.Problem{Field: "model", Value: j.Model.ID, Lacking: true, Message: fmt.Sprintf("what training %s keeps is not described: %s", j.Model.ID, what), Fix: "a decoder or an encoder alone"}
	}
	if err := checkDenoiser(j); err != nil {
		return err
	}
	crosses := false
	j.Model.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			crosses = crosses || k.Ops[i].Attn != nil && k.Ops[i].Attn.CrossEncoder
		}
	})
	if crosses {
		return lacking("its decoder attends to an encoder's output")
	}
	return nil
}

// checkRoles rejects auxiliary models that the objective does not use, and distillation without a teacher.
func checkRoles(j *Job) error {
	t := j.Training
	rollout := ""
	if t.Rollout != nil {
		rollout = cmp.Or(t.Rollout.Engine, "an engine")
	}
	for _, c := range []struct {
		field, value string
		of           []string
	}{
		{"reference_model", t.ReferenceModel, []string{"dpo", "ppo", "grpo"}}, {"reward_model", t.RewardModel, []string{"ppo", "grpo"}}, {"critic_model", t.CriticModel, []string{"ppo"}},
		{"teacher_model", t.TeacherModel, []string{"distill", "ppo", "grpo"}}, // the student's own answers: on-policy distillation
		{"rollout", rollout, []string{"ppo", "grpo"}},
	} {
		if c.value != "" && c.value != "none" && !slices.Contains(c.of, t.Objective) {
			return impossible(c.field, c.value, "--objective "+strings.Join(c.of, " or ")+", or leave "+c.field+" out", "%s = %s: objective = %s has no such role", c.field, c.value, t.Objective)
		}
	}
	if engine, _, _ := strings.Cut(rollout, "@"); t.Rollout != nil && t.Rollout.Engine != "" && !slices.Contains(answerers, engine) {
		return unknown("rollout.engine", engine, answerers...)
	}
	if t.Objective == "distill" && j.Teacher == nil {
		return &plan.Problem{Field: "teacher_model", Value: t.TeacherModel, Message: "objective = distill learns from a teacher, and none is named", Fix: "--teacher-model llama-3.1-70b, or another that is distilled"}
	}
	return nil
}

func checkWords(j *Job) error {
	t := j.Training
	for _, c := range []struct {
		field, value string
		known        []string
	}{
		{"method", t.Method, Methods()},
		{"objective", t.Objective, []string{"pretrain", "sft", "dpo", "ppo", "grpo", "distill", "qat"}},
		{"precision", t.Precision, []string{"bf16-mixed", "bf16", "fp16-mixed", "fp32", "tf32", "fp8", "fp8-rowwise", "mxfp8", "nvfp4"}},
		{"sharding", t.Sharding, []string{"none", "ddp", "zero1", "zero2", "zero3", "fsdp", "fsdp2", "hsdp"}},
		{"attention", j.Plan.Attention, []string{"flash", "sdpa", "eager"}},
	} {
		if !slices.Contains(c.known, c.value) {
			return unknown(c.field, c.value, c.known...)
		}
	}
	if _, ok := optimizers[t.Optimizer]; !ok {
		return unknown("optimizer", t.Optimizer, slices.Sorted(maps.Keys(optimizers))...)
	}
	return cmp.Or(checkTargets(j), checkFrozen(j), checkThawed(j))
}

// checkFrozen checks freeze: parts and linear layers can be frozen; freezing vision in a text model is harmless.
func checkFrozen(j *Job) error {
	parts := []string{"vision", "audio", "projector"}
	for i := range j.Model.Parts {
		parts = append(parts, j.Model.Parts[i].Name)
	}
	parts = append(parts, frozenBeside(j)...)
	for _, n := range j.Training.Frozen {
		if r, all := roles([]string{n}); len(r) == 0 && !all && groups[n] == nil && !slices.Contains(parts, n) {
			return impossible("frozen", n, "a part such as vision or projector, or linear layers such as q_proj",
				"frozen: %s has no part or linear layer called %s", j.Model.ID, n)
		}
	}
	return nil
}

func checkTargets(j *Job) error {
	for _, c := range []struct {
		field string
		names []string
	}{{"lora_targets", j.Training.LoRA}, {"modules_to_save", j.Training.Full}} {
		for _, n := range c.names {
			if r, all := roles([]string{n}); len(r) == 0 && !all {
				return &plan.Problem{Field: c.field, Value: n, Message: fmt.Sprintf("%s: no linear layer is called %s", c.field, n),
					Fix: "names such as q_proj, v_proj, gate_proj, or all-linear"}
			}
		}
	}
	if adapts := j.adapts(); adapts != nil && tuners[j.Training.Method].count != nil && !j.anyTensor(adapts) {
		names := strings.Join(j.Training.LoRA, ",")
		return impossible("lora_targets", names, "--lora-targets all-linear", "lora_targets = %s: %s has no such layers", names, j.Model.ID)
	}
	return nil
}

// anyTensor reports whether is returns true for any tensor of the model's blocks.
func (j *Job) anyTensor(is func(*model.Tensor) bool) (found bool) {
	j.Model.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			found = found || slices.ContainsFunc(k.Ops[i].W, is)
		}
	})
	return found
}

// Bounds on counts, so that no request causes work in proportion to a number in it.
const (
	maxBatch = 1 << 24
	maxRank  = 1 << 20
)

func checkCounts(j *Job) error {
	t := j.Training
	for _, c := range []struct {
		field string
		value int64
		most  int64
	}{
		{"sequence_length", int64(t.SequenceLength), plan.MaxContext}, {"micro_batch", int64(t.MicroBatch), maxBatch}, {"accumulation", int64(t.Accumulation), maxBatch},
		{"global_batch", int64(t.GlobalBatch), maxBatch << 4}, {"vpp", t.VPP, 1 << 10}, {"etp", t.ETP, plan.MaxRanks}, {"lora_rank", int64(t.LoRARank), maxRank},
	} {
		if c.value < 0 || c.value > c.most {
			return &plan.Problem{Field: c.field, Value: fmt.Sprint(c.value), Message: fmt.Sprintf("%s = %d is not between 1 and %d", c.field, c.value, c.most), Fix: "a number in these bounds"}
		}
	}
	if r := t.Rollout; r != nil && !(r.Share >= 0 && r.Share < 1) {
		return &plan.Problem{Field: "rollout.gpu_memory_utilization", Value: fmt.Sprint(r.Share), Message: fmt.Sprintf("rollout.gpu_memory_utilization = %g leaves nothing to train with", r.Share), Fix: "a share from 0 and below 1"}
	}
	for _, c := range []struct {
		field string
		value *float64
	}{{"lora_dropout", t.Dropout}, {"dropout", t.Masks}} {
		if d := c.value; d != nil && !(*d >= 0 && *d < 1) {
			return &plan.Problem{Field: c.field, Value: fmt.Sprint(*d), Message: fmt.Sprintf("%s = %g is not a share", c.field, *d), Fix: "a number from 0 and below 1"}
		}
	}
	return nil
}

func checkGroups(j *Job) error {
	p := j.Plan
	e := &engine.Job{Model: j.Model, Machine: j.Machine, Plan: &plan.Plan{TP: p.TP, PP: p.PP, DP: p.DP, CP: p.CP}}
	if err := engine.CheckParallel(e); err != nil {
		return err
	}
	if n := j.Devices(); j.Machine != nil && p.Ranks() < n {
		return impossible("dp", p.DP, fmt.Sprintf("--dp %d", n/max(1, p.TP*p.PP*p.CP)), "the plan needs %d devices (tp %d × pp %d × dp %d × cp %d), but the hardware has %d: all of them train", p.Ranks(), p.TP, p.PP, p.DP, p.CP, n)
	}
	if s := int64(j.Training.SequenceLength); p.CP > 1 && s%(2*p.CP) != 0 {
		return impossible("cp", p.CP, fmt.Sprintf("a sequence_length that %d divides", 2*p.CP), "cp = %d: each rank takes two of %d equal parts of a sequence, which %d tokens do not give", p.CP, 2*p.CP, s)
	}
	return cmp.Or(checkContext(j), checkExperts(j))
}

func checkExperts(j *Job) error {
	p, t, experts := j.Plan, j.Training, j.Model.Traits.Experts
	group := max(1, p.DP) * max(1, p.CP) * max(1, p.TP)
	switch {
	case p.EP <= 1:
		return nil
	case experts == 0:
		return impossible("ep", p.EP, "leave ep out", "ep = %d: %s has no experts", p.EP, j.Model.ID)
	case experts%p.EP != 0:
		return impossible("ep", p.EP, "an ep that divides them", "ep = %d does not divide the %d experts of %s", p.EP, experts, j.Model.ID)
	case group%(p.EP*max(1, t.ETP)) != 0:
		return impossible("ep", p.EP, fmt.Sprintf("an ep that divides %d", group/max(1, t.ETP)), "ep = %d × etp %d does not divide the %d ranks of one stage (tp × cp × dp)", p.EP, max(1, t.ETP), group)
	case p.TP > 1 && !on(t.SequenceParallel) && j.megatron():
		return impossible("sequence_parallel", false, "--sequence-parallel", "%s wants sequence parallelism where both experts and tensors are shared; transformers' experts run without", j.Framework.Name)
	}
	return nil
}

func checkBatch(j *Job) error {
	t, dp := j.Training, max(1, j.Plan.DP)
	if got := int64(t.MicroBatch*t.Accumulation) * dp; got != int64(t.GlobalBatch) {
		return impossible("global_batch", t.GlobalBatch, fmt.Sprintf("--global-batch %d", got), "global_batch = %d is not micro_batch %d × accumulation %d × dp %d = %d", t.GlobalBatch, t.MicroBatch, t.Accumulation, dp, got)
	}
	return nil
}

func checkMethod(j *Job) error {
	t, f := j.Training, j.Framework
	quantised := j.quantisedBase()
	switch {
	case t.Method == "full" && quantised:
		return impossible("method", t.Method, "--method qlora, or --weights bf16", "weights in %s do not train; adapters beside them do", j.Plan.Weights)
	case t.Method == "qlora" && !quantised:
		return impossible("weights", j.Plan.Weights, "--weights nf4, or --method lora", "qlora trains beside a quantised base, and the weights are in %s", j.Plan.Weights)
	case t.Method != "full" && j.filed():
		return impossible("weights", j.Plan.Weights, "--weights nf4", "%s is a format of files for llama.cpp, and no framework trains adapters beside it", j.Plan.Weights)
	case j.wide() && (j.Plan.Weights == "bf16" || j.Plan.Weights == "f16"):
		return impossible("weights", j.Plan.Weights, "--weights f32, or --precision bf16", "precision = %s computes with weights in fp32, and weights = %s are loaded in 16 bits", t.Precision, j.Plan.Weights)
	case t.Precision == "bf16" && j.Plan.Weights == "f32":
		return impossible("precision", t.Precision, "--precision bf16-mixed, or --weights bf16", "precision = bf16 has weights in 16 bits alone, and weights = f32 are in fp32")
	case j.quantised() && t.ZeROStage() == 3:
		return impossible("sharding", t.Sharding, "--sharding zero2, or fsdp with bf16 storage of the 4-bit weights", "ZeRO-3 does not share 4-bit weights; FSDP does")
	case j.quantised() && j.Plan.TP > 1:
		return impossible("tp", j.Plan.TP, "--tp 1", "4-bit weights are not cut by tensor parallelism in %s", f.Name)
	case t.Precision == "fp16-mixed" && t.Method == "full" && j.Plan.Weights == "f16":
		return impossible("precision", t.Precision, "--precision bf16, or --weights f32", "gradients of fp16 weights cannot be unscaled; masters must be in fp32")
	case tuners[t.Method].peft && !f.Peft:
		return impossible("method", t.Method, "--framework transformers, or --method lora", "%s is a method of peft's (%s), and %s does not train by it", t.Method, tuners[t.Method].source, f.Name)
	case j.Adapters() && (f.Name == "torchtitan" || f.Name == "megatron-deepspeed"):
		return impossible("method", t.Method, "--framework transformers, torchtune or megatron-bridge", "%s has no adapters; transformers with peft has", f.Name)
	}
	return checkOptimizer(j)
}

// filed reports whether the base is in a format that only GGUF files have.
func (j *Job) filed() bool {
	r := dtype.FindRecipe(j.Plan.Weights)
	return j.quantisedBase() && r.Store == dtype.GGUF
}

// quantised reports whether adapters are trained on a quantized base, whatever the method is called.
func (j *Job) quantised() bool { return j.Adapters() && j.quantisedBase() }

// checkOptimizer rejects 8-bit states with DeepSpeed's or Megatron's sharded optimizers.
func checkOptimizer(j *Job) error {
	t := j.Training
	if on(t.InBackward) && (t.Accumulation > 1 || j.Framework.Name != "torchtune") {
		return impossible("optimizer_in_backward", true, "--framework torchtune with accumulation 1", "a step in the backward pass leaves no gradients to add up over %d passes; torchtune has it, %s has not", t.Accumulation, j.Framework.Name)
	}
	if j.megatron() && !slices.Contains([]string{"adamw", "adamw-fused", "sgd", "muon"}, t.Optimizer) {
		return impossible("optimizer", t.Optimizer, "--optimizer adamw", "%s has Adam, SGD and Muon; transformers has %s", j.Framework.Name, t.Optimizer)
	}
	if j.Framework.Name == "torchtitan" && t.Optimizer != "adamw" && t.Optimizer != "adamw-fused" {
		return impossible("optimizer", t.Optimizer, "--optimizer adamw-fused", "torchtitan has Adam and AdamW (torchtitan/components/optimizer.py); transformers has %s", t.Optimizer)
	}
	if t.Optimizer == "galore" && j.Adapters() {
		return impossible("optimizer", t.Optimizer, "--optimizer adamw, or --method full", "GaLore projects gradients of whole matrices, and adapters are of a low rank themselves")
	}
	soap := optimizers[t.Optimizer].Widest > 0
	if (t.Optimizer == "galore" || soap) && sharded(t.Sharding) || soap && t.ZeROStage() > 0 {
		return impossible("optimizer", t.Optimizer, "--sharding ddp", "%s works on whole matrices, which %s has in parts", t.Optimizer, t.Sharding)
	}
	if t.Optimizer == "rowwise-adagrad" && (sharded(t.Sharding) || t.ZeROStage() > 0) {
		return impossible("optimizer", t.Optimizer, "--sharding ddp, or --optimizer adagrad", "row-wise Adagrad keeps a number for each row of a table, and %s cuts tables without regard to rows", t.Sharding)
	}
	return nil
}

func (j *Job) quantisedBase() bool {
	r := dtype.FindRecipe(j.Plan.Weights)
	return r != nil && Packed(r)
}

// Packed reports whether a recipe stores weights in less than 16 bits.
func Packed(r *dtype.Recipe) bool { return r.Base != nil && r.Base.BlockBytes < 2*r.Base.BlockElems }

// Trainable reports whether adapters can be trained on weights stored under a packed recipe: integers and NF4, but not
// 8- or 4-bit floats (transformers 4.57, src/transformers/quantizers: is_trainable).
func Trainable(r *dtype.Recipe) bool {
	return r.Store == dtype.Checkpoint && Packed(r) && r.Base.Float == nil && r.Base != dtype.FP4E2M1
}

// reducesWithin reports whether gradients are reduced after each micro-batch of a pipeline, as with Megatron-FSDP's
// optim_grads (megatron_fsdp.py: _process_post_backward_gradients; pipeline_parallel/schedules.py) and in Llama 3's
// training (arXiv:2407.21783, 3.3.2).
func reducesWithin(j *Job) bool { return j.megatron() && j.Training.ZeROStage() == 2 }

func checkSharding(j *Job) error {
	t, f := j.Training, j.Framework
	n := j.Plan.DP * j.Plan.CP
	switch {
	case j.megatron() && (t.Sharding == "fsdp" || t.Sharding == "hsdp"):
		return impossible("sharding", t.Sharding, "--sharding zero3",
			"%s shares states by dist-opt (zero1), gradients and parameters by Megatron-FSDP (zero2, zero3) or torch's FSDP2", f.Name)
	case (f.Name == "torchtitan" || f.Name == "torchtune") && t.ZeROStage() > 0:
		return impossible("sharding", t.Sharding, "--sharding fsdp2", "%s shares parameters by FSDP2; deepspeed has %s", f.Name, t.Sharding)
	case t.Sharding == "none" && n > 1 && !j.megatron():
		return impossible("sharding", t.Sharding, "--sharding ddp", "%d ranks with data of their own must reduce their gradients", n)
	case t.ZeROStage() >= 2 && j.Plan.PP > 1 && !reducesWithin(j):
		return impossible("sharding", t.Sharding, "--sharding zero1", "a pipeline adds up gradients over micro-batches, and %s would share them after each; torchtitan's FSDP2 runs in a pipeline", t.Sharding)
	case t.Sharding == "hsdp" && j.PerNode() >= j.Devices():
		return impossible("sharding", t.Sharding, "--sharding fsdp", "hsdp shares parameters within a node and copies them between nodes, and there is one node")
	}
	return nil
}

// fewMicroBatches reports whether a schedule allows fewer micro-batches than stages. Megatron's and DeepSpeed's 1F1B
// warm up with what there is (megatron/core/pipeline_parallel/schedules.py,
// forward_backward_pipelining_without_interleaving; deepspeed/runtime/pipe/schedule.py, TrainSchedule); torch's refuses
// (torch/distributed/pipelining/schedules.py, PipelineScheduleSingle).
func fewMicroBatches(j *Job) bool {
	return j.Training.Schedule == "gpipe" || j.Training.Schedule == "1f1b" && j.Framework.Name != "torchtitan"
}

func checkPipeline(j *Job) error {
	p, t := j.Plan, j.Training
	known := []string{"gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zbv", "dualpipe", "dualpipe-v"}
	switch {
	case p.PP <= 1 && t.VPP > 1:
		return impossible("vpp", t.VPP, "--pp 2 or more", "vpp = %d: chunks are of a pipeline's stages, and there is no pipeline", t.VPP)
	case p.PP <= 1:
		return nil
	case !slices.Contains(known, t.Schedule):
		return unknown("schedule", t.Schedule, known...)
	case int64(t.Accumulation) < p.PP && !fewMicroBatches(j):
		return impossible("accumulation", t.Accumulation, fmt.Sprintf("--accumulation %d", p.PP), "a pipeline of %d stages needs as many micro-batches, and a step has %d", p.PP, t.Accumulation)
	case t.Schedule == "interleaved" && int64(t.Accumulation)%p.PP != 0:
		return impossible("accumulation", t.Accumulation, fmt.Sprintf("--accumulation %d", (int64(t.Accumulation)/p.PP+1)*p.PP), "the interleaved schedule takes micro-batches by %d, and %d are not a multiple", p.PP, t.Accumulation)
	case !slices.Contains([]string{"megatron", "megatron-bridge", "ms-swift-megatron", "megatron-deepspeed", "hai-llm", "torchtitan", "deepspeed", "internevo"}, j.Framework.Name):
		return impossible("pp", p.PP, "--framework megatron or torchtitan", "%s has no pipeline; megatron, torchtitan and deepspeed have", j.Framework.Name)
	}
	// Megatron may count embedding and head as a layer each (--account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split)
	l, ends := int64(len(j.Model.Decoder().Layers)), int64(0)
	if strings.Contains(j.Framework.Name, "megatron") {
		ends = 2
	}
	if t.VPP > 1 && l+ends < p.PP*t.VPP {
		return impossible("vpp", t.VPP, fmt.Sprintf("--vpp %d", max(1, l/p.PP)), "pp %d × vpp %d are more chunks than the %d layers", p.PP, t.VPP, l)
	}
	return nil
}

// checkStates rejects gradient and moment formats except for Megatron, and moment formats except with a sharded
// optimizer.
func checkStates(j *Job) error {
	t := j.Training
	for _, c := range []struct {
		field, value string
		known        []string
	}{{"grad_dtype", t.GradDtype, []string{"fp32", "bf16"}}, {"moment_dtype", t.MomentDtype, []string{"fp32", "bf16", "fp8"}}} {
		switch {
		case c.value == "":
		case !slices.Contains(c.known, c.value):
			return unknown(c.field, c.value, c.known...)
		case !j.megatron():
			return impossible(c.field, c.value, "--framework megatron-bridge, or leave "+c.field+" out", "%s = %s: %s does not choose it by itself", c.field, c.value, j.Framework.Name)
		}
	}
	if t.MomentDtype != "" && t.MomentDtype != "fp32" && t.Sharding != "zero1" {
		return impossible("moment_dtype", t.MomentDtype, "--sharding zero1", "moment_dtype = %s: the precision-aware optimizer is one that shares its states", t.MomentDtype)
	}
	if on(t.NarrowActs) && !j.megatron() {
		return impossible("fp8_activation_inputs", true, "--framework megatron-bridge", "%s keeps inputs of activations in the format that it computes in", j.Framework.Name)
	}
	return nil
}

func checkOffload(j *Job) error {
	o := j.Plan.Offload
	if o == nil {
		return nil
	}
	s := j.Training.Sharding
	for _, c := range []struct{ field, value string }{{"offload.optimizer", o.Optimizer}, {"offload.params", o.Params}, {"offload.activations", o.Activations}} {
		if !slices.Contains([]string{"", "none", "host", "nvme"}, c.value) || c.field == "offload.activations" && c.value == "nvme" {
			return unknown(c.field, c.value, "none", "host", "nvme")
		}
	}
	off := j.offload()
	switch {
	case off.params && s != "zero3" && s != "fsdp" && s != "fsdp2":
		return impossible("offload.params", o.Params, "--sharding zero3 or fsdp", "parameters leave the device where they are shared, and %s does not share them", s)
	case o.Optimizer != "" && o.Optimizer != "none" && j.Training.ZeROStage() == 0 && !j.megatron() && !(off.params && o.Params == o.Optimizer):
		return impossible("offload.optimizer", o.Optimizer, "--sharding zero1, zero2 or zero3 of deepspeed; offload.params with fsdp", "optimizer states leave the device under ZeRO, and %s is not; FSDP moves parameters and states together", s)
	case (o.Params == "nvme" || o.Optimizer == "nvme") && s != "zero3":
		return impossible("offload.optimizer", "nvme", "--sharding zero3", "NVMe holds what ZeRO-3 shares (ZeRO-Infinity), and not what %s does", s)
	}
	return nil
}
