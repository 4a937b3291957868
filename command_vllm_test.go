package memwall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestVLLMRoundTrip: the command for vLLM alone, with the hardware beside it, is the same plan again: model,
// weights, parallelism, lengths, cache, draft model and adapters.
func TestVLLMRoundTrip(t *testing.T) {
	asked := 0
	for _, model := range []string{"llama-3.1-8b", "qwen3-30b-a3b", "gpt-oss-20b", "opt-1.3b", "deepseek-v3"} {
		for i, p := range vllmPlans() {
			for _, weights := range []string{"", "fp8", "awq", "gptq", "nf4", "nvfp4"} {
				if model == "deepseek-v3" && (weights != "" || p.TP < 8) || model == "gpt-oss-20b" && weights != "" {
					continue // published in fp8-block and mxfp4
				}
				p := p
				p.Weights, p.Engine = weights, []string{"vllm", "vllm@0.12", "vllm@0.8.5", "vllm@0.6.4"}[i%4]
				asked += vllmRoundTrip(t, &Request{Ask: "fit", Model: model, Hardware: "16xh200", Devices: 16, Plan: p})
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d plans could be asked", asked)
	}
}

func vllmPlans() []plan.Plan {
	share, yes, no := 0.85, true, false
	return []plan.Plan{
		{Context: 2048, TP: 8}, {Context: 2048, TP: 2, PP: 2, DP: 2}, {Context: 1024, TP: 4, DP: 2, EP: 8},
		{Context: 2048, TP: 1, KV: "fp8"}, {Context: 2048, TP: 8, KV: "fp8_e5m2"},
		{Context: 2048, TP: 2, Serving: plan.Serving{GPUMemoryUtilization: &share, MaxSeqs: 48, MaxBatchedTokens: 4096,
			EnforceEager: &yes}},
		{Context: 2048, TP: 1, Serving: plan.Serving{KVCacheMemory: 6 << 30, BlockSize: 32, PrefixCache: &yes, ChunkedPrefill: &no}},
		{Context: 2048, TP: 2, DraftModel: "llama-3.2-1b", DraftTokens: 4},
		{Context: 2048, TP: 1, Adapters: []plan.Adapter{{Rank: 32}, {Rank: 32}}},
	}
}

// vllmRoundTrip counts 1 when vLLM takes the plan.
func vllmRoundTrip(t *testing.T, ask *Request) int {
	t.Helper()
	first, command := settled(asker(), ask)
	if command == "" {
		return 0
	}
	r, unknown, err := FromCommand(command)
	if err != nil || len(unknown) > 0 {
		t.Errorf("%s: %v, unknown %q", command, err, unknown)
		return 1
	}
	r.Hardware, r.Devices, r.Engine = ask.Hardware, ask.Devices, ask.Engine
	r.Sequences, r.PromptTokens, r.OutputTokens, r.EngineArgs = first.Plan.Sequences, first.Plan.PromptTokens, first.Plan.OutputTokens, nil
	second, again := settled(asker(), r)
	if again != command {
		t.Errorf("%s\n gives %s", command, again)
	}
	if a, b := comparable(first), comparable(second); a != b {
		t.Errorf("%s:\n asked     %s\n read back %s", command, a, b)
	}
	return 1
}

// comparable is the answer but for how it names its models.
func comparable(a *Answer) string {
	p := *a.Plan
	p.Model, p.DraftModel = "", ""
	text, err := json.Marshal([]any{a.Model.ID, p, a.Devices, a.KV})
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(text), "meta-llama/", "")
}

// TestVLLMCommand: the hub's name, and how the checkpoint is stored when its name does not say it.
func TestVLLMCommand(t *testing.T) {
	for _, c := range []struct{ model, weights, want, note string }{
		{"llama-3.1-8b", "", "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192", ""},
		{"llama-3.1-8b", "fp8", "vllm serve RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic --max-model-len 8192", ""},
		{"llama-3.1-8b", "nf4", "vllm serve meta-llama/Llama-3.1-8B-Instruct --quantization bitsandbytes --max-model-len 8192", ""},
		{"llama-3.1-8b", "awq", "vllm serve hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4 --max-model-len 8192", ""},
		{"smollm3-3b", "fp8", "vllm serve HuggingFaceTB/SmolLM3-3B --quantization fp8 --max-model-len 8192", ""},
		{"smollm3-3b", "awq", "vllm serve HuggingFaceTB/SmolLM3-3B --quantization awq --max-model-len 8192", "its awq checkpoint"},
		{"smollm3-3b", "int4", "vllm serve HuggingFaceTB/SmolLM3-3B --max-model-len 8192", "its int4 checkpoint"},
		{"llama-3.1-8b", "f16", "vllm serve meta-llama/Llama-3.1-8B-Instruct --dtype half --max-model-len 8192", ""},
		{"RedHatAI/Qwen3-14B-FP8-dynamic", "fp8", "vllm serve RedHatAI/Qwen3-14B-FP8-dynamic --max-model-len 8192", ""},
		{"gpt-oss-20b", "", "vllm serve openai/gpt-oss-20b --max-model-len 8192", ""},
		{"facebook/opt-1.3b", "", "vllm serve facebook/opt-1.3b --max-model-len 2048", ""},
	} {
		q, err := (&Asker{}).env().Prepare(&Request{Ask: "fit", Model: c.model, Hardware: "h200",
			Plan: plan.Plan{Weights: c.weights, Engine: "vllm"}})
		if err != nil {
			t.Errorf("%s in %s: %v", c.model, c.weights, err)
			continue
		}
		if got := q.Engine.Command(q.Job); got != c.want {
			t.Errorf("%s in %s:\n got  %s\n want %s", c.model, c.weights, got, c.want)
		}
		note := ""
		for _, n := range q.Job.Notes {
			if n.Code == "other_checkpoint" {
				note = n.Text
			}
		}
		if (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%s in %s: note %q, want %q", c.model, c.weights, note, c.note)
		}
	}
}

// TestExpertRanks: vLLM has no other expert parallelism than over all ranks of a replica's layers.
func TestExpertRanks(t *testing.T) {
	for ep, want := range map[int64]bool{1: true, 4: true, 2: false, 8: false} {
		_, err := (&Asker{}).env().Prepare(&Request{Ask: "fit", Model: "qwen3-30b-a3b", Hardware: "8xh200",
			Plan: plan.Plan{Engine: "vllm", TP: 2, DP: 2, EP: ep, Context: 4096}})
		if (err == nil) != want {
			t.Errorf("ep %d: %v", ep, err)
		}
		if err != nil && !strings.Contains(fmt.Sprint(err), "all tensor and data parallel ranks") {
			t.Errorf("ep %d: %v", ep, err)
		}
	}
}
