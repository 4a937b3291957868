package validation

import (
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// callBound names the line of bounds.tsv: equal is the share called right, cover the share that is not tight.
func callBound(c *Calls) string { return "verdicts: " + c.Kind }

// boundCalls: no verdicts are worse than they were, by being wrong or by being tight.
func boundCalls(t *testing.T, kinds []Calls, held map[string]bound) {
	t.Helper()
	for i := range kinds {
		c := &kinds[i]
		b, ok := held[callBound(c)]
		if !ok {
			t.Errorf("%s has no bounds: go test ./validation -tighten", callBound(c))
			continue
		}
		if c.RightShare() < b.equal-slackBound || c.Decided() < b.cover-slackBound || c.Used() < b.used {
			t.Errorf("%s: worse than %s allows: %.4f right, %.4f decided, %d plans", callBound(c), boundsFile, c.RightShare(), c.Decided(), c.Used())
		}
	}
}

// TestVerdicts: of all plans that somebody reports, as many are called right as was aimed at, few of them by being
// tight; every kind has plans, and those whose end was failure are many.
func TestVerdicts(t *testing.T) {
	kinds := report(t).Calls
	if len(kinds) != len(verdictKinds) {
		t.Errorf("%d kinds, not %d", len(kinds), len(verdictKinds))
	}
	all := AllCalls(kinds)
	if all.RightShare() < VerdictTarget {
		t.Errorf("%.4f called right, %.2f aimed at", all.RightShare(), VerdictTarget)
	}
	if all.Decided() < 0.9 || all.Failed < 30 {
		t.Errorf("%.4f decided; %d plans failed", all.Decided(), all.Failed)
	}
	for _, c := range all.Wrong {
		if c.Right() || c.Row.Source == "" {
			t.Errorf("%s: %+v", c.Row.Name(), c)
		}
	}
}

// TestRight: what agrees with a report.
func TestRight(t *testing.T) {
	for _, c := range []struct {
		ran  bool
		ours memwall.Verdict
		want bool
	}{
		{true, memwall.Fits, true}, {true, memwall.Tight, true}, {true, memwall.DoesNotFit, false}, {true, memwall.Unknown, false},
		{false, memwall.Fits, false}, {false, memwall.Tight, true}, {false, memwall.DoesNotFit, true}, {false, memwall.Unknown, false},
	} {
		if got := (&Call{Ran: c.ran, Ours: c.ours}).Right(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestRan: the end of a plan as logs tell it.
func TestRan(t *testing.T) {
	for _, c := range []struct {
		set, line  string
		ran, known bool
	}{
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"kv_available":"5.00 GiB","tokens":40000,"concurrency":"4.88"}`, true, true},
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"kv_available":"0.20 GiB","kv_needed":"0.44 GiB"}`, false, true},
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"kv_available":"0.20 GiB","max_length":4096}`, false, true},
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"kv_available":"-2.14 GiB"}`, false, true},
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"concurrency":"0.82"}`, false, true},
		{"vllm", `"ask":{"model":"qwen3-8b","context":8192},"got":{"weights":"15.27 GiB"}`, true, false},
		{"sglang", `"ask":{"model":"qwen3-8b","context":8192},"got":{"tokens":8192}`, true, true},
		{"sglang", `"ask":{"model":"qwen3-8b","context":8192},"got":{"tokens":8191}`, false, true},
		{"sglang", `"ask":{"model":"qwen3-8b","context":8192},"got":{"kv_size":"8.46 GiB"}`, false, false},
		{"reports", `"ask":{"model":"qwen3-8b"},"got":{"ran":0}`, false, true},
		{"llama-logs", `"ask":{"model":"qwen3-8b"},"got":{"compute":"70.50 MiB"}`, false, false},
	} {
		s, err := parse(c.set, []byte(`{"about":"x","source":"x"}`+"\n{"+c.line+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if ran, known := s.Rows[0].ran(); known != c.known || known && ran != c.ran {
			t.Errorf("%s %s: %v, %v", c.set, c.line, ran, known)
		}
	}
}

// TestReports: every report has a source and says whether the plan ran.
func TestReports(t *testing.T) {
	sets, err := load("rows/reports/*.jsonl")
	if err != nil || len(sets) == 0 {
		t.Fatal(len(sets), err)
	}
	for i := range sets {
		for j := range sets[i].Rows {
			r := &sets[i].Rows[j]
			if _, known := r.ran(); !known || !strings.Contains(r.Source, "#") && !strings.Contains(r.Source, ":") {
				t.Errorf("%s: %+v", r.Name(), r)
			}
		}
	}
}
