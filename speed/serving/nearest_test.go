package serving_test

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed/serving"
)

// TestNearestRuns: a load is nearest to runs of its own device and engine where there are some, and what is near says so.
func TestNearestRuns(t *testing.T) {
	m := compile(t, plan(t, "llama-3.1-70b", "fp8", "h100", shard.Parallel{TP: 4}))
	got := m.Nearest(serving.Load{Users: 16, Prompt: 922, Output: 922}, 2)
	if len(got) != 2 || got[0].Device != "h100-sxm-80gb" || !strings.HasPrefix(got[0].Engine, "vllm") || got[0].PerToken <= 0 || m.RunsOf() < 100 {
		t.Fatalf("%+v, %d runs", got, m.RunsOf())
	}
	if text := got[0].String(); !strings.Contains(text, "ms a token") || !strings.Contains(text, got[0].Model) {
		t.Errorf("%q", text)
	}
}
