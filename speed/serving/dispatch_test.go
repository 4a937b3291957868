package serving

import (
	"math"
	"testing"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
)

// deepseek is how DeepEP's makers time it: 7,168 elements, 8 experts of 256, H800 with a wire of 50 GB/s (deepseek-ai/DeepEP, legacy documentation).
func deepseek(kernels string, ranks float64) dispatch {
	near := math.Min(ranks, 8)
	return dispatch{kernels: kernels, ranks: ranks, near: near, used: 8, link: 200e9, wire: 50e9, uneven: 1}
}

// TestDispatchRows: the low-latency kernels as their makers timed them, 128 tokens a rank, within a seventh.
func TestDispatchRows(t *testing.T) {
	for _, r := range []struct{ ranks, out, back float64 }{
		{8, 77, 114}, {16, 118, 195}, {32, 155, 273}, {64, 173, 314}, {128, 192, 369}, {256, 194, 360},
	} {
		for _, way := range []struct{ bytes, us float64 }{{7168 * (1 + scaleBytes), r.out}, {2 * 7168, r.back}} {
			x := deepseek(plan.DeepEPLowLatency, r.ranks)
			x.bytes = way.bytes
			got := 1e6 * x.seconds(&point{tokens: 128}, nil, nil)
			if off := got/way.us - 1; math.Abs(off) > 1.0/7 {
				t.Errorf("%v ranks: %.0f us, measured %.0f", r.ranks, got, way.us)
			}
		}
	}
}

// TestDispatchRates: the normal kernels reach the rates that were measured, of which a share stays within the node: 4,096 tokens on
// H800 over two nodes and more, where the wire bounds them (the same: 58 and 51 GB/s over 32 and 64 ranks).
func TestDispatchRates(t *testing.T) {
	moe := &model.Experts{N: 256, Used: 8, Groups: 8, GroupsUsed: 4}
	for _, r := range []struct{ ranks, rate float64 }{{32, 58e9}, {64, 51e9}} {
		nodes := r.ranks / 8
		reached := math.Min(4, nodes) // groups are on nodes of their own
		x := deepseek(plan.DeepEPNormal, r.ranks)
		x.bytes, x.nodes = 7168*(1+scaleBytes), reached*(1-1/nodes)
		got := 4096 * x.bytes * reached / (x.seconds(&point{tokens: 4096, batch: speed.Batch{Prefill: 4096}}, nil, nil) - dispatchStart)
		if off := got/r.rate - 1; math.Abs(off) > 0.1 {
			t.Errorf("%v ranks: %.0f GB/s, measured %.0f", r.ranks, got/1e9, r.rate/1e9)
		}
	}
	if n := spread(moe, 8); math.Abs(n-4) > 1e-9 {
		t.Errorf("groups of a node each: %v nodes, want 4", n)
	}
	if n := spread(moe, 1); n != 1 {
		t.Errorf("one node: %v", n)
	}
	if n := spread(&model.Experts{N: 384, Used: 8}, 4); math.Abs(n-4*(1-math.Pow(0.75, 8))) > 1e-9 {
		t.Errorf("no groups: %v nodes", n)
	}
}

// TestDispatchLaws: more tokens, more ranks and busier experts never take less.
func TestDispatchLaws(t *testing.T) {
	for _, kernels := range []string{plan.DeepEP, plan.DeepEPNormal, plan.DeepEPLowLatency} {
		at := func(ranks, tokens, uneven float64, prefill int64) float64 {
			x := deepseek(kernels, ranks)
			x.bytes, x.nodes, x.others, x.uneven = 10751, math.Min(3, ranks/8-1), 5, uneven
			return x.seconds(&point{tokens: tokens, batch: speed.Batch{Prefill: prefill}}, nil, nil)
		}
		for _, prefill := range []int64{0, 1} {
			for _, worse := range []struct{ ranks, tokens, uneven float64 }{{16, 256, 1}, {8, 512, 1}, {8, 256, 1.5}} {
				if least, more := at(8, 256, 1, prefill), at(worse.ranks, worse.tokens, worse.uneven, prefill); more < least {
					t.Errorf("%s, %+v: %v after %v", kernels, worse, more, least)
				}
			}
		}
	}
}

// steady is a kernel that always takes as long.
type steady float64

func (s steady) seconds(*point, *device, []float64) float64 { return float64(s) }

// TestOverlapByEngine: where SGLang decodes, experts hide nothing of the other half's exchange; with prompts and in vLLM all computing does.
func TestOverlapByEngine(t *testing.T) {
	for _, r := range []struct {
		engine  string
		prefill int64
		left    float64
	}{{"sglang", 0, 0.6}, {"sglang", 1, 0.3}, {"vllm", 0, 0.3}} {
		m := &Model{in: In{Engine: r.engine}, c: []float64{1}}
		s := &stage{ops: []op{{steady(4), 1, "attention", speed.Memory}, {steady(3), 1, multiplied, speed.Memory}, {steady(5), 2, exchanged, speed.Network}}}
		half := &point{batch: speed.Batch{Decodes: 8, Prefill: r.prefill}}
		if slower, left := s.overlap(m, half); slower != 1 || math.Abs(left-r.left) > 1e-9 {
			t.Errorf("%s with %d tokens of prompts: %v times slower, %v left, want 1 and %v", r.engine, r.prefill, slower, left, r.left)
		}
	}
}
