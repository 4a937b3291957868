package calibrate

import (
	"bytes"
	"fmt"
	"strings"
)

// printedNames maps the lines that server benchmarks print to JSON names: vllm/benchmarks/serve.py of vLLM 0.6 to 0.19,
// python/sglang/bench_serving.py of SGLang 0.4 to 0.5.
var printedNames = map[string]string{
	"Backend": "backend", "Traffic request rate": "request_rate", "Request rate configured (RPS)": "request_rate",
	"Max request concurrency": "max_concurrency", "Maximum request concurrency": "max_concurrency", "Successful requests": "completed",
	"Total input tokens": "total_input_tokens", "Total generated tokens": "total_output_tokens",
	"Total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"Output token throughput (tok/s)":      "output_throughput",
	"Mean TTFT (ms)":                       "mean_ttft_ms", "Median TTFT (ms)": "median_ttft_ms",
	"Mean TPOT (ms)": "mean_tpot_ms", "Median TPOT (ms)": "median_tpot_ms",
}

// printedHead is the title of a run's block.
const printedHead = "Serving Benchmark Result"

var (
	printedModel = pattern(`(?:^|[\s(,])(?:--model(?:-path)?[ =]|model=)['"]?([\w./:-]{1,200})`)
	printedEnd   = pattern(`^[#>\s]*={20,}\s*$`)
)

// readPrinted reads the output of server benchmarks, with one or more runs. The parameters precede it: request rate,
// concurrency, and model.
func readPrinted(data []byte) (*File, error) {
	f := &File{}
	r, model, at, inside := record{}, "", "", false
	take := func() {
		if r.has("completed") {
			f.printed(at, r, model)
		}
		r, inside = record{}, false
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSpace(strings.TrimLeft(string(line), "#> \t|"))
		if m := printedModel().FindStringSubmatch(text); m != nil && !inside {
			model = m[1]
		}
		name, value, _ := strings.Cut(text, ":")
		known := printedNames[strings.TrimSpace(name)]
		switch {
		case strings.Contains(text, printedHead):
			if inside {
				take() // one that was truncated
			}
			inside, at = true, fmt.Sprintf("line %d", n)
		case inside && printedEnd().MatchString(string(line)):
			take()
		case known != "":
			r[known] = cell(clip(strings.TrimSpace(value)))
		}
		if len(f.Observations)+len(f.Refused) > maxRows {
			return nil, errRows
		}
	}
	take()
	return f, nil
}

// printed reads one run. SGLang's states its backend.
func (f *File) printed(at string, r record, model string) {
	if model != "" {
		r["model"] = cell(model)
	}
	if r.has("backend") || r.has("total_output_tokens_retokenized") {
		f.Format = "SGLang bench_serving"
		f.sglang(at, r)
		return
	}
	f.Format = "vllm bench serve"
	f.vllmServe(at, r)
}
