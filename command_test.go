package memwall

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

func TestFromCommand(t *testing.T) {
	for _, c := range []struct{ text, want, unknown string }{
		{"vllm serve meta-llama/Llama-3.1-8B-Instruct -tp 2", `{"ask":"fit","model":"meta-llama/Llama-3.1-8B-Instruct","engine":"vllm","context":131072,"tp":2,"pp":1,"dp":1}`, ""},
		{"vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 4096 --frob 1", `{"ask":"fit","model":"meta-llama/Llama-3.1-8B-Instruct","engine":"vllm","context":4096,"tp":1,"pp":1,"dp":1,"engine_args":["--frob 1"]}`, "--frob 1"},
		{"vllm serve RedHatAI/Qwen3-14B-FP8-dynamic --max-model-len 8192", `{"ask":"fit","model":"RedHatAI/Qwen3-14B-FP8-dynamic","engine":"vllm","weights":"fp8","context":8192,"tp":1,"pp":1,"dp":1}`, ""},
		{"vllm serve Qwen/Qwen3-14B-FP8 --max-model-len 8192", `{"ask":"fit","model":"Qwen/Qwen3-14B-FP8","engine":"vllm","weights":"fp8-block","context":8192,"tp":1,"pp":1,"dp":1}`, ""},
		{"vllm serve x/Qwen2.5-7B-Instruct-GPTQ-Int8 -q gptq_marlin --max-model-len 8192", `{"ask":"fit","model":"x/Qwen2.5-7B-Instruct-GPTQ-Int8","engine":"vllm","weights":"gptq-int8","context":8192,"tp":1,"pp":1,"dp":1}`, ""},
		{"vllm serve openai/gpt-oss-20b --max-model-len 8192", `{"ask":"fit","model":"openai/gpt-oss-20b","engine":"vllm","context":8192,"tp":1,"pp":1,"dp":1}`, ""},
		{"vllm serve deepseek-ai/DeepSeek-R1 -q fp8 --max-model-len 8192 -tp 16", `{"ask":"fit","model":"deepseek-ai/DeepSeek-R1","engine":"vllm","context":8192,"tp":16,"pp":1,"dp":1}`, ""},
		{"cd x && CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --model-path Qwen/Qwen3-8B --context-length 8192", `{"ask":"fit","model":"Qwen/Qwen3-8B","devices":2,"engine":"sglang","context":8192,"tp":1,"pp":1,"dp":1}`, ""},
		{"docker run vllm/vllm-openai:v0.9.2 --model /models/x --max-model-len 100", `{"ask":"fit","model":"/models/x","engine":"vllm@0.9.2","context":100,"tp":1,"pp":1,"dp":1}`, ""},
		{"llama-server -m x-Q4_K_M.gguf -c 8192 -ngl 99 --weird", `{"ask":"fit","model":"x-Q4_K_M.gguf","engine":"llama-server","sequences":4,"context_total":8192,"gpu_layers":99,"kv_unified":true,"fit":"on"}`, "--weird"},
		{"trtllm-serve meta-llama/Llama-3.1-8B-Instruct --max_seq_len 8192 --tp_size 2", `{"ask":"fit","model":"meta-llama/Llama-3.1-8B-Instruct","engine":"tensorrt-llm","context":8192,"tp":2,"pp":1,"dp":1}`, ""},
		{"OLLAMA_CONTEXT_LENGTH=8192 ollama serve", `{"ask":"fit","engine":"ollama","context":8192,"fit":"on"}`, ""},
	} {
		r, unknown, err := FromCommand(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, _ := json.Marshal(r)
		if string(got) != c.want || strings.Join(unknown, "|") != c.unknown {
			t.Errorf("%s:\n got  %s %q\n want %s", c.text, got, unknown, c.want)
		}
	}
}

func TestFromCommandErrors(t *testing.T) {
	for _, c := range []struct{ text, message, hint string }{
		{"", "holds no command", "vllm serve"},
		{"vlm serve x", `"vlm" is not a program`, "did you mean: vllm"},
		{"llama-sever -m x", `"llama-sever" is not a program`, "llama-server"},
		{"ls -l", `"ls" is not a program`, "docker run"},
		{"vllm serve x -tp two", "-tp two is not a whole number", "8192"},
		{"vllm serve 'x", "opens a '", "close the quote"},
	} {
		_, _, err := FromCommand(c.text)
		e, ok := err.(*Error)
		if !ok || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) || e.Code != BadField {
			t.Errorf("%q: %+v", c.text, err)
		}
	}
}

