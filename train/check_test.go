package train_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

func try(t *testing.T, id string, devices int, change func(*plan.Plan, *plan.Training)) error {
	t.Helper()
	m, _, err := hardware.Parse("h100-sxm-80gb", devices)
	if err != nil {
		t.Fatal(err)
	}
	j := &train.Job{Model: catalogtest.Model(t, id), Machine: &m, Plan: &plan.Plan{}, Training: &plan.Training{}}
	change(j.Plan, j.Training)
	_, err = compiled(j)
	return err
}

// compiled goes the way of a question: Defaults, Check, Compile.
func compiled(j *train.Job) (*train.Sizer, error) {
	if err := train.Defaults(j); err != nil {
		return nil, err
	}
	if err := train.Check(j); err != nil {
		return nil, err
	}
	return train.Compile(j)
}

// sizer is compiled's, or nil for what is refused by a field with a fix; other refusals are errors.
func sizer(j *train.Job) (*train.Sizer, error) {
	s, err := compiled(j)
	if e, ok := errors.AsType[*plan.Problem](err); ok && e.Field != "" && e.Fix != "" {
		return nil, nil
	}
	return s, err
}

// TestRefusals: a plan that a framework cannot run is refused by the field that is wrong, with what would run.
func TestRefusals(t *testing.T) {
	dropout := 1.5
	for _, c := range []struct {
		field, says string
		devices     int
		id          string
		change      func(*plan.Plan, *plan.Training)
	}{
		{"framework", "not known", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "pen and paper" }},
		{"framework", "version", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "transformers@new" }},
		{"framework", "versions of its own", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "trl@0.20" }},
		{"framework", "counted as 2026.8", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "torchtitan@0.2.2" }},
		{"framework", "counted as 4.57", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "transformers@2025.1" }},
		{"framework", "not known", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework = "megatrn" }},
		{"frozen", "no part", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Frozen = []string{"nonsense"} }},
		{"reward_model", "no such role", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.RewardModel = "llama-3.1-8b" }},
		{"reward_model", "objective = dpo", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Objective, q.RewardModel = "dpo", "llama-3.1-8b" }},
		{"reference_model", "no such role", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Objective, q.ReferenceModel = "sft", "llama-3.1-8b" }},
		{"critic_model", "no such role", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Objective, q.CriticModel = "grpo", "llama-3.1-8b" }},
		{"teacher_model", "no such role", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Objective, q.TeacherModel = "pretrain", "llama-3.1-8b" }},
		{"rollout", "no such role", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Objective, q.Rollout = "dpo", &plan.Rollout{} }},
		{"recompute", "has 32 layers", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Recompute = "every:99" }},
		{"optimizer", "not known", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer = "adamm" }},
		{"lora_targets", "no linear layer", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Method, q.LoRA = "lora", []string{"q_projj"} }},
		{"lora_dropout", "share", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Method, q.Dropout = "lora", &dropout }},
		{"dropout", "share", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Masks = &dropout }},
		{"lora_targets", "no such layers", 1, "mamba-2.8b", func(_ *plan.Plan, q *plan.Training) { q.Method = "lora" }},
		{"weights", "llama.cpp", 1, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Method, p.Weights = "qlora", "q4_k_m" }},
		{"weights", "loaded in 16 bits", 1, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Precision, p.Weights = "fp32", "bf16" }},
		{"precision", "16 bits alone", 1, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Precision, p.Weights = "bf16", "f32" }},
		{"optimizer", "low rank", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.Method = "galore", "lora" }},
		{"optimizer", "torchtitan has Adam", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.Framework = "lion", "torchtitan" }},
		{"sharding", "torchtune shares", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Sharding, q.Framework = "zero3", "torchtune" }},
		{"sharding", "4-bit", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Method, q.Sharding, p.Weights = "lora", "zero3", "nf4" }},
		{"sequence_length", "between", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.SequenceLength = -1 }},
		{"tp", "does not divide", 6, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.TP = "megatron", 6 }},
		{"devices", "needs 16 devices", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.TP, p.DP = "megatron", 4, 4 }},
		{"dp", "all of them train", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.TP, p.DP = "megatron", 4, 1 }},
		{"cp", "equal parts", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.CP, q.SequenceLength = "megatron", 8, 1000 }},
		{"ep", "no experts", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.EP = "megatron", 4 }},
		{"ep", "does not divide the 8 experts", 8, "mixtral-8x7b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.EP = "megatron", 3 }},
		{"global_batch", "is not micro_batch", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.MicroBatch, q.Accumulation, q.GlobalBatch = 1, 2, 17 }},
		{"method", "do not train", 1, "llama-3.1-8b", func(p *plan.Plan, _ *plan.Training) { p.Weights = "nf4" }},
		{"weights", "quantised base", 1, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Method, p.Weights = "qlora", "bf16" }},
		{"sharding", "4-bit", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Method, q.Sharding = "qlora", "zero3" }},
		{"method", "transformers with peft", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Method = "torchtitan", "lora" }},
		{"optimizer", "transformers has adafactor", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Optimizer = "megatron", "adafactor" }},
		{"optimizer", "whole matrices", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.Sharding = "galore", "fsdp" }},
		{"optimizer", "whole matrices", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.Sharding = "soap", "zero1" }},
		{"optimizer", "without regard to rows", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.Sharding = "rowwise-adagrad", "fsdp" }},
		{"optimizer", "transformers has adagrad", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Optimizer = "megatron", "adagrad" }},
		{"sharding", "Megatron-FSDP", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Sharding = "megatron", "fsdp" }},
		{"sharding", "FSDP2", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Sharding = "torchtitan", "zero1" }},
		{"sharding", "one node", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Sharding = "hsdp" }},
		{"sharding", "runs in a pipeline", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.PP, q.Sharding = "deepspeed", 2, "zero2" }},
		{"pp", "torchtitan and deepspeed have", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.PP = "transformers", 2 }},
		{"vpp", "no pipeline", 8, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Framework, q.VPP = "megatron", 2 }},
		{"accumulation", "needs as many", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Framework, p.PP, q.Accumulation = "torchtitan", 8, 2 }},
		{"accumulation", "needs as many", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) {
			q.Framework, p.PP, q.Accumulation, q.Schedule = "megatron", 8, 2, "zb-h1"
		}},
		{"recompute", "choose operators", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Recompute = "selective" }},
		{"recompute", "not known", 1, "llama-3.1-8b", func(_ *plan.Plan, q *plan.Training) { q.Recompute = "every:0" }},
		{"offload.params", "leave the device", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, p.Offload = "deepspeed", "zero2", &plan.Offload{Params: "host"}
		}},
		{"offload.optimizer", "under ZeRO", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) { q.Sharding, p.Offload = "fsdp", &plan.Offload{Optimizer: "host"} }},
		{"offload.optimizer", "ZeRO-Infinity", 8, "llama-3.1-8b", func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, p.Offload = "deepspeed", "zero2", &plan.Offload{Optimizer: "nvme"}
		}},
	} {
		err := try(t, c.id, c.devices, c.change)
		var e *plan.Problem
		if !errors.As(err, &e) {
			t.Errorf("%s is not refused: %v", c.field, err)
			continue
		}
		if e.Field != c.field || !strings.Contains(e.Message, c.says) || e.Fix == "" || e.Value == "" && c.field != "framework" {
			t.Errorf("%s: refused by %s = %q: %s (%s)", c.field, e.Field, e.Value, e.Message, e.Fix)
		}
	}
}

