package plain

import (
	"errors"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

func named(t *testing.T, name string) Engine {
	t.Helper()
	for _, e := range Engines() {
		if e.Name() == name {
			return e.(Engine)
		}
	}
	t.Fatalf("no engine %s", name)
	return Engine{}
}

func bytesOf(items []ledger.Item, name string) (n unit.Bytes) {
	for i := range items {
		if items[i].Name == name {
			n += items[i].Bytes
		}
	}
	return n
}

// TestCaches of Llama 3.1 8B, whose token has 65,536 numbers, worked out by hand: steps of 256 tokens with MLX, pages with
// ExLlama, codes with their scales.
func TestCaches(t *testing.T) {
	for _, c := range []struct {
		engine, kv string
		context    int64
		want       unit.Bytes
		reckoned   string
	}{
		{"mlx-lm", "", 1000, 1024 * 131072, "4 steps of 256, 2 bytes"},
		{"mlx-lm", "q4", 1024, 1024 * 36864, "65536 × (4 / 8 + 4 / 64)"},
		{"mlx-lm", "int8", 1024, 1024 * 69632, "65536 × (1 + 4 / 64)"},
		{"exllamav2", "", 300, 512 * 131072, "2 pages of 256"},
		{"exllamav2", "q4", 1024, 1024 * 36864, "65536 × (4 / 8 + 2 / 32)"},
		{"exllamav2", "q6", 1024, 1024 * 53248, "65536 × (6 / 8 + 2 / 32)"},
		{"exllamav2", "fp8", 1024, 1024 * 65536, "a byte each"},
		{"exllamav3", "q5", 1024, 1024 * 45056, "65536 × (5 / 8 + 2 / 32)"},
		{"lmdeploy", "int8", 1024, 1024 * 67584, "65536 × (1 + 4 / 128)"},
		{"lmdeploy", "int4", 1024, 1024 * 34816, "65536 × (4 / 8 + 4 / 128)"},
		{"tgi", "", 1001, 1001 * 131072, "no pages are rounded up"},
	} {
		hardware := "h100"
		if c.engine == "mlx-lm" {
			hardware = "m3-max"
		}
		r := enginetest.Case{Model: "llama-3.1-8b", Hardware: hardware, Plan: plan.Plan{Context: plan.Int(c.context), KV: c.kv}}.Ranks(t, named(t, c.engine))[0]
		if got := bytesOf(r.Items, "KV cache"); got != c.want {
			t.Errorf("%s, %q at %d: %d bytes, want %d (%s)", c.engine, c.kv, c.context, got, c.want, c.reckoned)
		}
	}
}

// TestUnpacked: ExLlama reads a quantised layer from a copy in 16 bits of the whole cache.
func TestUnpacked(t *testing.T) {
	for kv, want := range map[string]unit.Bytes{"": 0, "q4": 8192 * 2048 * 2} {
		r := enginetest.Case{Model: "llama-3.1-8b", Hardware: "rtx-4090", Plan: plan.Plan{Context: 8192, KV: kv}}.Ranks(t, named(t, "exllamav2"))[0]
		if got := bytesOf(r.Items, "one layer's cache unpacked"); got != want {
			t.Errorf("kv %q: %s, want %s", kv, got, want)
		}
	}
}

// TestPools: LMDeploy takes 0.8 of what is free, TGI all but a tenth of the device.
func TestPools(t *testing.T) {
	for name, want := range map[string]func(free, capacity float64) float64{
		"lmdeploy": func(free, _ float64) float64 { return 0.8 * free },
		"tgi":      func(free, capacity float64) float64 { return free - 0.1*capacity },
	} {
		r := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Context: 8192}}.Ranks(t, named(t, name))[0]
		device := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{Context: 8192}}.Ranks(t, named(t, "exllamav2"))[0]
		fixed := float64(r.Needed().Bytes - r.KV.Needed)
		if got, want := float64(r.KV.Pool), want(device.Usable.V-fixed, r.Capacity.V); got < want-2 || got > want+2 {
			t.Errorf("%s: a pool of %.0f bytes, want %.0f", name, got, want)
		}
		if r.KV.Tokens <= 8192 || !r.KV.Preallocated {
			t.Errorf("%s: %d tokens", name, r.KV.Tokens)
		}
	}
}

// TestExpertsOnTheHost: KTransformers keeps them there, and the device holds the rest.
func TestExpertsOnTheHost(t *testing.T) {
	j, s := enginetest.Case{Model: "qwen3-30b-a3b", Hardware: "rtx-4090,host=64GiB@80GB/s", Plan: plan.Plan{Context: 4096, Weights: "q4_k_m"}}.Sizer(t, named(t, "ktransformers"))
	r := s.Size(nil, j.Load())[0]
	experts, rest := bytesOf(r.Items, "experts"), bytesOf(r.Items, "weights but experts")
	if experts+rest != j.Weights.Bytes() || experts < 9*rest {
		t.Errorf("%s of experts and %s of the rest, of %s", experts, rest, j.Weights.Bytes())
	}
	if len(r.Host) != 1 || r.Host[0].Bytes != experts {
		t.Errorf("on the host: %+v", r.Host)
	}
	shares := s.(engine.Sharer).Shares()
	if len(shares) != 2 || shares[1].Device != engine.Host || shares[1].Experts != 1 || shares[0].Experts != 0 {
		t.Errorf("shares: %+v", shares)
	}
}

// TestRefusals: devices of other makers, formats that an engine does not run, caches that it does not keep.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		engine, hardware, field string
		plan                    plan.Plan
	}{
		{"mlx-lm", "mi300x", "engine", plan.Plan{}}, {"exllamav3", "rx-7900-xtx", "engine", plan.Plan{}}, {"lmdeploy", "m3-max", "engine", plan.Plan{}},
		{"mlx-lm", "m3-max", "weights", plan.Plan{Weights: "q4_k_m"}}, {"exllamav2", "rtx-4090", "weights", plan.Plan{Weights: "mlx-4bit"}},
		{"tgi", "h100", "kv", plan.Plan{KV: "q4"}}, {"exllamav2", "rtx-4090", "kv", plan.Plan{KV: "q3"}},
	} {
		e := named(t, c.engine)
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: c.hardware, Plan: c.plan}.Job(t)
		e.Defaults(j)
		var p *plan.Problem
		if err := e.Check(j); !errors.As(err, &p) || p.Field != c.field || p.Fix == "" {
			t.Errorf("%s on %s, %+v: %v", c.engine, c.hardware, c.plan, err)
		}
	}
}

// TestBands hold the figures, and more context never needs less.
func TestBands(t *testing.T) {
	for _, e := range Engines() {
		last := unit.Bytes(0)
		for _, context := range []plan.Int{1024, 5000, 32768} {
			r := enginetest.Case{Model: "qwen3-30b-a3b", Plan: plan.Plan{Context: context}}.Ranks(t, e)[0]
			n := r.Needed()
			if n.Low > n.Bytes || n.Bytes > n.High || n.Bytes <= last {
				t.Errorf("%s at %d: %s from %s to %s, before %s", e.Name(), context, n.Bytes, n.Low, n.High, last)
			}
			last = n.Bytes
		}
	}
}
