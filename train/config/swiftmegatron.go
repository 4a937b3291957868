package config

import (
	"strings"

	"github.com/memwall/memwall/plan"
)

// swiftMegatron are the commands of ms-swift that Megatron-LM's core trains (megatron sft; 4.5: swift/megatron/arguments/*.py): Megatron's
// flags with low lines, and ms-swift's for model, adapters and lengths.
func swiftMegatron() *framework {
	return &framework{
		name: "megatron-swift", title: "ms-swift's megatron", plan: "megatron", marks: "--model",
		parts: []part{{name: "megatron.sh", keys: "megatron swift-megatron", decode: lowLines, rules: joined([]rule{
			{get: func(in *Input, r *reader) { in.Hub = r.text("--model"); r.take("script") }},
		}, megatronRules(), []rule{
			{get: getSwiftMegatron},
			count("--max-length", sequence), flag("--packing", packing), flag("--padding-free", packing),
			words("--tuner-type", method, "full=full", "lora=lora"), words("--train-type", method, "full=full", "lora=lora"),
			words("--rlhf-type", objective, "dpo=dpo", "grpo=grpo", "distill=gkd"),
			another("--teacher-model", func(in *Input) *string { return &in.Training.TeacherModel }),
			count("--lora-rank", loraRank), made("--lora-alpha", nil), dropout("--lora-dropout"),
			texts("--target-modules", func(in *Input) *[]string { return &in.Training.LoRA }), texts("--modules-to-save", func(in *Input) *[]string { return &in.Training.Full }),
		})}},
		settle: func(in *Input) {
			method := in.Training.Method
			settleMegatron(in)
			in.Training.Method = method
		},
	}
}

// getSwiftMegatron is what ms-swift sets where a command says nothing: sft of bf16, the distributed optimizer.
func getSwiftMegatron(in *Input, r *reader) {
	t := &in.Training
	t.Objective, t.Method, t.ETP = "sft", "full", max(1, t.ETP)
	if t.Precision == "fp32" && r.text("--torch-dtype") != "float32" {
		t.Precision = "bf16-mixed"
	}
	if t.Sharding == "ddp" && r.root.textAt("--use-distributed-optimizer") != "false" {
		t.Sharding = "zero1"
	}
	if n, ok := r.optional("--nproc-per-node"); ok && n <= plan.MaxRanks {
		in.Devices = n
	}
}

// lowLines are the flags of a command by Megatron-LM's own names, and how many processes the environment names before it.
func lowLines(data []byte) (*node, error) {
	if !isCommand(data) {
		return nil, noFlags()
	}
	n, err := swiftArguments(data)
	if err != nil {
		return nil, err
	}
	out := block()
	for _, key := range n.keys {
		name := "--" + key
		if !strings.Contains(key, "${") {
			name = strings.ReplaceAll(name, "_", "-")
		}
		out.put(name, n.of[key])
	}
	return out, nil
}

// another is a further model by its name or path.
func another(key string, at func(in *Input) *string) rule {
	return rule{get: func(in *Input, r *reader) {
		if name := r.text(key); name != "" {
			*at(in) = name
		}
	}}
}
