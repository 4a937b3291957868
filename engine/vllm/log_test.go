package vllm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/startup/startuptest"
)

func planJSON(l *startup.Log) string {
	b, _ := json.Marshal(l.Plan)
	return string(b)
}

// TestReadLog: a log of every era, what it says of the plan, and its figures as printed.
func TestReadLog(t *testing.T) {
	for _, c := range []struct{ file, version, era, models, quant, plan, figures, notes string }{
		{"0.5-v0-mistral-nemo-pp2.log", "0.5.5", "0.3.3", "Mistral-Nemo-Instruct-2407/", "fp8",
			`{"context":128000,"tp":1,"pp":2,"gpu_memory_utilization":0.9,"max_num_seqs":256,"enforce_eager":false,"block_size":16,"prefix_cache":false}`,
			"weights@pid 311=6.5727 GiB; weights=6.5727 GiB; kv_blocks=9650", ""},
		{"0.6.4-v0-llama-70b-tp8.log", "0.6.4.post1", "0.6.4", "/models/Meta-Llama-3.1-70B-Instruct llama", "",
			`{"context":131072,"tp":8,"pp":1,"gpu_memory_utilization":0.95,"enforce_eager":false}`,
			"weights=16.4605 GiB; total=139.72 GiB; non_torch=5.68 GiB; kv_available=110.52 GiB; total@pid 871=139.72 GiB; non_torch@pid 871=5.21 GiB; kv_available@pid 871=110.99 GiB; " +
				"total@pid 872=139.72 GiB; non_torch@pid 872=8.85 GiB; kv_available@pid 872=107.35 GiB; kv_blocks=175884; concurrency=21.47 x; graphs=0.48 GiB", ""},
		{"0.8.1-v0-llama-3.2-3b.log", "", "0.7", "unsloth/Llama-3.2-3B-Instruct", "",
			`{"context":2048,"tp":1,"pp":1,"gpu_memory_utilization":0.79,"enforce_eager":false,"prefix_cache":true,"chunked_prefill":false}`,
			"weights=6.2472 GiB; total=39.56 GiB; budget=31.28 GiB; weights=6.25 GiB; non_torch=0.09 GiB; activations=1.49 GiB; kv_available=23.46 GiB; kv_blocks=13724; concurrency=107.22 x; graphs=0.38 GiB", "v0_engine"},
		{"0.8.3-v1-llama-405b-awq-tp4.log", "0.8.3", "0.8", "hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4 llama-405b", "awq_marlin",
			`{"context":131072,"tp":4,"pp":1,"enforce_eager":false,"prefix_cache":true,"chunked_prefill":true}`,
			"weights@rank 2=51.1453 GiB; weights@rank 0=51.1453 GiB; kv_tokens=132,464 tokens; concurrency=1.01 x; kv_tokens=132,400 tokens; concurrency=1.01 x; graphs@rank 0=4.95 GiB", ""},
		{"0.12-v1-llama-8b-rtx4090.log", "0.12.0", "0.9.2", "meta-llama/Meta-Llama-3.1-8B-Instruct", "",
			`{"context":31800,"tp":1,"pp":1,"dp":1,"gpu_memory_utilization":0.95,"max_num_batched_tokens":2048,"max_num_seqs":64,"enforce_eager":false,"prefix_cache":true}`,
			"weights@DP0=14.9889 GiB; kv_available@DP0=6.93 GiB; kv_tokens@DP0=56,800 tokens; concurrency@DP0=1.79 x; graphs@DP0=0.23 GiB", ""},
		{"0.13-v1-gpt-oss-20b-tp1-docker.log", "0.13.0rc2.dev112+g763963aa7.d20251213", "0.9.2", "openai/gpt-oss-20b", "mxfp4",
			`{"context":32768,"tp":1,"pp":1,"dp":1,"max_num_batched_tokens":2048,"enforce_eager":false}`,
			"weights@DP0=14.3066 GiB; kv_available@DP0=15.77 GiB; kv_tokens@DP0=344,560 tokens; concurrency@DP0=19.71 x; graphs@DP0=1.41 GiB", ""},
		{"0.11-refused-gpt-oss-120b.log", "0.11.0", "0.8.5", "openai/gpt-oss-120b", "mxfp4",
			`{"context":131072,"tp":1,"pp":1,"dp":1,"max_num_batched_tokens":8192,"enforce_eager":false}`,
			"kv_needed@DP0=4.79 GiB; kv_available@DP0=4.06 GiB; max_length@DP0=109776 tokens", "refused"},
		{"0.24-v1-qwen-hybrid.log", "0.24.0", "0.21", "Qwen/Qwen3-Next-80B-A3B-Instruct", "", `{"context":16384,"tp":2,"pp":1,"dp":1}`,
			"block_tokens=544 tokens; weights@TP1=75.12 GiB; weights@TP0=75.12 GiB; graphs_estimate@TP0=0.36 GiB; kv_available@TP0=6.87 GiB; kv_available@TP1=6.84 GiB", ""},
		{"0.10.2-v1-usage-summary.log", "0.10.2", "0.10.2", "google/gemma-3-4b-it", "", `{"context":131072,"tp":1,"pp":1,"dp":1,"gpu_memory_utilization":0.9}`,
			"weights=8.5834 GiB; free=177.66 GiB; total=178.36 GiB; budget=160.53 GiB; activations=9.96 GiB; non_torch=0.07 GiB; graphs=0.65 GiB; kv_bytes=152372912537 bytes", ""},
	} {
		l := startuptest.File(t, c.file, &Reader{})
		if l.Version != c.version || l.Era != c.era || strings.Join(l.Models, " ") != c.models || l.Quant != c.quant || startuptest.Codes(l) != c.notes || l.Servers != 1 {
			t.Errorf("%s: version %q, era %q, models %q, quant %q, notes %q, %d servers", c.file, l.Version, l.Era, l.Models, l.Quant, l.Notes, l.Servers)
		}
		if got := planJSON(l); got != c.plan {
			t.Errorf("%s:\n got  %s\n want %s", c.file, got, c.plan)
		}
		if got := startuptest.Figures(l); got != c.figures {
			t.Errorf("%s:\n got  %s\n want %s", c.file, got, c.figures)
		}
	}
}

