package sglang

import (
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// TestDispatch: a rank of a wide group holds its share of experts and copies, and DeepEP's buffers beside the budget; the command says
// all of it.
func TestDispatch(t *testing.T) {
	on := true
	wide := func(p plan.Serving) enginetest.Case {
		f := 0.8
		p.MemFractionStatic, p.RedundantExperts = &f, 32
		return enginetest.Case{Model: "deepseek-v3", Hardware: "72xh100",
			Plan: plan.Plan{Weights: "fp8-block", DP: 72, EP: 72, Context: 4096, Sequences: 72 * 256, Serving: p}}
	}
	c := wide(plan.Serving{All2All: plan.DeepEPLowLatency, DispatchTokens: 256, TwoBatches: &on})
	rank := c.Ranks(t, Engine{})[0]
	at := slices.IndexFunc(rank.Beside, func(it ledger.Item) bool { return strings.HasPrefix(it.Name, "DeepEP") })
	if at < 0 || rank.Beside[at].Bytes != 4<<30 {
		t.Errorf("no buffers of 4 GiB beside the budget: %+v", rank.Beside)
	}
	// 58 layers of experts: 4 of 288 on a rank, where 8 ranks hold 36 each
	narrow := c
	narrow.Hardware, narrow.Plan.DP, narrow.Plan.EP = "8xh200", 8, 8
	if more := narrow.Ranks(t, Engine{})[0].Items[0].Bytes - rank.Items[0].Bytes; more < 58*32*3*2048*7168 || more > 58*33*3*2048*7168 {
		t.Errorf("32 experts of 58 layers more take %d", more)
	}
	job, _ := c.Sizer(t, Engine{})
	if command := (Engine{}).Command(job); !strings.HasPrefix(command, mostDispatched+"=256 python") ||
		!strings.Contains(command, "--moe-a2a-backend deepep --deepep-mode low_latency --enable-two-batch-overlap") {
		t.Errorf("command: %s", command)
	}
}

// TestManyCopies: of more copies than experts no neighbour is proposed; those that go evenly are warned of.
func TestManyCopies(t *testing.T) {
	f := 0.8
	for copies, want := range map[plan.Int]string{3000: "--redundant-experts 32", 3056: "copies_many", 320: ""} {
		p := plan.Plan{DP: 72, EP: 72, Serving: plan.Serving{RedundantExperts: copies}}
		p.Weights, p.Context, p.Sequences, p.MemFractionStatic = "fp8-block", 4096, 1, &f
		j := enginetest.Case{Model: "deepseek-v3", Hardware: "72xh100", Plan: p}.Job(t)
		Engine{}.Defaults(j)
		got := ""
		if problem, ok := (Engine{}.Check(j)).(*plan.Problem); ok {
			got = problem.Fix
		}
		for _, n := range j.Notes {
			if n.Code == "copies_many" {
				got = n.Code
			}
		}
		if got != want {
			t.Errorf("%d copies: %q, want %q", copies, got, want)
		}
	}
}

// TestDispatchRefused: what cannot run says what can.
func TestDispatchRefused(t *testing.T) {
	on := true
	for want, p := range map[string]plan.Plan{
		"--redundant-experts 32":           {DP: 72, EP: 72},
		"--redundant-experts 104 or 32":    {DP: 72, EP: 72, Serving: plan.Serving{RedundantExperts: 33}},
		"--dp 8 --ep 8":                    {TP: 8, Serving: plan.Serving{All2All: plan.DeepEP}},
		"--all2all deepep-low-latency":     {DP: 8, EP: 8, Serving: plan.Serving{All2All: plan.DeepEPNormal, DispatchTokens: 64}},
		"1024 or fewer":                    {DP: 8, EP: 8, Serving: plan.Serving{All2All: plan.DeepEP, DispatchTokens: 2048}},
		"--all2all deepep":                 {DP: 8, EP: 8, Serving: plan.Serving{TwoBatches: &on}},
		"--ep, or leave redundant_experts": {TP: 8, Serving: plan.Serving{RedundantExperts: 8}},
	} {
		f := 0.8
		p.Weights, p.Context, p.Sequences, p.MemFractionStatic = "fp8-block", 4096, 1, &f
		c := enginetest.Case{Model: "deepseek-v3", Hardware: "72xh100", Plan: p}
		j := c.Job(t)
		Engine{}.Defaults(j)
		err := Engine{}.Check(j)
		problem, ok := err.(*plan.Problem)
		if !ok || !strings.Contains(problem.Fix, want) {
			t.Errorf("want a fix with %q: %+v", want, err)
		}
	}
}