// TestPrecisionOfDevices: 8 and 4 bits where the device multiplies them, with a framework that has a recipe.
func TestPrecisionOfDevices(t *testing.T) {
	for _, c := range []struct {
		precision, framework, device string
		refused                      bool
	}{
		{"fp8", "", "a100-sxm-80gb", true}, {"fp8", "", "h100-sxm-80gb", false}, {"fp8", "", "rtx-4090", false}, {"fp8", "", "mi300x", false},
		{"fp8-rowwise", "torchtitan", "rtx-4090", true}, {"fp8-rowwise", "torchtitan", "h100-sxm-80gb", false}, {"fp8-rowwise", "torchtitan", "mi300x", false}, {"fp8-rowwise", "megatron", "h100-sxm-80gb", true},
		{"mxfp8", "torchtitan", "h100-sxm-80gb", true}, {"mxfp8", "torchtitan", "b200-sxm-180gb", false}, {"mxfp8", "megatron", "mi300x", true}, {"mxfp8", "megatron", "mi355x", false}, {"mxfp8", "transformers", "b200-sxm-180gb", true},
		{"nvfp4", "megatron", "h200-sxm-141gb", true}, {"nvfp4", "megatron-bridge", "gb300", false}, {"nvfp4", "megatron", "mi355x", true}, {"nvfp4", "torchtitan", "b200-sxm-180gb", true},
	} {
		m, _, err := hardware.Parse(c.device, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = compiled(&train.Job{Model: catalogtest.Model(t, "llama-3.1-8b"), Machine: &m, Plan: &plan.Plan{}, Training: &plan.Training{Precision: c.precision, Framework: c.framework}})
		e, ok := errors.AsType[*plan.Problem](err)
		if got := ok && e.Field == "precision" && e.Impossible; got != c.refused {
			t.Errorf("%s with %s on %s: %v, want a refusal: %t", c.precision, c.framework, c.device, err, c.refused)
		}
	}
}

// TestVersionsOfFrameworks: a version that rules were not read from is remarked on, one between those is not.
func TestVersionsOfFrameworks(t *testing.T) {
	for name, code := range map[string]string{
		"transformers@4.30": "older_framework", "transformers@4.45.2": "", "transformers@4.57": "", "hf@5.1": "newer_framework", "transformers@latest": "",
		"deepspeed@0.3": "older_framework", "deepspeed@0.18.0": "", "torchtitan@2024.6": "older_framework", "torchtitan@2025.6": "", "unsloth@2027.1": "newer_framework",
	} {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Framework = name })
		got := ""
		for _, n := range j.Notes {
			if strings.HasSuffix(n.Code, "_framework") {
				got = n.Code
			}
		}
		if got != code {
			t.Errorf("%s: note %q, want %q", name, got, code)
		}
	}
}