// TestOddLogs: what is around a log, cut in it or doubled does not lead astray.
func TestOddLogs(t *testing.T) {
	const start = "Initializing a V1 LLM engine (v0.12.0) with config: model='a/b', dtype=torch.bfloat16, max_seq_len=100, tensor_parallel_size=2\n"
	const second = "Initializing a V1 LLM engine (v0.12.0) with config: model='c/d', dtype=torch.bfloat16, max_seq_len=999, tensor_parallel_size=8\n"
	const figures = "Model loading took 1.5 GiB and 2 seconds\nAvailable KV cache memory: 2.50 GiB\n"
	for _, c := range []struct{ name, text, figures, model, notes string }{
		{"data parallel ranks print one configuration each", start + start + figures + start, "weights=1.5 GiB; kv_available=2.50 GiB", "a/b", ""},
		{"two servers", start + figures + second + "Model loading took 9.9 GiB\n", "weights=1.5 GiB; kv_available=2.50 GiB", "a/b", "two_servers"},
		{"restart", "vLLM API server version 0.12.0\n" + start + figures + "vLLM API server version 0.12.0\n" + second, "weights=1.5 GiB; kv_available=2.50 GiB", "a/b", "two_servers"},
		{"a number is cut", start + "Available KV cache memory: ", "", "a/b", ""},
		{"settings are cut", "Initializing a V1 LLM engine (v0.12.0) with config: model='a/b', dtype=torch.bf", "", "a/b", "cut_line"},
		{"negative cache", "Available KV cache memory: -2.14 GiB\nGraph capturing finished in 3 secs, took -0.24 GiB\n", "kv_available=-2.14 GiB; graphs=-0.24 GiB", "", ""},
		{"a frame around it", "│ INFO 03-21 20:15:45 [gpu_worker.py:267] Available KV cache memory: 5.00 GiB.        │\n", "kv_available=5.00 GiB", "", ""},
		{"V0 refuses", "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (23648). Try increasing\n", "kv_tokens=23648 tokens", "", "refused"},
		{"no room", "ValueError: Free memory on device cuda:0 (59.32/79.15 GiB) on startup is less than desired GPU memory utilization (0.9, 71.24 GiB). Decrease\n", "free=59.32 GiB; total=79.15 GiB", "", "refused"},
	} {
		l, err := startuptest.Read(strings.NewReader(c.text), &Reader{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		model := strings.Join(l.Models, " ")
		if startuptest.Figures(l) != c.figures || model != c.model || startuptest.Codes(l) != c.notes {
			t.Errorf("%s: figures %q, model %q, notes %q", c.name, startuptest.Figures(l), model, startuptest.Codes(l))
		}
	}
}

func FuzzReadLog(f *testing.F) { startuptest.Fuzz(f, func() startup.Reader { return &Reader{} }) }
