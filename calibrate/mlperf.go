package calibrate

import (
	"bytes"
	"strings"
)

// isMLPerf tells the summary that MLPerf's load generator writes, mlperf_log_summary.txt.
func isMLPerf(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1<<12)], []byte("MLPerf Results Summary"))
}

// summaryFigures are lines of the summary (loadgen/results.cc), with the factor to the unit of the test.
var summaryFigures = map[string]struct {
	test Test
	by   float64
}{
	"tokens per second":               {Output, 1},
	"completed tokens per second":     {Output, 1},
	"mean first token latency (ns)":   {TTFT, 1e-6},
	"mean time per output token (ns)": {TPOT, 1e-6},
}

// readMLPerf reads a summary. It names neither model nor devices, and no lengths, so that its figures have no prediction: requests come
// at a rate, or all at once. A run that was not valid is refused.
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
