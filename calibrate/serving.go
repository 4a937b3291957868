package calibrate

import (
	"math"
	"strconv"
	"strings"
)

// integer parses digits; 0 if invalid.
func integer(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// positive parses a positive number; 0 if invalid.
func positive(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// vllmServe reads the result of vllm bench serve (vllm/benchmarks/serve.py), including --metadata such as
// hardware=h100.
func (f *File) vllmServe(at string, r record) {
	_, engine := r.first("endpoint_type", "backend")
	if engine == "" || engine == "openai" || engine == "openai-chat" || strings.HasPrefix(engine, "vllm") {
		engine = "vllm"
	}
	f.served(at, r, engine)
}

// sglang reads a line of SGLang's bench_serving (python/sglang/bench_serving.py), which may have benchmarked another
// engine.
func (f *File) sglang(at string, r record) {
	engine, _, _ := strings.Cut(r.text("backend"), "-")
	if engine == "trt" {
		engine = "tensorrt-llm"
	}
	f.served(at, r, engine)
}

// served reads the figures of a closed loop. Requests at a fixed rate are not comparable; all at once is a closed loop
// with the number of requests as concurrency.
func (f *File) served(at string, r record, engine string) {
	o := Observation{At: at, Engine: engine, Requests: r.count("completed"), Concurrency: r.count("max_concurrency")}
	_, o.Model = r.first("model_id", "model", "model_path", "tokenizer_id")
	_, o.Hardware = r.first("hardware", "gpu", "gpu_info")
	o.Devices = max(1, r.count("devices"))
	if o.Hardware == "" {
		o.Devices = 0
	}
	if o.Requests == 0 {
		f.refuse(at, "completed", r.text("completed"), "no request was completed")
		return
	}
	if o.Concurrency == 0 {
		rate := r.text("request_rate")
		if x, err := strconv.ParseFloat(rate, 64); err == nil && !math.IsInf(x, 0) {
			f.refuse(at, "request_rate", rate, "requests that come at a rate tell how fast they came: run with --max-concurrency")
			return
		}
		if r.has("request_rate") {
			o.Concurrency = o.Requests // all at once
		}
	}
	o.Prompt, o.Answer = r.count("total_input_tokens")/o.Requests, r.count("total_output_tokens")/o.Requests
	if o.Prompt == 0 || o.Answer == 0 {
		f.refuse(at, "total_input_tokens", r.text("total_input_tokens"), "the numbers of prompt and output tokens are missing")
		return
	}
	f.figures(at, o, r)
}

// servedFigures are the figures by name; the mean follows from throughput, the median substitutes for it.
var servedFigures = []struct {
	test  Test
	names []string
}{
	{TTFT, []string{"mean_ttft_ms", "median_ttft_ms"}},
	{TPOT, []string{"mean_tpot_ms", "median_tpot_ms"}},
	{Output, []string{"output_throughput"}},
}

func (f *File) figures(at string, o Observation, r record) {
	for _, s := range servedFigures {
		name, value := r.first(s.names...)
		if name == "" {
			continue
		}
		o.Test = s.test
		if s.test == TPOT && o.Answer < 2 {
			f.refuse(at, name, value, "an answer of one token has no time between tokens")
			continue
		}
		f.add(o, name, value)
	}
}

// vllmLatency reads the result of vllm bench latency, which states neither model nor lengths: the user must.
func (f *File) vllmLatency(at string, r record) {
	f.add(Observation{At: at, Engine: "vllm", Test: Latency}, "avg_latency", r.text("avg_latency"))
}

// vllmThroughput reads the result of vllm bench throughput: tokens of prompts and outputs together.
func (f *File) vllmThroughput(at string, r record) {
	o := Observation{At: at, Engine: "vllm", Test: Throughput, Requests: r.count("num_requests")}
	f.add(o, "tokens_per_second", r.text("tokens_per_second"))
}
