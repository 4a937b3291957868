package cli

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// probes are questions that leave most to the program. They differ in model, hardware, engine and framework: a value that these move is
// no default of a flag alone.
var probes = []memwall.Request{
	{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"},
	{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100"},
	{Ask: "fit", Model: "qwen3-30b-a3b", Hardware: "rtx-3060", Plan: plan.Plan{Engine: "llama.cpp"}},
	{Ask: "fit", Model: "llama-3.1-70b", Hardware: "8xh100", Plan: plan.Plan{Engine: "vllm"}},
	{Ask: "fit", Model: "qwen3-8b", Hardware: "l40s", Plan: plan.Plan{Engine: "vllm"}},
	{Ask: "fit", Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Engine: "sglang"}},
	{Ask: "fit", Model: "qwen3-8b", Hardware: "l40s", Plan: plan.Plan{Engine: "sglang"}},
	{Ask: "train", Model: "llama-3.1-8b", Hardware: "rtx-4090"},
	{Ask: "train", Model: "llama-3.1-8b", Hardware: "h100", Training: plan.Training{Method: "qlora"}},
	{Ask: "train", Model: "llama-3.1-70b", Hardware: "64xh100", Training: plan.Training{Method: "lora"}},
	{Ask: "train", Model: "llama-3.1-70b", Hardware: "64xh100", Training: plan.Training{Framework: "megatron"}},
	{Ask: "train", Model: "llama-3.1-8b", Hardware: "8xh100", Training: plan.Training{Framework: "torchtitan"}},
}

// defaults are what the core takes for fields that nobody gives, as the plans of its own answers have it.
func defaults(ask string) map[string]string {
	out, asker := map[string]string{}, memwall.Asker{Models: memwall.Catalog{}}
	for i := range probes {
		if r := &probes[i]; (r.Ask == "train") == (ask == "train") {
			if a, err := asker.Ask(r); err == nil { // help without defaults is still help
				agree(out, r, a.Plan)
			}
		}
	}
	return out
}

// agree keeps the values that all plans have of what was not asked for; "" is one in which they differ.
func agree(out map[string]string, asked, plan *memwall.Request) {
	for i := range memwall.Fields() {
		f := &memwall.Fields()[i]
		if !f.Value(asked).IsZero() || f.Value(plan).IsZero() {
			continue
		}
		value := valueWord(f, plan)
		if was, told := out[f.Name]; told && was != value {
			value = ""
		}
		out[f.Name] = value
	}
}

// valueWord is the value of a field as a flag takes it.
func valueWord(f *memwall.Field, r *memwall.Request) string {
	if n, ok := f.Value(r).Interface().(plan.Int); ok && f.Unit == "length" {
		return unit.Length(int64(n))
	}
	return f.Text(r)
}
