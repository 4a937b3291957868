package calibrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files of our own in the formats of the programs.
const (
	benchJSON = `[
  {
    "build_commit": "0123abc", "build_number": 6123, "cpu_info": "AMD Ryzen 9 7950X", "gpu_info": "NVIDIA GeForce RTX 4090", "backends": "CUDA",
    "model_filename": "models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "model_type": "llama 8B Q4_K - Medium", "model_size": 4912898304, "model_n_params": 8030261312,
    "n_batch": 2048, "n_ubatch": 512, "n_threads": 16, "type_k": "f16", "type_v": "f16", "n_gpu_layers": 99, "flash_attn": true,
    "n_prompt": 512, "n_gen": 0, "n_depth": 0, "test_time": "2026-01-02T03:04:05Z", "avg_ns": 40000000, "avg_ts": 12800.5, "stddev_ts": 30.1, "samples_ns": [ 1, 2 ], "samples_ts": [ 12800.5 ]
  },
  {
    "gpu_info": "NVIDIA GeForce RTX 4090", "model_type": "llama 8B Q4_K - Medium", "flash_attn": 1, "n_gpu_layers": 99,
    "n_prompt": 0, "n_gen": 128, "n_depth": 4096, "avg_ts": 120.25
  },
  { "gpu_info": "NVIDIA GeForce RTX 4090", "model_type": "llama 8B Q4_K - Medium", "n_prompt": 0, "n_gen": 128, "avg_ts": -3 },
  { "gpu_info": "NVIDIA GeForce RTX 4090", "model_type": "llama 8B Q4_K - Medium", "n_prompt": 0, "n_gen": 0, "avg_ts": 3 }
]`
	benchMarkdown = "ggml_cuda_init: found 2 CUDA devices:\n" +
		"  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n" +
		"  Device 1: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes\n" +
		"| model                          |       size |     params | backend    | ngl | fa |            test |                  t/s |\n" +
		"| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | -------------------: |\n" +
		"| llama 70B Q4_K - Medium        |  39.59 GiB |    70.55 B | CUDA       |  99 |  1 |           pp512 |        950.12 ± 3.40 |\n" +
		"| llama 70B Q4_K - Medium        |  39.59 GiB |    70.55 B | CUDA       |  99 |  1 |   tg128 @ d4096 |         17.31 ± 0.02 |\n" +
		"| llama 70B Q4_K - Medium        |  39.59 GiB |    70.55 B | CUDA       |  99 |  1 |     pp512+tg128 |         70.00 ± 0.10 |\n" +
		"| llama 70B Q4_K - Medium        |  39.59 GiB |    70.55 B | CUDA       |  99 |  1 |           tg128 |          0.00 ± 0.00 |\n" +
		"\nbuild: 4dcd9f6a (6123)\n"
	serveJSON = `{"date": "20260101-120000", "endpoint_type": "vllm", "label": null, "model_id": "Qwen/Qwen3-32B", "tokenizer_id": "Qwen/Qwen3-32B", "num_prompts": 640,
 "hardware": "h100-sxm-80gb", "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 64, "duration": 100.0, "completed": 640, "total_input_tokens": 655360, "total_output_tokens": 327680,
 "request_throughput": 6.4, "output_throughput": 3276.8, "total_token_throughput": 9830.4, "mean_ttft_ms": 310.5, "median_ttft_ms": 250.1, "p99_ttft_ms": 1500.0,
 "mean_tpot_ms": 18.4, "median_tpot_ms": 18.2, "p99_tpot_ms": 22.0, "mean_itl_ms": 18.3, "input_lens": [1024, 1024], "generated_texts": ["}, {", "NaN"]}`
	sglangJSONL = `{"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 16, "random_input_len": 1024, "duration": 50.0, "completed": 160, "total_input_tokens": 163840, "total_output_tokens": 20480, "total_output_tokens_retokenized": 20470, "output_throughput": 409.6, "mean_ttft_ms": 120.0, "mean_tpot_ms": 30.5, "accept_length": null}
{"backend": "vllm", "request_rate": 4.0, "max_concurrency": null, "completed": 160, "total_input_tokens": 163840, "total_output_tokens": 20480, "total_output_tokens_retokenized": 20470, "output_throughput": 409.6, "mean_ttft_ms": 120.0, "mean_tpot_ms": NaN}
not json
`
	twoColumns = "context; tokens/s\n0; 61.5\n4096; 55.25\n8192; -1\n16384; 4e12\nmany; 3\n"
)