func TestStoredAs(t *testing.T) {
	for _, c := range []struct {
		method, ref, want string
		known             bool
	}{
		{"", "meta-llama/Llama-3.1-8B-Instruct", "", true},
		{"", "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "nf4", true},
		{"compressed-tensors", "RedHatAI/Qwen3-14B-FP8-dynamic", "fp8", true},
		{"compressed-tensors", "cpatonn/Qwen3-Next-80B-A3B-Instruct-AWQ-4bit", "int4", true},
		{"compressed-tensors", "somebody/model", "", false},
		{"awq_marlin", "hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4", "awq", true},
		{"gptq", "Qwen/Qwen2-72B-Instruct-GPTQ-Int4", "gptq", true},
		{"modelopt", "nvidia/Llama-3.1-8B-Instruct-FP8", "fp8-tensor", true},
		{"modelopt", "nvidia/DeepSeek-R1-NVFP4", "nvfp4-experts", true},
		{"fp8", "/deepseek-r1", "", true},
		{"fp8", "/models/mistral-large2", "fp8", true},
		{"mxfp4", "openai/gpt-oss-20b", "", true},
		{"experts_int8", "ai21labs/AI21-Jamba-1.5-Mini", "", false},
	} {
		if got, known := question.StoredAs(c.method, c.ref); got != c.want || known != c.known {
			t.Errorf("%s, %s: %q %v, want %q %v", c.method, c.ref, got, known, c.want, c.known)
		}
	}
}

// TestCommandRoundTrip: the command line that an answer gives, read back, is the same plan, over the
// catalog and a grid of plans, for every engine whose command memwall reads.
func TestCommandRoundTrip(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	t.Run("catalog", func(t *testing.T) {
		for i, id := range catalog.IDs() {
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				one := asker().Remembering()
				for j, p := range planGrid() {
					if (i+j)%24 != 0 && i > 4 {
						continue // few of the plans for most models
					}
					for _, name := range Engines() {
						asked.Add(roundTrip(t, one, id, name, p))
					}
				}
			})
		}
	})
	if asked.Load() < 200 {
		t.Errorf("only %d plans could be asked", asked.Load())
	}
}

func planGrid() []plan.Plan {
	share, low, no, yes := 0.8, 0.5, false, true
	return []plan.Plan{
		{Context: 4096}, {Context: 8192, TP: 2}, {Context: 2048, TP: 4, Sequences: 8}, {Context: 4096, PP: 2},
		{Context: 4096, DP: 2, TP: 2}, {Context: 4096, KV: "fp8"},
		{Context: 4096, Serving: plan.Serving{GPUMemoryUtilization: &share}},
		{Context: 4096, Serving: plan.Serving{MaxBatchedTokens: 4096, MaxSeqs: 32}},
		{Context: 4096, Serving: plan.Serving{EnforceEager: &yes, PrefixCache: &no}},
		{Context: 4096, Serving: plan.Serving{MemFractionStatic: &low}},
		{Context: 4096, Serving: plan.Serving{KVCacheMemory: 4 << 30}},
		{Context: 4096, Serving: plan.Serving{FreeGPUMemoryFraction: &share, BlockSize: 64}},
		{Sequences: 2, LlamaCpp: plan.LlamaCpp{ContextTotal: 8192}},
		{KV: "q8_0", KVV: "q8_0", Attention: "flash", LlamaCpp: plan.LlamaCpp{ContextTotal: 8192}},
		{LlamaCpp: plan.LlamaCpp{ContextTotal: 4096, UBatch: 1024, BatchTokens: 4096, Mmap: &no}},
		{LlamaCpp: plan.LlamaCpp{ContextTotal: 4096, KVUnified: &yes, SplitMode: "layer", TensorSplit: "3,1,1,1"}},
	}
}

