package cli

import (
	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// probes are requests that leave most to defaults. They differ in model, hardware, engine and framework: a value that depends on
// these is not the default of the flag alone.
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

// defaults returns the values that the core assumes for absent fields, taken from the plans of its own answers.
func defaults(ask string) map[string]string {
	out, asker := map[string]string{}, memwall.Asker{Models: memwall.Catalog{}}
	answer := asker.Size // defaults need no advice
	if ask == "train" {
		answer = asker.Ask
	}
	for i := range probes {
		if r := &probes[i]; (r.Ask == "train") == (ask == "train") {
			if a, err := answer(r); err == nil { // help works without defaults
				agree(out, r, a.Plan)
			}
		}
	}
	return out
}

// agree keeps the values that all plans share and that were not requested; "" marks one on which they differ.
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

// valueWord returns the value of a field in the form that a flag takes.
func valueWord(f *memwall.Field, r *memwall.Request) string {
	if n, ok := f.Value(r).Interface().(plan.Int); ok && f.Unit == "length" {
		return unit.Length(int64(n))
	}
	return f.Text(r)
}
