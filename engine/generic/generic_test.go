package generic

import (
	"reflect"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestFloor: weights, caches and one row of logits for each sequence, and nothing else. Weights are the
// parameters of the published checkpoints at two bytes.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		model              string
		weights            unit.Bytes
		kv                 unit.Bytes
		logits             unit.Bytes
		perToken           unit.Bytes
		context, sequences plan.Int
	}{
		{"llama-3.1-8b", 2 * 8_030_261_248, 2 * 4096 * 32 * 2 * 8 * 128 * 2, 2 * 128256 * 4, 32 * 4096, 4096, 2},
		{"opt-1.3b", 2 * 1_315_758_080, 2 * 2048 * 24 * 2 * 2048 * 2, 2 * 50272 * 4, 24 * 8192, 2048, 2},
		// 10 full layers hold every token, 52 a window of 1,024.
		{"gemma-3-27b", 0, 2 * (10*4096 + 52*1024) * 2 * 16 * 128 * 2, 2 * 262208 * 4, 10 * 2 * 16 * 128 * 2, 4096, 2},
		// A latent of 512 and a rotary key of 64, in 61 layers.
		{"deepseek-v3", 0, 2 * 4096 * 61 * 576 * 2, 2 * 129280 * 4, 61 * 576 * 2, 4096, 2},
	} {
		r := enginetest.Case{Model: c.model, Plan: plan.Plan{Context: c.context, Sequences: c.sequences}}.Ranks(t, Engine{})[0]
		got := map[string]unit.Bytes{}
		for _, it := range r.Items {
			got[it.ID] += it.Bytes
			if it.Basis != ledger.Exact || it.Place != ledger.Device {
				t.Errorf("%s: %s is %v on %v", c.model, it.Name, it.Basis, it.Place)
			}
		}
		if c.weights > 0 && got["weights"] != c.weights || got["kv_cache"] != c.kv || got["logits"] != c.logits ||
			r.KV.PerToken != c.perToken {
			t.Errorf("%s: %v, %d a token; want weights %d, cache %d, logits %d, %d a token", c.model, got, r.KV.PerToken, c.weights, c.kv,
				c.logits, c.perToken)
		}
		for id := range got {
			if id != "weights" && id != "kv_cache" && id != "logits" {
				t.Errorf("%s holds %s", c.model, id)
			}
		}
		if r.KV.Pool != r.KV.Needed || r.KV.Tokens != -1 || !r.Unlimited {
			t.Errorf("%s: %+v", c.model, r.KV)
		}
	}
}

// TestState: a recurrent state does not grow with the context.
func TestState(t *testing.T) {
	of := func(context, sequences plan.Int) (n unit.Bytes) {
		for _, it := range (enginetest.Case{Model: "mamba-130m", Plan: plan.Plan{Context: context, Sequences: sequences}}).Ranks(t,
			Engine{})[0].Items {
			if it.ID == "state" {
				n += it.Bytes
			}
		}
		return n
	}
	const one = 24 * (1536*16 + 1536*3) * 4 // layers × (states + convolution) in fp32
	if a, b, c := of(1024, 1), of(65536, 1), of(1024, 3); a != one || b != one || c != 3*one {
		t.Errorf("%d, %d, %d; want %d", a, b, c, one)
	}
}

// TestOffload: what lies elsewhere is off the device but for a window of its largest layer, and nothing is lost.
func TestOffload(t *testing.T) {
	c := enginetest.Case{Model: "qwen3-30b-a3b", Hardware: "h100", Plan: plan.Plan{Context: 4096}}
	here := c.Ranks(t, Engine{})[0]
	all := ledger.Sum(here.Items).Bytes
	for _, o := range []struct {
		what  plan.Offload
		place ledger.Place
		moved []string
	}{
		{plan.Offload{Weights: "host"}, ledger.Pinned, []string{"weights"}},
		{plan.Offload{Weights: "nvme"}, ledger.Disk, []string{"weights"}},
		{plan.Offload{KV: "host"}, ledger.Pinned, []string{"kv_cache"}},
		{plan.Offload{Experts: "host"}, ledger.Pinned, []string{"weights"}},
		{plan.Offload{Weights: "nvme", KV: "host"}, ledger.Disk, []string{"weights", "kv_cache"}},
	} {
		c.Plan.Offload = &o.what
		r := c.Ranks(t, Engine{})[0]
		window, off := unit.Bytes(0), unit.Bytes(0)
		for _, it := range r.Items {
			if it.ID == "workspace" {
				window += it.Bytes
			}
			if it.Place != ledger.Device {
				off += it.Bytes
			}
		}
		if sum := ledger.Sum(r.Items).Bytes; sum != all+window || off == 0 || r.Needed().Bytes != all+window-off {
			t.Errorf("%+v: %s in all, %s elsewhere, window %s; %s without offload", o.what, sum, off, window, all)
		}
		if len(r.Host) != len(o.moved) || r.Host[0].Place != o.place || r.Host[0].ID != o.moved[0] {
			t.Errorf("%+v: elsewhere lie %+v", o.what, r.Host)
		}
		if (window > 0) != (o.what.Weights != "" || o.what.Experts != "") || window > all/20 {
			t.Errorf("%+v: a window of %s", o.what, window)
		}
	}
	c.Plan.Offload = &plan.Offload{Experts: "host"}
	if n := c.Ranks(t, Engine{})[0].Needed().Bytes; n > all/8 {
		t.Errorf("%s of %s stay when the experts go", n, all)
	}
}

