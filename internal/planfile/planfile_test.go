package planfile

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

func ptr[T any](x T) *T { return &x }

// someAnswer has a fleet with every figure, one that was not played, a plan that trains, and names that mean ill.
func someAnswer() *memwall.Answer {
	full := memwall.Candidate{
		Change: "2xh100, vllm, tp 2", Verdict: memwall.Fits, Headroom: -7, Why: "a \"quote\", a comma\nand a line", USDPerHour: ptr(4.5),
		Plan: &memwall.Request{Model: "=cmd|' /C calc'!A0", Hardware: "2xh100",
			Plan: plan.Plan{Engine: "vllm@0.24", Weights: "fp8", KV: "fp8", TP: 2, PP: 1}},
		Fleet: &memwall.Fleet{Hardware: "h100-sxm-80gb", Replicas: 3, Devices: 6, Meets: "likely", Sure: ptr(int64(4)),
			USDPerHourLow: ptr(4.0), Watts: ptr(900.25)},
		Simulated: &memwall.Simulated{TTFT: &memwall.Percentiles{P50: 100, P99: 250.5}, TPOT: &memwall.Percentiles{P50: 20, P99: 0},
			High: &memwall.Edge{TTFT: &memwall.Percentiles{P99: 400}}},
		Quality: &memwall.Quality{Metric: "+ppl", Mid: 0.25},
		Flags:   map[string]string{"vllm": "-vllm serve x", "vllm (prompts)": "vllm serve y"},
	}
	full.Plan.MaxSeqs, full.Plan.Disaggregated, full.Cost = 64, &plan.Disaggregated{Prefill: 1, Decode: 3}, ptr(0.75)
	return &memwall.Answer{Pareto: []int{0}, Candidates: []memwall.Candidate{full,
		{Change: "not played", Fleet: &memwall.Fleet{Meets: "estimated"}},
		{Change: "trains", Step: &memwall.TrainingStep{Seconds: 2, MFU: 0.5}, Plan: &memwall.Request{Hardware: "8xh100", Devices: 8}}, {}}}
}

// read gives rows by the names of the columns.
func read(t *testing.T, a *memwall.Answer) (out []map[string]string) {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, a); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = r[i]
		}
		out = append(out, row)
	}
	return out
}

func TestRowsComeBack(t *testing.T) {
	rows := read(t, someAnswer())
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []map[string]string{
		{"rank": "1", "hardware": "h100-sxm-80gb", "devices": "6", "engine": "vllm@0.24", "tp": "2", "ep": "", "max_seqs": "64",
			"meets": "likely", "sure_replicas": "4", "ttft_p99_ms": "250.5", "ttft_p99_ms_high": "400", "ttft_p99_ms_low": "",
			"tpot_p99_ms": "0", "e2e_p50_ms": "", "usd_per_hour": "4.5", "usd_per_hour_low": "4", "usd_per_hour_high": "",
			"usd_per_million_tokens": "0.75", "decode_workers": "3", "micro_batch": "", "watts": "900.25", "headroom_bytes": "-7",
			"quality_change": "0.25", "pareto": "yes", "why": "a \"quote\", a comma\nand a line"},
		{"plan": "not played", "meets": "estimated", "ttft_p99_ms": "", "usd_per_hour": "", "pareto": "", "model": ""},
		{"plan": "trains", "step_s": "2", "mfu": "0.5", "replicas": "", "hardware": "8xh100", "devices": "8", "pareto": "no"},
		{"rank": "4", "plan": "", "why": "", "command": ""},
	} {
		for name, cell := range want {
			if got, ok := rows[i][name]; !ok || got != cell {
				t.Errorf("row %d, %s: %q, not %q", i, name, got, cell)
			}
		}
	}
}

// Names and commands of others are not formulas of a spreadsheet; numbers stay numbers.
func TestNoFormulas(t *testing.T) {
	row := read(t, someAnswer())[0]
	for name, want := range map[string]string{"model": "'=cmd|' /C calc'!A0", "quality_metric": "'+ppl",
		"command": "'-vllm serve x\nvllm serve y", "headroom_bytes": "-7"} {
		if row[name] != want {
			t.Errorf("%s: %q, not %q", name, row[name], want)
		}
	}
}

// Scripts rest on the names: each is there once, and those of old stay.
func TestColumns(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range Columns() {
		if seen[name] || name == "" || strings.ToLower(name) != name {
			t.Errorf("column %q", name)
		}
		seen[name] = true
	}
	for _, name := range strings.Fields("rank plan hardware replicas devices engine weights kv tp pp ep dp step_tokens max_seqs meets " +
		"ttft_p50_ms ttft_p99_ms tpot_p50_ms tpot_p99_ms e2e_p50_ms e2e_p99_ms usd_per_hour_low usd_per_hour usd_per_hour_high " +
		"usd_per_million_tokens watts joules_per_token quality_change headroom_bytes pareto why command") {
		if !seen[name] {
			t.Errorf("no column %s", name)
		}
	}
}

func TestNoPlans(t *testing.T) {
	if rows := read(t, &memwall.Answer{}); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}
