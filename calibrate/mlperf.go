package calibrate

import (
	"bytes"
	"strings"
)

// isMLPerf recognizes the summary of MLPerf's load generator, mlperf_log_summary.txt.
func isMLPerf(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1<<12)], []byte("MLPerf Results Summary"))
}

// summaryFigures maps lines of the summary (loadgen/results.cc) to tests and unit factors.
var summaryFigures = map[string]struct {
	test Test
	by   float64
}{
	"tokens per second":               {Output, 1},
	"completed tokens per second":     {Output, 1},
	"mean first token latency (ns)":   {TTFT, 1e-6},
	"mean time per output token (ns)": {TPOT, 1e-6},
}

// readMLPerf reads a summary. It states no model, devices or lengths, so its figures have no prediction: requests
// arrive at a rate, or all at once. Invalid runs are refused.
func readMLPerf(data []byte) (*File, error) {
	f, scenario := &File{Format: "MLPerf"}, ""
	for line := range bytes.Lines(data) {
		name, value, ok := strings.Cut(string(line), ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok {
			continue
		}
		switch x, known := summaryFigures[name]; {
		case name == "scenario":
			scenario = clip(value)
		case name == "result is" && value != "VALID":
			f.refuse("result", "Result is", value, "the run does not count")
			f.Observations = nil
			return f, nil
		case known:
			f.add(Observation{At: strings.TrimSpace(scenario + " " + name), Test: x.test}, name, scaled(value, x.by))
		}
	}
	return f, nil
}