func read(t *testing.T, text string) *File {
	t.Helper()
	f, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLlamaBenchJSON(t *testing.T) {
	got := read(t, benchJSON)
	row := Observation{Model: "llama 8B Q4_K - Medium", Weights: "Q4_K - Medium", Hardware: "NVIDIA GeForce RTX 4090", Devices: 1,
		Engine: "llama.cpp", Concurrency: 1, Requests: 1, GPULayers: "99", Flash: "1"}
	first, second := row, row
	first.Date = "2026-01-02"
	first.At, first.Model, first.Bytes, first.Build, first.Backend, first.Threads = "row 1",
		"models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", 4912898304, "b6123", "CUDA", "16"
	first.Params = 8030261312
	first.UBatch, first.TypeK, first.TypeV, first.Test, first.Prompt, first.Value, first.Deviation = 512, "f16", "f16", Prefill, 512,
		12800.5, 30.1
	second.At, second.Test, second.Answer, second.Depth, second.Value = "row 2", Decode, 128, 4096, 120.25
	want := &File{Format: "llama-bench", Observations: []Observation{first, second}, Refused: []Refusal{
		{"row 3", "avg_ts", "-3", "a rate or a time is above zero"},
		{"row 4", "n_prompt", "0", "neither a prompt nor an answer was timed"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestOneMeaning: the same rows as JSONL and CSV say the same.
func TestOneMeaning(t *testing.T) {
	want := read(t, benchJSON)
	lines := strings.ReplaceAll(strings.Trim(benchJSON, "[]\n"), "\n", " ")
	jsonl := strings.ReplaceAll(lines, "},", "}\n")
	if d := cmp.Diff(want, read(t, jsonl)); d != "" {
		t.Errorf("JSONL: %s", d)
	}
	csv := "gpu_info,model_type,flash_attn,n_gpu_layers,n_prompt,n_gen,n_depth,avg_ts\n" +
		"\"NVIDIA GeForce RTX 4090\",\"llama 8B Q4_K - Medium\",\"1\",\"99\",\"0\",\"128\",\"4096\",\"120.25\"\n"
	table := read(t, csv).Observations
	if len(table) != 1 {
		t.Fatalf("CSV: %+v", table)
	}
	table[0].At = "row 2"
	if d := cmp.Diff(want.Observations[1], table[0]); d != "" {
		t.Errorf("CSV: %s", d)
	}
}

func TestLlamaBenchMarkdown(t *testing.T) {
	got := read(t, benchMarkdown)
	row := Observation{Model: "llama 70B Q4_K - Medium", Weights: "Q4_K - Medium", Hardware: "NVIDIA GeForce RTX 3090", Devices: 2,
		Engine: "llama.cpp", Build: "b6123", Backend: "CUDA", Concurrency: 1, Requests: 1, GPULayers: "99", Flash: "1",
		Params: 70_550_000_000}
	var want [3]Observation
	for i := range want {
		want[i] = row
	}
	want[0].At, want[0].Test, want[0].Prompt, want[0].Value, want[0].Deviation = "line 6", Prefill, 512, 950.12, 3.40
	want[1].At, want[1].Test, want[1].Answer, want[1].Depth, want[1].Value, want[1].Deviation = "line 7", Decode, 128, 4096, 17.31, 0.02
	want[2].At, want[2].Test, want[2].Prompt, want[2].Answer, want[2].Value, want[2].Deviation = "line 8", Mixed, 512, 128, 70, 0.1
	if d := cmp.Diff(want[:], got.Observations); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Refusal{{"line 9", "t/s", "0.00", "nothing was measured"}}, got.Refused); d != "" {
		t.Error(d)
	}
}

func TestServing(t *testing.T) {
	got := read(t, serveJSON)
	row := Observation{At: "row 1", Model: "Qwen/Qwen3-32B", Hardware: "h100-sxm-80gb", Devices: 1, Engine: "vllm", Prompt: 1024,
		Answer: 512, Concurrency: 64, Requests: 640}
	ttft, tpot, out := row, row, row
	ttft.Test, ttft.Value, tpot.Test, tpot.Value, out.Test, out.Value = TTFT, 310.5, TPOT, 18.4, Output, 3276.8
	if d := cmp.Diff(&File{Format: "vllm bench serve", Observations: []Observation{ttft, tpot, out}}, got); d != "" {
		t.Error(d)
	}
}

func TestSGLang(t *testing.T) {
	got := read(t, sglangJSONL)
	if got.Format != "SGLang bench_serving" || len(got.Observations) != 3 || got.Observations[1].Value != 30.5 ||
		got.Observations[1].Engine != "sglang" || got.Observations[1].Concurrency != 16 {
		t.Errorf("%+v", got)
	}
	want := []Refusal{{At: "line 3", Why: "is not a JSON object"},
		{"row 2", "request_rate", "4.0", "requests that come at a rate tell how fast they came: run with --max-concurrency"}}
	for i := range got.Refused {
		got.Refused[i].Why, _, _ = strings.Cut(got.Refused[i].Why, ": invalid")
	}
	if d := cmp.Diff(want, got.Refused); d != "" {
		t.Error(d)
	}
}

func TestOffline(t *testing.T) {
	l := read(t, `{"avg_latency": 2.5, "latencies": [2.4, 2.6], "percentiles": {"50": 2.5}}`)
	th := read(t, `{"elapsed_time": 10.0, "num_requests": 100, "total_num_tokens": 64000, "requests_per_second": 10.0, "tokens_per_second": 6400.0}`)
	want := []Observation{{At: "row 1", Engine: "vllm", Test: Latency, Value: 2.5},
		{At: "row 1", Engine: "vllm", Test: Throughput, Requests: 100, Value: 6400}}
	if d := cmp.Diff(want, append(l.Observations, th.Observations...)); d != "" {
		t.Error(d)
	}
}

// printedSGLang and printedVLLM are what the programs print (python/sglang/bench_serving.py of 0.5, vllm/benchmarks/serve.py of 0.19).
const (
	printedSGLang = `python3 -m sglang.bench_serving --model zai-org/GLM-4.7 --max-concurrency 16
#Input tokens: 80000
============ Serving Benchmark Result ============
Backend:                                 sglang
Traffic request rate:                    inf
Max request concurrency:                 16
Successful requests:                     80
Total input tokens:                      80000
Total generated tokens:                  40000
Total generated tokens (retokenized):    39990
Output token throughput (tok/s):         812.5
Mean TTFT (ms):                          250.5
Mean TPOT (ms):                          18.25
==================================================
`
	printedVLLM = `# Traffic request rate: 4.0
# Maximum request concurrency: None
# ============ Serving Benchmark Result ============
# Successful requests:                     10
# Total input tokens:                      10240
# Total generated tokens:                  1280
# Median TTFT (ms):                        90
# ==================================================
============ Serving Benchmark Result ============
Successful requests:                     10
Total input tokens:                      10240
Total generated tokens:                  1280
Median TPOT (ms):                        20
`
)

// TestPrinted: what benchmarks of servers print is read as their files are; how many asked at a time is told, or open.
func TestPrinted(t *testing.T) {
	got := read(t, printedSGLang)
	row := Observation{At: "line 3", Model: "zai-org/GLM-4.7", Engine: "sglang", Prompt: 1000, Answer: 500, Concurrency: 16, Requests: 80}
	ttft, tpot, out := row, row, row
	ttft.Test, ttft.Value, tpot.Test, tpot.Value, out.Test, out.Value = TTFT, 250.5, TPOT, 18.25, Output, 812.5
	if d := cmp.Diff(&File{Format: "SGLang bench_serving", Observations: []Observation{ttft, tpot, out}}, got); d != "" {
		t.Error(d)
	}
	want := &File{Format: "vllm bench serve",
		Observations: []Observation{{At: "line 9", Engine: "vllm", Prompt: 1024, Answer: 128, Requests: 10, Test: TPOT, Value: 20}},
		Refused: []Refusal{{"line 3", "request_rate", "4.0",
			"requests that come at a rate tell how fast they came: run with --max-concurrency"}}}
	if d := cmp.Diff(want, read(t, printedVLLM)); d != "" {
		t.Error(d)
	}
}

// TestTables: of a page with several tables only those of llama-bench are read.
func TestTables(t *testing.T) {
	got := read(t, "| by | me |\n| -- | -- |\n| x | y |\n\n"+benchMarkdown+"\n| day | t/s |\n| -- | -- |\n| Monday | 3 |\n")
	if len(got.Observations) != 3 || len(got.Refused) != 1 {
		t.Errorf("%+v", got)
	}
	ik := read(t, "| model | test | t/s |\n| - | - | - |\n| llama 8B Q4_0 | tg64@pp512 | 12.5 |\n")
	if o := ik.Observations; len(o) != 1 || o[0].Test != Decode || o[0].Answer != 64 || o[0].Depth != 512 {
		t.Errorf("%+v", ik)
	}
}

func TestTwoColumns(t *testing.T) {
	got := read(t, twoColumns)
	want := &File{Format: "two columns",
		Observations: []Observation{{At: "line 2", Test: Decode, Answer: 1, Concurrency: 1, Value: 61.5},
			{At: "line 3", Test: Decode, Answer: 1, Depth: 4096, Concurrency: 1, Value: 55.25}},
		Refused: []Refusal{{"line 4", "tokens/s", "-1", "a rate or a time is above zero"},
			{"line 5", "tokens/s", "4e12", "is beyond any machine: is the unit tokens/s?"}, {"line 6", "context", "many", "is not a count"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if b := read(t, "batch\ttok/s\n8\t400\n"); b.Observations[0].Test != Output || b.Observations[0].Concurrency != 8 {
		t.Errorf("%+v", b)
	}
}

// TestUnread: what is not a file of benchmarks is an error that says why.
func TestUnread(t *testing.T) {
	for text, says := range map[string]string{
		"":                                  "empty",
		"\xff\xfe":                          "not text",
		"{":                                 "JSON",
		"[1, 2]":                            "not an object",
		"[{}":                               "JSON",
		`{"a": 1}`:                          "no benchmark",
		"context,ms\n1,2\n":                 `"ms"`,
		"size,tokens/s\n1,2\n":              `"size"`,
		"a,b,c\n1,2,3\n":                    "two columns",
		"[" + strings.Repeat("{},", 200000): "more than",
	} {
		_, err := Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: %v, want one that says %s", text, err, says)
		}
	}
}

func TestQuantOf(t *testing.T) {
	for text, want := range map[string]string{"llama 7B Q4_0": "Q4_0", "llama 8B Q4_K - Medium": "Q4_K - Medium",
		"gpt-oss 20B MXFP4 MoE": "MXFP4 MoE", "qwen2 7B F16": "F16", "llama 8B IQ4_XS - 4.25 bpw": "IQ4_XS - 4.25 bpw",
		"llama 8B all F32": "all F32", "llama": ""} {
		if got := quantOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzRead: whatever is given, observations are positive, in bounds, and there are no more of them than rows.
func FuzzRead(f *testing.F) {
	for _, s := range []string{benchJSON, benchMarkdown, serveJSON, sglangJSONL, twoColumns, `{"avg_latency": 1}`, "n_gen,avg_ts\n1,2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(data)
		if err != nil {
			return
		}
		for _, o := range got.Observations {
			if !(o.Value > 0 && o.Value <= longest*1e3) || o.Test.Unit() == "" || o.At == "" || o.Depth < 0 || o.Prompt < 0 ||
				o.Concurrency < 0 {
				t.Errorf("%+v", o)
			}
		}
		if n := len(got.Observations) + len(got.Refused); n > 4*(1+strings.Count(string(data), "\n")+strings.Count(string(data), "{")) {
			t.Errorf("%d figures of %d bytes", n, len(data))
		}
	})
}