// TestRemarks: what a plan has no use for, and what it has to mind, is remarked on by its field.
func TestRemarks(t *testing.T) {
	yes := true
	for _, c := range []struct {
		code, field, machine string
		change               func(*plan.Plan, *plan.Training)
	}{
		{"unused", "lora_rank", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.LoRARank = 16 }},
		{"unused", "lora_targets", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.LoRA = []string{"q_proj"} }},
		{"unused", "modules_to_save", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.Full = []string{"lm_head"} }},
		{"unused", "frozen", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.Method, q.Frozen = "lora", []string{"embed_tokens"} }},
		{"unused", "schedule", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.Schedule = "interleaved" }},
		{"unused", "sequence_parallel", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.SequenceParallel = &yes }},
		{"unused", "etp", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.ETP = 2 }},
		{"wide_adapters", "lora_rank", "h100-sxm-80gb", func(_ *plan.Plan, q *plan.Training) { q.Method, q.LoRARank = "lora", 8192 }},
		{"no_bf16", "precision", "rtx-2080-ti", func(_ *plan.Plan, q *plan.Training) { q.Precision = "bf16-mixed" }},
	} {
		j := ask(t, "llama-3.1-8b", c.machine, 1, c.change)
		if _, err := compiled(j); err != nil {
			t.Errorf("%s: %v", c.field, err)
		}
		if !slices.ContainsFunc(j.Notes, func(n engine.Note) bool { return n.Code == c.code && n.Field == c.field }) {
			t.Errorf("no word %s on %s in %v", c.code, c.field, j.Notes)
		}
	}
	if j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Optimizer, q.LoRARank = "galore", 64 }); slices.ContainsFunc(j.Notes, func(n engine.Note) bool { return n.Code == "unused" }) {
		t.Error("GaLore's rank is said to be of no use")
	}
}

// TestCommandsOfTheGuide: what people ask first runs without a word on frameworks.
func TestCommandsOfTheGuide(t *testing.T) {
	if err := try(t, "llama-3.1-8b", 1, func(_ *plan.Plan, q *plan.Training) { q.Method, q.SequenceLength = "qlora", 4096 }); err != nil {
		t.Error(err)
	}
	if err := try(t, "llama-3.1-70b", 64, func(p *plan.Plan, q *plan.Training) { p.TP, p.PP, q.Sharding = 8, 4, "zero1" }); err != nil {
		t.Error(err)
	}
	if err := try(t, "deepseek-v3", 256, func(p *plan.Plan, q *plan.Training) { p.PP, p.EP = 8, 32 }); err != nil {
		t.Error(err)
	}
}

// TestOffload: what leaves the device stands on the host, or in swap files on disk, and the device holds less.
func TestOffload(t *testing.T) {
	at := func(o *plan.Offload) (device, host float64) {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) { q.Framework, q.Sharding, p.Offload = "deepspeed", "zero3", o })
		if err := train.Check(j); err != nil {
			t.Fatal(err)
		}
		r := &size(t, j)[0]
		for _, it := range append(r.Host, r.Disk...) {
			if !strings.HasPrefix(it.Name, "checkpoint of") {
				host += float64(it.Bytes)
			}
		}
		return r.Allocated.Mid, host
	}
	d0, h0 := at(nil)
	d1, h1 := at(&plan.Offload{Optimizer: "host"})
	d2, h2 := at(&plan.Offload{Optimizer: "host", Params: "host"})
	d3, h3 := at(&plan.Offload{Optimizer: "nvme", Params: "nvme"})
	if h0 != 0 || !(d0 > d1 && d1 > d2 && h2 > h1 && h1 > 0) || d3 != d2 || h3 != h2 {
		t.Errorf("device %.3g %.3g %.3g %.3g, host %.3g %.3g %.3g %.3g", d0, d1, d2, d3, h0, h1, h2, h3)
	}
}
