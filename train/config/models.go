package config

import (
	_ "embed"
	"slices"
	"strings"
)

// tuneModels are torchtune's builders, one model a line; the first line says what stands where.
//
//go:embed torchtune_models.tsv
var tuneModels string

// tuneModel are the parts of torchtune that a model is built from; "-" where there is none.
type tuneModel struct{ id, full, lora, qlora, tokenizer, kind, split string }

// tuned finds a model by its id on the hub, with or without the suffix of a chat model and the organisation's name
// for it.
func tuned(in *Input) (tuneModel, bool) {
	for line := range strings.Lines(tuneModels) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if len(c) == 7 && sameModel(c[0], in) {
			return tuneModel{c[0], c[1], c[2], c[3], c[4], c[5], c[6]}, true
		}
	}
	return tuneModel{}, false
}

// built is the id on the hub of a model that a component builds; the component itself where the table has none.
func built(component string) string {
	name := strings.TrimPrefix(component, tuneHead)
	for line := range strings.Lines(tuneModels) {
		if c := strings.Split(strings.TrimSpace(line), "\t"); len(c) == 7 && slices.Contains(c[1:4], name) {
			return c[0]
		}
	}
	return component
}

// titanModel is a model of torchtitan: the name of its code and the flavor of its size.
type titanModel struct{ id, name, flavor string }

// titanModels are those of torchtitan 0.2.2: torchtitan/models/*/__init__.py, train_configs and README.
var titanModels = []titanModel{
	{"meta-llama/Llama-3.1-8B", "llama3", "8B"}, {"meta-llama/Llama-3.1-70B", "llama3", "70B"}, {"meta-llama/Llama-3.1-405B", "llama3", "405B"},
	{"meta-llama/Meta-Llama-3-8B", "llama3", "8B"}, {"meta-llama/Meta-Llama-3-70B", "llama3", "70B"},
	{"meta-llama/Llama-4-Scout-17B-16E", "llama4", "17bx16e"}, {"meta-llama/Llama-4-Maverick-17B-128E", "llama4", "17bx128e"},
	{"Qwen/Qwen3-0.6B", "qwen3", "0.6B"}, {"Qwen/Qwen3-1.7B", "qwen3", "1.7B"}, {"Qwen/Qwen3-4B", "qwen3", "4B"}, {"Qwen/Qwen3-8B", "qwen3", "8B"},
	{"Qwen/Qwen3-14B", "qwen3", "14B"}, {"Qwen/Qwen3-32B", "qwen3", "32B"}, {"Qwen/Qwen3-30B-A3B", "qwen3", "30B-A3B"}, {"Qwen/Qwen3-235B-A22B", "qwen3", "235B-A22B"},
	{"deepseek-ai/deepseek-moe-16b-base", "deepseek_v3", "16B"}, {"deepseek-ai/DeepSeek-V3", "deepseek_v3", "671B"},
	{"openai/gpt-oss-20b", "gpt_oss", "20b"}, {"openai/gpt-oss-120b", "gpt_oss", "120b"},
}

func titan(in *Input) (titanModel, bool) {
	for _, m := range titanModels {
		if sameModel(m.id, in) {
			return m, true
		}
	}
	return titanModel{}, false
}

// sameModel: a chat model is built like its base, and Meta's names come with and without Meta-.
func sameModel(id string, in *Input) bool {
	want := bareModel(id)
	return want == bareModel(in.Hub) || want == bareModel(in.Model)
}

func bareModel(id string) string {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	for _, tail := range []string{"-instruct", "-hf", "-chat-hf", "-it", "-base", "-chat"} {
		id = strings.TrimSuffix(id, tail)
	}
	return strings.TrimPrefix(id, "meta-")
}
