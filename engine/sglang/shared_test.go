package sglang

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/internal/datatest"
	"github.com/memwall/memwall/plan"
)

// catalogNames are the models of the logs under the id of a catalog entry with the same layers.
var catalogNames = map[string]string{
	"rank_zephyr_7b_v1_full": "mistral-7b-v0.1", "mistral-7b-instruct-v0.1": "mistral-7b-v0.1", "qwen2.5-7b-instruct": "qwen2.5-7b",
	"mixtral-8x7b-instruct-v0.1": "mixtral-8x7b", "deepseek-r1-distill-qwen-32b": "qwen2.5-32b", "qwq-32b": "qwen2.5-32b",
	"qwen2-72b-instruct-gptq-int4": "qwen2.5-72b", "deepseek-r1": "deepseek-r1", "qwen2-7b-instruct": "qwen2-7b",
	"llama-3-8b-instruct": "llama-3-8b",
}

// sharedRows reads the start-up logs of the shared data; without them there are none.
func sharedRows(t *testing.T) []map[string]string {
	return slices.DeleteFunc(datatest.Shared(t, "vllm_logs.csv"), func(r map[string]string) bool { return r["engine"] != "sglang" })
}

var (
	availBefore = regexp.MustCompile(`avail before load=([0-9.]+)`)
	availAfter  = regexp.MustCompile(`load-end type=\S+ avail=([0-9.]+)`)
)

func number(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return x
}

func found(re *regexp.Regexp, s string) float64 {
	if m := re.FindStringSubmatch(s); m != nil {
		return number(m[1])
	}
	return 0
}

// TestSharedLogs: tokens from the printed availables, and printed pool sizes over printed tokens, on every
// public log whose model the catalog describes. What is worse than the figures known for these rows
// (median 0.3 %, worst 4.9 %) fails.
func TestSharedLogs(t *testing.T) {
	var tokens, cells []float64
	for _, r := range sharedRows(t) {
		path := strings.Split(strings.ToLower(r["model"]), "/")
		id, ok := catalogNames[path[len(path)-1]]
		if !ok || number(r["kv_tokens"]) == 0 {
			continue
		}
		_, s := enginetest.Case{Model: id, Plan: plan.Plan{Context: 4096, TP: max(1, int64(number(r["tp"]))), PP: 1, DP: 1}}.Sizer(t,
			Engine{})
		p := &s.(*sizer).ranks[0].pool
		printed := number(r["kv_tokens"])
		if kv := number(r["kv_cache_gib_available"]); kv > 0 {
			cells = append(cells, math.Abs(kv*(1<<30)/float64(perToken(p.full))/(printed+1)-1))
		}
		before, after, f := found(availBefore, r["note"]), found(availAfter, r["note"]), number(r["gpu_memory_utilization"])
		if before == 0 || after == 0 || f == 0 {
			continue
		}
		n, _ := p.tokens(gib(after - before*(1-f)))
		tokens = append(tokens, math.Abs(float64(n)/printed-1))
		t.Logf("%s %s: %d tokens, printed %.0f", r["source"], id, n, printed)
	}
	if len(tokens) > 0 {
		report(t, "tokens from the printed availables, public logs", tokens, 0.003, 0.049)
	}
	if len(cells) > 0 {
		report(t, "bytes of a token, public logs", cells, 0.003, 0.005)
	}
	for _, l := range logs {
		if l.fraction <= 0 || l.before <= l.after {
			t.Errorf("%s: %+v", l.issue, l)
		}
	}
}
