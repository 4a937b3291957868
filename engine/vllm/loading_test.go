package vllm

import (
	"math"
	"math/rand"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

const mib = unit.MiB

// TestCaching: the rules of torch's allocator, one after another.
func TestCaching(t *testing.T) {
	c := &caching{}
	mid := c.take(9 * mib)
	if c.reserved != 20*mib || c.allocated != 9*mib {
		t.Fatalf("9 MiB come from a segment of 20: reserved %s, allocated %s", c.reserved, c.allocated)
	}
	if second := c.take(10 * mib); second.segment != mid.segment || c.allocated != 20*mib {
		t.Errorf("the rest of 1 MiB is not split off: %+v, allocated %s", second, c.allocated)
	}
	large := c.take(35 * mib)
	if large.size != 36*mib || c.reserved != 56*mib {
		t.Errorf("35 MiB take a segment of %s, reserved %s", large.size, c.reserved)
	}
	if split := c.take(10*mib + 512*unit.KiB); split.size != 10*mib+512*unit.KiB || c.reserved != 68*mib {
		t.Errorf("a rest of 1.5 MiB is split off: %s, reserved %s", split.size, c.reserved)
	}
	c.give(large)
	if again := c.take(30 * mib); again.segment != large.segment || again.size != 30*mib || c.reserved != 68*mib {
		t.Errorf("a freed block serves again: %+v", again)
	}
}

// TestCachingJoins: free neighbours become one piece, and everything given back leaves segments whole.
func TestCachingJoins(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 50 {
		c, held, asked := &caching{}, []piece{}, unit.Bytes(0)
		for range 200 {
			if len(held) > 0 && r.Intn(3) == 0 {
				i := r.Intn(len(held))
				c.give(held[i])
				held = append(held[:i], held[i+1:]...)
				continue
			}
			b := rounded(mib + 1 + unit.Bytes(r.Int63n(int64(30*mib))))
			held = append(held, c.take(b))
			asked += b
		}
		checkPieces(t, c, held)
		for _, p := range held {
			c.give(p)
		}
		if c.allocated != 0 || len(c.free) != c.segments {
			t.Fatalf("all is given back: %s allocated, %d pieces in %d segments", c.allocated, len(c.free), c.segments)
		}
	}
}

// checkPieces: what is held and what is free fills the segments, and nothing overlaps.
func checkPieces(t *testing.T, c *caching, held []piece) {
	t.Helper()
	sum, allocated := unit.Bytes(0), unit.Bytes(0)
	all := append(append([]piece(nil), held...), c.free...)
	for i, p := range all {
		sum += p.size
		if i < len(held) {
			allocated += p.size
		}
		for _, o := range all[:i] {
			if o.segment == p.segment && o.at < p.at+p.size && p.at < o.at+o.size {
				t.Fatalf("%+v and %+v overlap", o, p)
			}
		}
	}
	if sum != c.reserved || allocated != c.allocated {
		t.Fatalf("pieces of %s in segments of %s; %s allocated, %s counted", sum, c.reserved, allocated, c.allocated)
	}
}

// TestLoaded: "Model loading took", as public logs print it: vllm issues 6768, 8881, 10116, 10517, 10702,
// 15394, a notebook of unslothai, and server logs of kyuz0/amd-r9700-vllm-toolboxes.
func TestLoaded(t *testing.T) {
	for _, c := range []struct {
		model, weights, hardware string
		version                  engine.Version
		tp                       int64
		want                     float64 // GiB, printed with four digits
	}{
		{"mistral-7b-v0.1", "f16", "h100", engine.V(0, 5, 2), 1, 13.4966},
		{"mistral-large-2407", "fp8-tensor", "4xh100", engine.V(0, 6, 1), 4, 28.7698},
		{"qwen2.5-7b", "", "rtx-4090", engine.V(0, 6, 3), 1, 14.2487},
		{"llama-3.1-70b", "", "8xh200", engine.V(0, 6, 4), 8, 16.4605},
		{"llama-3.1-8b", "", "rtx-3090", engine.V(0, 6, 4), 1, 14.9888},
		{"llama-3.1-8b", "", "rtx-3090", engine.V(0, 12, 0), 1, 14.9889}, // the scalars of attention layers
		{"llama-3.2-3b", "f16", "t4", engine.V(0, 7, 3), 1, 6.0160},
		{"opt-125m", "", "h200", engine.V(0, 8, 1), 1, 0.2389},           // blocks of 1 to 10 MiB share segments
		{"qwen3-14b", "fp8", "rtx-5090", engine.V(0, 12, 0), 1, 15.3388}, // fp32 scales
		{"qwen3-14b", "fp8", "rtx-4090", engine.V(0, 12, 0), 1, 15.3388},
		{"qwen3-14b", "fp8", "rtx-3090", engine.V(0, 12, 0), 1, 15.3291}, // Marlin: bf16 scales, other rests
		{"qwen3-14b", "fp8", "a100-sxm-40gb", engine.V(0, 12, 0), 1, 15.3291},
	} {
		p := plan.Plan{Context: 2048, TP: c.tp, Weights: c.weights}
		rank := enginetest.Case{Model: c.model, Hardware: c.hardware, Version: c.version, Plan: p}.Ranks(t, Engine{})[0]
		if got := enginetest.Print(&rank, "Model loading took").Value; math.Abs(got-c.want) > 0.00005+1e-9 {
			t.Errorf("%s %s on %s, vLLM %s: %.5f GiB, the log has %.4f", c.model, c.weights, c.hardware, c.version, got, c.want)
		}
	}
}

// TestExpandedLatent: from a quantised checkpoint MLA keeps a bf16 copy of the matrices that it absorbs, on
// every rank its heads: 61 layers × 512 × 8 heads × (128 + 128) × 2 bytes for DeepSeek-R1 on 16 ranks
// (vllm-project/vllm#16692 prints 40.3174 GiB in all).
func TestExpandedLatent(t *testing.T) {
	of := func(v engine.Version) engine.Rank {
		return enginetest.Case{Model: "deepseek-r1", Hardware: "16xh100", Version: v, Plan: plan.Plan{TP: 16, Context: 32768}}.Ranks(t, Engine{})[0]
	}
	now, before := of(engine.V(0, 8, 4)), of(engine.V(0, 7, 3))
	p := enginetest.Print(&now, "Model loading took")
	if p.Low > 40.3175 || p.High < 40.3173 {
		t.Errorf("%.4f, %.4f..%.4f GiB", p.Value, p.Low, p.High)
	}
	scalars := int64(61 * 7 * blockRound)
	if got, want := now.Items[0].Bytes-before.Items[0].Bytes, unit.Bytes(61*512*8*256*2+scalars); got < want-16*mib || got > want+16*mib {
		t.Errorf("%s more than before, want about %s", got, want)
	}
}

// TestWeightsBand: the rests of segments are what the order of allocations decides, so they are the band.
func TestWeightsBand(t *testing.T) {
	_, s := enginetest.Case{Model: "qwen3-14b", Hardware: "h100", Version: engine.V(0, 12, 0), Plan: plan.Plan{Weights: "fp8", Context: 4096}}.Sizer(t, Engine{})
	z := s.(*sizer)
	r := z.Size(nil, engine.Load{Context: 4096, Sequences: 1})[0]
	it := &r.Items[0]
	if rests := z.ranks[0].rests; rests <= 0 || it.Low != it.Bytes-rests || it.High != it.Bytes+rests {
		t.Errorf("%d..%d around %d, rests %d", it.Low, it.High, it.Bytes, rests)
	}
}
