package calibrate

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Results of our own in the formats of other programs.
const (
	guideJSON = `{"args": {"model": "Qwen/Qwen3-32B"}, "benchmarks": [
 {"config": {"strategy": {"type_": "concurrent", "streams": 8}}, "metrics": {"time_to_first_token_ms": {"successful": {"mean": 120.5}, "errored": {"mean": 0}},
  "inter_token_latency_ms": {"successful": {"mean": 21.5}}, "output_tokens_per_second": {"successful": {"mean": 350.0}},
  "prompt_token_count": {"successful": {"mean": 1000.2}}, "output_token_count": {"successful": {"mean": 999.6}}}, "requests": {"successful": [{"output": "}]"}]}},
 {"args": {"strategy": {"type_": "constant", "rate": 4}}, "metrics": {}},
 {"args": {"strategy": {"type_": "synchronous"}}, "worker": {"backend_model": "m"}, "metrics": {"time_to_first_token_ms": {"mean": NaN}}},
 "no benchmark"]}`
	localJSON = `{"accelerator": {"name": "NVIDIA GeForce RTX 4090", "type": "GPU", "memory_gb": 23.99}, "test_info": {"model": {"name": "Llama 3.1 8B Instruct", "quantization": "Q4_K - Medium"},
 "runtime": {"name": "llamafile", "version": "0.9.3"}}, "benchmark_results": [
 {"test_name": "pp1024+tg16", "prompt_length": 1024, "generation_length": 16, "prompt_tokens_per_second": 9000.5, "generated_tokens_per_second": 130.25, "time_to_first_token_ms": 120},
 {"test_name": "pp-5", "prompt_length": -5, "generation_length": 16, "prompt_tokens_per_second": 1}]}`
	inferenceJSON = `[{"hw": "h200", "tp": 8, "ep": 1, "dp_attention": "false", "conc": 64, "model": "deepseek-ai/DeepSeek-R1-0528", "framework": "sglang", "precision": "fp8", "isl": 1024, "osl": 8192,
 "tput_per_gpu": 400, "output_tput_per_gpu": 350.5, "mean_ttft": 0.25, "mean_tpot": 0.0215, "median_intvty": 46},
 {"hw": "b200", "tp": 4, "conc": 4, "framework": "trt", "spec_decoding": "mtp", "isl": 1024, "osl": 1024, "output_tput_per_gpu": 1}]`
	mlperfText = "================================================\nMLPerf Results Summary\n================================================\nSUT name : PySUT\nScenario : Server\nMode     : PerformanceOnly\n" +
		"Completed tokens per second                 : 74638.54\nResult is : VALID\n  Min duration satisfied : Yes\nMean First Token latency (ns)               : 200849949\nMean Time per Output Token (ns)               : 61403731\n"
	benchSQL = "CREATE TABLE IF NOT EXISTS llama_bench (\n  build_commit TEXT,\n  avg_ts REAL\n);\n\n" +
		"INSERT INTO llama_bench (build_number, gpu_info, model_type, n_prompt, n_gen, n_depth, avg_ts, stddev_ts) VALUES ('6123', 'NVIDIA GeForce RTX 4090', 'llama 8B Q4_K - Medium', '0', '128', '0', '150.5', '0.25');\n" +
		"INSERT INTO llama_bench (build_number, gpu_info) VALUES ('it''s');\n"
)

func TestGuideLLM(t *testing.T) {
	got := read(t, guideJSON)
	base := Observation{At: "benchmark 1", Model: "Qwen/Qwen3-32B", Concurrency: 8, Prompt: 1000, Answer: 1000}
	ttft, tpot, output := base, base, base
	ttft.Test, ttft.Value, tpot.Test, tpot.Value, output.Test, output.Value = TTFT, 120.5, TPOT, 21.5, Output, 350
	same(t, got, &File{Format: "guidellm", Observations: []Observation{ttft, tpot, output}}, "benchmark 2", "benchmark 3", "benchmark 4")
}

func TestLocalScore(t *testing.T) {
	base := Observation{At: "result 1", Model: "Llama 3.1 8B Instruct", Weights: "Q4_K - Medium", Hardware: "NVIDIA GeForce RTX 4090", Devices: 1, Engine: "llama.cpp", Concurrency: 1, Requests: 1}
	first, second := base, base
	first.Test, first.Prompt, first.Value = Prefill, 1024, 9000.5
	second.Test, second.Answer, second.Depth, second.Value = Decode, 16, 1024, 130.25
	same(t, read(t, localJSON), &File{Format: "LocalScore", Observations: []Observation{first, second}}, "result 2")
}

func TestInferenceX(t *testing.T) {
	base := Observation{At: "row 1", Model: "deepseek-ai/DeepSeek-R1-0528", Weights: "fp8", Hardware: "h200", Devices: 8, Engine: "sglang", Concurrency: 64, Prompt: 922, Answer: 7373}
	ttft, tpot, output := base, base, base
	ttft.Test, ttft.Value, tpot.Test, tpot.Value, output.Test, output.Value = TTFT, 250, TPOT, 21.5, Output, 2804
	same(t, read(t, inferenceJSON), &File{Format: "InferenceX", Observations: []Observation{ttft, tpot, output}}, "row 2")
}

func TestMLPerf(t *testing.T) {
	got := read(t, mlperfText)
	if len(got.Observations) != 3 || got.Observations[1].Test != TTFT || math.Abs(got.Observations[1].Value-200.849949) > 1e-9 || got.Observations[2].Value != 61.403731 {
		t.Errorf("%+v", got)
	}
	invalid := read(t, strings.Replace(mlperfText, ": VALID", ": INVALID", 1))
	if len(invalid.Observations) != 0 || len(invalid.Refused) != 1 {
		t.Errorf("a run that is not valid counts: %+v", invalid)
	}
}

func TestLlamaBenchSQL(t *testing.T) {
	want := Observation{At: "line 6", Model: "llama 8B Q4_K - Medium", Weights: "Q4_K - Medium", Hardware: "NVIDIA GeForce RTX 4090", Devices: 1, Engine: "llama.cpp", Build: "b6123",
		Concurrency: 1, Requests: 1, Test: Decode, Answer: 128, Value: 150.5, Deviation: 0.25}
	same(t, read(t, benchSQL), &File{Format: "llama-bench", Observations: []Observation{want}}, "line 7")
}

// same compares what was read, and where something was refused.
func same(t *testing.T, got, want *File, refused ...string) {
	t.Helper()
	if d := cmp.Diff(want.Observations, got.Observations); d != "" || got.Format != want.Format {
		t.Error(got.Format, d)
	}
	var at []string
	for _, r := range got.Refused {
		at = append(at, r.At)
	}
	if d := cmp.Diff(refused, at); d != "" {
		t.Error(d)
	}
}