// TestServerRoundTrip: what llama-server's own settings come to is read back from its command line.
func TestServerRoundTrip(t *testing.T) {
	no, yes, two := false, true, plan.Int(2)
	n := int64(0)
	for _, p := range []plan.Plan{
		{Context: 4096, LlamaCpp: plan.LlamaCpp{Fit: "on", FitTarget: "2048"}},
		{LlamaCpp: plan.LlamaCpp{ContextTotal: 4096, SplitMode: "none", MainGPU: &two}},
		{Sequences: 4, LlamaCpp: plan.LlamaCpp{ContextTotal: 4096, CacheRAM: &two, Checkpoints: &two, MLock: &yes, OpOffload: &no,
			ControlVector: &yes, KVUnified: &yes}},
		{KV: "q8_0", KVV: "f16", Attention: "flash", LlamaCpp: plan.LlamaCpp{ContextTotal: 4096}},
		{Context: 4096, DraftModel: "llama-3.2-1b", LlamaCpp: plan.LlamaCpp{DraftLayers: &two, DraftKV: "q8_0"}},
	} {
		for _, m := range []string{"llama-3.1-70b", "deepseek-v3", "gemma-3-4b"} {
			n += roundTrip(t, asker(), m, "llama-server", p)
		}
	}
	if n < 14 { // latent attention takes no two formats
		t.Errorf("only %d commands came back", n)
	}
}

// roundTrip counts 1 when the engine takes the plan and its command came back the same. llama.cpp spells
// a plan in several ways (all layers are -1 or 99, the context is that of a slot or of all), so there the
// ledgers are compared.
func roundTrip(t *testing.T, one *Asker, model, engine string, p plan.Plan) int64 {
	t.Helper()
	const hardware = "4xh100"
	p.Engine = engine
	first, command := settled(one, &Request{Ask: "fit", Model: model, Hardware: hardware, Plan: p})
	if command == "" {
		return 0
	}
	r, unknown, err := FromCommand(command)
	if err != nil || len(unknown) > 0 {
		t.Errorf("%s on %s: %s: %v, unknown %q", model, engine, command, err, unknown)
		return 1
	}
	if r.Weights == "" {
		r.Weights = first.Plan.Weights
	}
	completed(r, first.Plan)
	r.Devices = 4
	ggml := strings.HasPrefix(engine, "llama") || engine == "ollama" || engine == "ik_llama.cpp"
	if ggml {
		r.Engine, r.LogitRows = first.Plan.Engine, first.Plan.LogitRows
	}
	second, _ := settled(one, r)
	a, b := sameText(first, ggml), sameText(second, ggml)
	if a != b {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		i = max(0, i-100)
		t.Errorf("%s on %s: %s\n asked     … %.200s\n read back … %.200s", model, engine, command, a[min(i, len(a)):], b[min(i, len(b)):])
	}
	return 1
}

// settled gives a plan with its defaults and ledgers, and the command that runs it; nothing when the
// engine refuses it.
func settled(one *Asker, r *Request) (*Answer, string) {
	q, err := one.env().Prepare(r)
	if err != nil {
		return &Answer{Error: api.AsError(err)}, ""
	}
	return timing.SizedAnswer(q, q.Sizer.Size(nil, q.Job.Load())), q.Engine.Command(q.Job)
}

func sameText(a *Answer, ledgers bool) string {
	var text []byte
	if ledgers {
		text, _ = json.Marshal([]any{a.Devices, a.Host, a.KV, a.Error})
	} else {
		text, _ = json.Marshal([]any{a.Plan, a.Error})
	}
	return string(text)
}

// FuzzFromCommand: any text gives a request or an *Error.
func FuzzFromCommand(f *testing.F) {
	for _, s := range []string{
		"vllm serve x", "llama-server -m x", "docker run vllm/vllm-openai --model x", "ollama serve", "trtllm-serve x",
		"cat > c <<EOF\na: {b: 1}\nEOF\ntrtllm-serve x --config c", "FROM x\nPARAMETER num_ctx 1\nSYSTEM \"\"\"\n",
		"m = A.from_pretrained('x', device_map={'': 0})\nm.generate(max_length=1)",
		"services:\n  a:\n    image: ollama/ollama\n    command: [serve]\n",
		"apiVersion: v1\nkind: Pod\nspec:\n  containers: [{image: x, args: [vllm, serve, y]}]\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, _, err := FromCommand(text)
		if _, ok := err.(*Error); err != nil && !ok {
			t.Fatalf("%T", err)
		}
		if err == nil && r.Ask != "fit" {
			t.Fatal("no question")
		}
	})
}
