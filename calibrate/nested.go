package calibrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// nested reads results with nested objects; nil for other files.
func nested(data []byte) *File {
	if data[0] != '{' {
		return nil
	}
	var is struct {
		Benchmarks  []json.RawMessage `json:"benchmarks"`
		Accelerator json.RawMessage   `json:"accelerator"`
		Info        json.RawMessage   `json:"accelerator_info"`
	}
	switch {
	case json.Unmarshal(data, &is) != nil:
		return nil
	case len(is.Accelerator)+len(is.Info) > 0:
		return localScore(data)
	case len(is.Benchmarks) > 0:
		return guideLLM(data, is.Benchmarks)
	}
	return nil
}

// mean is the mean over successful requests; guidellm 0.1 wrote it without that level.
type mean struct {
	Successful struct {
		Mean *float64 `json:"mean"`
	} `json:"successful"`
	Mean *float64 `json:"mean"`
}

// text returns the mean, or "".
func (m mean) text() string {
	x := cmp.Or(m.Successful.Mean, m.Mean)
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

func (m mean) count() int64 {
	if x := cmp.Or(m.Successful.Mean, m.Mean); x != nil && *x >= 0 && *x < 1e12 {
		return int64(*x + 0.5)
	}
	return 0
}

// strategy is guidellm's load: who sends requests when.
type strategy struct {
	Type    string `json:"type_"`
	Streams int64  `json:"streams"`
}

// guide is a benchmark of guidellm (GenerativeBenchmark, src/guidellm/benchmark).
type guide struct {
	Args struct {
		Strategy strategy `json:"strategy"`
	} `json:"args"`
	Config struct {
		Strategy strategy `json:"strategy"`
		Backend  struct {
			Model string `json:"model"`
		} `json:"backend"`
	} `json:"config"`
	Worker struct {
		Model string `json:"backend_model"`
	} `json:"worker"`
	Metrics struct {
		TTFT   mean `json:"time_to_first_token_ms"`
		ITL    mean `json:"inter_token_latency_ms"`
		Output mean `json:"output_tokens_per_second"`
		Prompt mean `json:"prompt_token_count"`
		Answer mean `json:"output_token_count"`
	} `json:"metrics"`
}

// guideLLM reads the JSON of guidellm benchmark. Its inter-token latency excludes the first token, its time per output
// token includes it. It does not state the engine of the server.
func guideLLM(data []byte, list []json.RawMessage) *File {
	var whole struct {
		Args struct {
			Model string `json:"model"`
		} `json:"args"`
	}
	f := &File{Format: "guidellm"}
	if err := json.Unmarshal(data, &whole); err != nil {
		f.refuse("args", "", "", "cannot be read: "+clip(err.Error()))
	}
	for i, raw := range list {
		at := fmt.Sprintf("benchmark %d", i+1)
		var g guide
		if err := json.Unmarshal(raw, &g); err != nil {
			f.refuse(at, "", "", "is not a benchmark of guidellm: "+clip(err.Error()))
			continue
		}
		f.guide(at, &g, whole.Args.Model)
	}
	return f
}

func (f *File) guide(at string, g *guide, model string) {
	s := g.Config.Strategy
	if s.Type == "" {
		s = g.Args.Strategy
	}
	if s.Type == "synchronous" {
		s.Streams = 1
	}
	m := &g.Metrics
	o := Observation{At: at, Model: clip(cmp.Or(g.Worker.Model, g.Config.Backend.Model, model)), Concurrency: s.Streams,
		Prompt: m.Prompt.count(), Answer: m.Answer.count()}
	switch {
	case s.Type != "synchronous" && s.Type != "concurrent" || s.Streams < 1:
		f.refuse(at, "strategy", s.Type, "is not a fixed number of users: run with --rate-type concurrent")
		return
	case o.Prompt == 0 || o.Answer == 0:
		f.refuse(at, "prompt_token_count", m.Prompt.text(), "the numbers of prompt and output tokens are missing")
		return
	}
	for _, x := range []struct {
		test Test
		name string
		of   mean
	}{{TTFT, "time_to_first_token_ms", m.TTFT}, {TPOT, "inter_token_latency_ms", m.ITL}, {Output, "output_tokens_per_second", m.Output}} {
		if text := x.of.text(); text != "" {
			o.Test = x.test
			f.add(o, x.name, text)
		}
	}
}

// local is a result of LocalScore, as sent by its client (test_info, benchmark_results) or published by its site.
type local struct {
	Accelerator struct{ Name string } `json:"accelerator"`
	Info        struct{ Name string } `json:"accelerator_info"`
	Test        struct {
		Model localModel `json:"model"`
	} `json:"test_info"`
	Model   localModel    `json:"model"`
	Sent    []localResult `json:"benchmark_results"`
	Results []localResult `json:"results"`
}

type localModel struct {
	Name         string `json:"name"`
	Quantization string `json:"quantization"`
	Quant        string `json:"quant"`
}

type localResult struct {
	Prompt    int64       `json:"prompt_length"`
	Answer    int64       `json:"generation_length"`
	PromptN   int64       `json:"n_prompt"`
	AnswerN   int64       `json:"n_gen"`
	PromptTPS json.Number `json:"prompt_tokens_per_second"`
	AnswerTPS json.Number `json:"generated_tokens_per_second"`
	Prefill   json.Number `json:"prompt_tps"`
	Decode    json.Number `json:"gen_tps"`
}

// localScore reads a result of LocalScore, which llamafile runs: output follows the prompt, so decoding is at that
// depth.
func localScore(data []byte) *File {
	f, l := &File{Format: "LocalScore"}, &local{}
	if err := json.Unmarshal(data, l); err != nil {
		f.refuse("the file", "", "", "is not a result of LocalScore: "+clip(err.Error()))
		return f
	}
	m := l.Test.Model
	if m.Name == "" {
		m = l.Model
	}
	base := Observation{Engine: "llama.cpp", Hardware: clip(cmp.Or(l.Accelerator.Name, l.Info.Name)), Devices: 1, Concurrency: 1,
		Requests: 1,
		Model:    clip(m.Name), Weights: clip(cmp.Or(m.Quantization, m.Quant))}
	for i, r := range append(l.Sent, l.Results...) {
		f.localResult(fmt.Sprintf("result %d", i+1), base, &r)
	}
	return f
}

func (f *File) localResult(at string, o Observation, r *localResult) {
	o.At = at
	prompt, answer := cmp.Or(r.Prompt, r.PromptN), cmp.Or(r.Answer, r.AnswerN)
	if prompt < 0 || answer < 0 || max(prompt, answer) > 1e9 {
		f.refuse(at, "prompt_length", strconv.FormatInt(prompt, 10), "is not a count of tokens")
		return
	}
	if text := cmp.Or(r.PromptTPS, r.Prefill).String(); text != "" && prompt > 0 {
		o.Test, o.Prompt, o.Answer, o.Depth = Prefill, prompt, 0, 0
		f.add(o, "prompt_tokens_per_second", text)
	}
	if text := cmp.Or(r.AnswerTPS, r.Decode).String(); text != "" && answer > 0 {
		o.Test, o.Prompt, o.Answer, o.Depth = Decode, 0, answer, prompt
		f.add(o, "generated_tokens_per_second", text)
	}
}

// inferenceX reads an aggregated result of InferenceX (InferenceMAX, utils/process_result.py), with times in seconds
// and rates per device. Lengths are maxima: its client draws from a fraction of them up, --random-range-ratio, which
// its scripts set to 0.8.
func (f *File) inferenceX(at string, r record) {
	engine, _, _ := strings.Cut(r.text("framework"), "-")
	if engine == "trt" || engine == "trtllm" {
		engine = "tensorrt-llm"
	}
	devices := max(1, r.count("tp")) * max(1, r.count("pp"))
	if n := r.count("num_gpus"); n > 0 {
		devices = n
	}
	o := Observation{At: at, Engine: engine, Model: r.text("model"), Hardware: r.text("hw"), Devices: devices, Weights: r.text("precision"),
		Concurrency: r.count("conc"), Prompt: mostToMean(r.count("isl")), Answer: mostToMean(r.count("osl"))}
	if s := r.text("spec_decoding"); s != "" && s != "none" || r.text("disagg") == "true" {
		f.refuse(at, "spec_decoding", s, "drafted tokens, or pools of prefill and decode, are another question")
		return
	}
	if o.Prompt == 0 || o.Answer == 0 || o.Concurrency == 0 {
		f.refuse(at, "isl", r.text("isl"), "isl, osl and conc are not all told")
		return
	}
	for _, x := range []struct {
		test  Test
		by    float64
		names []string
	}{{TTFT, 1e3, []string{"mean_ttft", "median_ttft"}}, {TPOT, 1e3, []string{"mean_tpot", "median_tpot"}},
		{Output, float64(devices), []string{"output_tput_per_gpu"}}} {
		if name, text := r.first(x.names...); name != "" {
			o.Test = x.test
			f.add(o, name, scaled(text, x.by))
		}
	}
}

// mostToMean returns the mean of lengths drawn uniformly from 0.8 of the maximum to the maximum.
func mostToMean(most int64) int64 { return (most*9 + 5) / 10 }

// scaled converts a number to another unit; other text is returned unchanged, to be refused.
func scaled(text string, by float64) string {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(x*by, 'g', -1, 64)
}