// TestDenseExperts: a dense model has no experts to move.
func TestDenseExperts(t *testing.T) {
	c := enginetest.Case{Model: "llama-3.1-8b", Plan: plan.Plan{Context: 4096}}
	here := c.Ranks(t, Engine{})
	c.Plan.Offload = &plan.Offload{Experts: "host"}
	if moved := c.Ranks(t, Engine{}); !reflect.DeepEqual(here, moved) {
		t.Errorf("%+v, before %+v", moved, here)
	}
}

// TestShares: ranks hold the model between them: what they hold less the copies is the whole.
func TestShares(t *testing.T) {
	whole := enginetest.Case{Model: "llama-3.1-70b", Plan: plan.Plan{Context: 4096}}.Ranks(t, Engine{})[0]
	of := func(r *engine.Rank, id string) (n unit.Bytes) {
		for _, it := range r.Items {
			if it.ID == id {
				n += it.Bytes
			}
		}
		return n
	}
	ranks := enginetest.Case{Model: "llama-3.1-70b", Hardware: "8xh200", Plan: plan.Plan{TP: 4, PP: 2, Context: 4096}}.Ranks(t, Engine{})
	weights, kv := unit.Bytes(0), unit.Bytes(0)
	for i := range ranks {
		n := unit.Bytes(ranks[i].Count)
		weights, kv = weights+n*of(&ranks[i], "weights"), kv+n*of(&ranks[i], "kv_cache")
	}
	// Norms are copied to four ranks: two for each layer and one at the end, 8,192 numbers each.
	const copies = 3 * (80*2 + 1) * 8192 * 2
	if weights != of(&whole, "weights")+copies || kv != of(&whole, "kv_cache") {
		t.Errorf("ranks hold %d and %d, the model %d and %d", weights, kv, of(&whole, "weights"), of(&whole, "kv_cache"))
	}
}

// TestLaws: formulas give their numbers, and more never needs less.
func TestLaws(t *testing.T) {
	for _, model := range []string{"llama-3.1-8b", "gemma-3-27b", "qwen3-next-80b-a3b", "deepseek-v2-lite", "mamba-130m", "opt-125m"} {
		c := enginetest.Case{Model: model, Hardware: "2xh200",
			Plan: plan.Plan{TP: 2, Context: 2048, Sequences: 2, Offload: &plan.Offload{KV: "host"}}}
		j, s := c.Sizer(t, Engine{})
		b := &ledger.Book{}
		for _, r := range s.Size(b, j.Load()) {
			enginetest.CheckRank(t, b, &r)
		}
		c.Plan.Offload = nil
		_, s = c.Sizer(t, Engine{})
		enginetest.CheckMonotone(t, s)
		if !reflect.DeepEqual(s.Size(nil, j.Load()), s.Size(nil, j.Load())) {
			t.Errorf("%s: two sizes differ", model)
		}
	}
}

// TestFormats: caches take any format by halves; an unknown one is refused.
func TestFormats(t *testing.T) {
	of := func(k, v string) unit.Bytes {
		return enginetest.Case{Model: "llama-3.1-8b", Plan: plan.Plan{Context: 4096, KV: k, KVV: v}}.Ranks(t, Engine{})[0].KV.Needed
	}
	full := of("bf16", "bf16")
	if of("fp8", "") != full/2 || of("bf16", "fp8") != full*3/4 || of("q8_0", "q8_0") != full*34/64 {
		t.Errorf("%d; fp8 %d, half %d, q8_0 %d", full, of("fp8", ""), of("bf16", "fp8"), of("q8_0", "q8_0"))
	}
	j := enginetest.Case{Model: "llama-3.1-8b", Plan: plan.Plan{Context: 4096, KV: "fp9"}}.Job(t)
	Engine{}.Defaults(j)
	if _, err := (Engine{}).Sizer(j); err == nil {
		t.Error("fp9 is taken")
	}
}

// TestDefaults: what is not given, and the remark on eager attention, of which the floor holds nothing.
func TestDefaults(t *testing.T) {
	j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "4xh100", Plan: plan.Plan{Context: 4096, Attention: "eager"}}.Job(t)
	Engine{}.Defaults(j)
	if p := j.Plan; p.KV != "bf16" || p.KVV != "bf16" || p.TP != 4 {
		t.Errorf("%+v", p)
	}
	codes := map[string]int{}
	for _, n := range j.Notes {
		codes[n.Code]++
	}
	if codes["eager_attention"] != 1 || codes["default_used"] != 2 {
		t.Errorf("%v", codes)
	}
	if (Engine{}).Command(j) != "" || (Engine{}).Check(j) != nil {
		t.Error("nothing runs and nothing is refused")
	}
}
