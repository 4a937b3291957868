package sglang

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestStaticShare: defaults worked out by hand from server_args.py of each version.
func TestStaticShare(t *testing.T) {
	for _, c := range []struct {
		version  engine.Version
		on       string
		model    string
		tp       int64
		want     float64
		reckoned string
	}{
		{engine.V(0, 2, 0), "a100-sxm-80gb", "llama-3.1-8b", 1, 0.89, "table"},
		{engine.V(0, 2, 13), "8xa100-sxm-80gb", "llama-3.1-70b", 8, 0.83, "table"},
		{engine.V(0, 3, 6), "8xa100-sxm-80gb", "llama-3.1-70b", 8, 0.82, "table"},
		{engine.V(0, 4, 5), "8xh200", "llama-3.1-70b", 8, 0.81, "table"},
		{engine.V(0, 4, 6), "h200", "llama-3.1-8b", 1, (143771. - 13*1024) / 143771, "13 GiB free"},
		{engine.V(0, 4, 6), "a100-sxm-80gb", "llama-3.1-8b", 1, 0.88, "81,920 MiB is still in the table"},
		{engine.V(0, 4, 7), "h200", "llama-3.1-8b", 1, (143771. - 18*1024) / 143771, "18 GiB free"},
		{engine.V(0, 4, 8), "h100-sxm-80gb", "llama-3.1-8b", 1, 0.874, "(81559 - 10 × 1024) / 81559"},
		{engine.V(0, 5, 2), "h200", "llama-3.1-8b", 1, 0.911, "(143771 - 12.5 × 1024) / 143771"},
		{engine.V(0, 5, 2), "rtx-4090", "llama-3.1-8b", 1, 0.879, "(24564 - 2.9 × 1024) / 24564"},
		{engine.V(0, 5, 6), "h100-sxm-80gb", "llama-3.1-8b", 1, 0.835, "512 + 1.5 × 8192 + 2 × 256 + 128 = 13440"},
		{engine.V(0, 5, 6), "8xh100-sxm-80gb", "llama-3.1-70b", 8, 0.818, "512 + 1.5 × 8192 + 2 × 512 + 8 × 128 = 14848"},
		{engine.V(0, 5, 6), "rtx-4090", "llama-3.1-8b", 1, 0.847, "512 + 1.5 × 2048 + 2 × 24 + 128 = 3760"},
		{engine.V(0, 5, 4), "rtx-4090", "llama-3.1-8b", 1, 0.848, "graphs to 16"},
		{engine.V(0, 5, 10), "h100-sxm-80gb", "llama-3.1-8b", 1, 0.83, "13440 + 8 × 58 sizes"},
		{engine.V(0, 5, 10), "8xh200", "deepseek-v3", 8, 0.886, "512 + 12288 + 1024 + 1024 + 1536 = 16384"},
	} {
		j := enginetest.Case{Model: c.model, Hardware: c.on, Version: c.version, Plan: plan.Plan{TP: c.tp, Context: 4096}}.Job(t)
		Engine{}.Defaults(j)
		if got := *j.Plan.MemFractionStatic; math.Abs(got-c.want) > 5e-4 {
			t.Errorf("%s on %s: mem_fraction_static %.4f, want %.4f (%s)", c.version, c.on, got, c.want, c.reckoned)
		}
	}
}

// TestTowerFactor: a tower of ViT-L/14's size keeps 5 % more free, one twice as large 14.5 %.
func TestTowerFactor(t *testing.T) {
	for _, c := range []struct {
		tower tower
		want  float64
	}{{tower{24, 1024}, 1}, {tower{48, 1024}, 0.9}, {tower{12, 768}, 1.05}, {tower{64, 4096}, 0.8}} {
		if got := c.tower.factor(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.tower, got, c.want)
		}
	}
}

// TestPrefillSizes counts the lengths one by one.
func TestPrefillSizes(t *testing.T) {
	for most := int64(1); most <= 9000; most += 13 {
		n := int64(0)
		for s := int64(4); s <= most; {
			n++
			switch {
			case s < 32:
				s += 4
			case s < 256:
				s += 16
			case s < 512:
				s += 32
			case s < 1024:
				s += 64
			case s < 4096:
				s += 256
			default:
				s += 512
			}
		}
		if got := prefillSizes(most); got != n {
			t.Fatalf("%d sizes to %d, want %d", got, most, n)
		}
	}
}

// TestPrintedPoolSizes: the sizes that logs print for their tokens, all from cells of the model.
func TestPrintedPoolSizes(t *testing.T) {
	for _, c := range []struct {
		model, source string
		tp, tokens    int64
		each          float64 // K or V; the whole of a latent cache
		latent        bool
	}{
		{"llama-3-8b", "H200, logs of 0.4", 1, 871371, 53.18, false},
		{"qwen2.5-7b", "sgl-project/sglang#4094", 1, 372945, 9.96, false},
		{"qwen2.5-32b", "sgl-project/sglang#4127 (QwQ-32B)", 4, 46611, 1.42, false},
		{"deepseek-r1", "H200, logs of 0.4", 8, 720206, 47.13, true},
	} {
		_, s := enginetest.Case{Model: c.model, Plan: plan.Plan{TP: c.tp, Context: 4096}}.Sizer(t, Engine{})
		p := &s.(*sizer).ranks[0].pool
		size := (unit.Bytes(c.tokens+p.page) * perToken(p.full)).GiB()
		if !c.latent {
			size /= 2
		}
		if math.Abs(size-c.each) > 0.0051 {
			t.Errorf("%s (%s): %.3f GiB, printed %.2f", c.model, c.source, size, c.each)
		}
	}
}

// TestKVHeadsReplicate: with more ranks than key-value heads every rank keeps one, and latent caches are
// whole on every rank.
func TestKVHeadsReplicate(t *testing.T) {
	for _, c := range []struct {
		model string
		tp    int64
		want  unit.Bytes
	}{{"qwen2.5-7b", 1, 57344}, {"qwen2.5-7b", 4, 14336}, {"llama-3.1-70b", 16, 40960}, {"deepseek-v3", 1, 70272},
		{"deepseek-v3", 8, 70272}} {
		ranks := enginetest.Case{Model: c.model, Plan: plan.Plan{TP: c.tp, Context: 4096}}.Ranks(t, Engine{})
		if got := ranks[0].KV.PerToken; got != c.want {
			t.Errorf("%s at tp %d: %d bytes a token, want %d", c.model, c.tp, got, c.want)
		}
	}
}

// TestSlidingPool: gpt-oss has 18 full and 18 sliding layers of 2,048 bytes; full tokens are
// rest / (18 × 2048 × 1.8).
func TestSlidingPool(t *testing.T) {
	_, s := enginetest.Case{Model: "gpt-oss-120b", Hardware: "h200", Plan: plan.Plan{Context: 32768}}.Sizer(t, Engine{})
	p := &s.(*sizer).ranks[0].pool
	if len(p.sliding) != 1 || p.sliding[0].layers != 18 || p.span != 128 {
		t.Fatalf("sliding layers %+v, window %d", p.sliding, p.span)
	}
	full, sliding := p.tokens(36 * unit.GiB)
	cell := 18 * 2048 * 1.8
	if want := int64(float64(36*unit.GiB) / cell); full != want || sliding != int64(float64(want)*0.8) {
		t.Errorf("%d full and %d sliding tokens, want %d", full, sliding, want)
	}
	for _, c := range []struct {
		model, on string
		version   engine.Version
	}{{"gpt-oss-120b", "h200", engine.V(0, 5, 6)}, {"gemma-3-27b", "h200", Latest}, {"gpt-oss-120b", "b200", engine.V(0, 5, 8)}} {
		_, s := enginetest.Case{Model: c.model, Hardware: c.on, Version: c.version, Plan: plan.Plan{Context: 32768}}.Sizer(t, Engine{})
		if p := &s.(*sizer).ranks[0].pool; len(p.sliding) != 0 {
			t.Errorf("%s on %s, %s: sliding layers have a pool", c.model, c.on, c.version)
		}
	}
}

// TestSharedRows: layers that share keys and values have rows of their own. A log of Gemma 4 E4B in bf16
// (unnamed-repository:54553741852): keys of 644,444 sliding tokens 21.51 GiB, of 805,556 full ones 10.76 GiB: 35 and 7 layers, of
// which 24 keep what they write.
func TestSharedRows(t *testing.T) {
	_, s := enginetest.Case{Model: "gemma-4-e4b", Hardware: "gb10", Version: Latest, Plan: plan.Plan{Context: 32768}}.Sizer(t, Engine{})
	p := &s.(*sizer).ranks[0].pool
	for _, c := range []struct {
		rows   []rows
		tokens int64
		keys   float64
	}{{p.sliding, 644444, 21.51}, {p.full, 805556, 10.76}} {
		if got := float64(c.tokens) * float64(perToken(c.rows)) / 2 / float64(unit.GiB); math.Abs(got-c.keys) > 0.005 {
			t.Errorf("%+v: %d tokens have keys of %.3f GiB, want %.2f", c.rows, c.tokens, got, c.keys)
		}
	}
}

// TestStatePool: the split between states and cells against the rule written out, for a twin of split.
func TestStatePool(t *testing.T) {
	_, s := enginetest.Case{Model: "qwen3-next-80b-a3b", Hardware: "4xh200", Version: engine.V(0, 5, 9),
		Plan: plan.Plan{Context: 8192}}.Sizer(t, Engine{})
	p := &s.(*sizer).ranks[0].pool
	for rest := unit.GiB; rest < 200*unit.GiB; rest += 7 * unit.GiB {
		slots, cells := p.split(rest)
		budget := float64(rest) * 0.9 / 1.9
		if float64(slots)*float64(p.state) > budget || float64(slots+1)*float64(p.state) <= budget {
			t.Errorf("%d states in %s", slots, rest)
		}
		if cells != rest-unit.Bytes(slots)*p.state {
			t.Errorf("%s left of %s", cells, rest)
		}
	}
	if p.rule.slots != 3 || p.page != 1 {
		t.Errorf("rule %+v, page %d", p.rule, p.page)
	}
	_, s = enginetest.Case{Model: "qwen3-next-80b-a3b", Hardware: "4xh200", Version: engine.V(0, 5, 2),
		Plan: plan.Plan{Context: 8192}}.Sizer(t, Engine{})
	if slots, _ := s.(*sizer).ranks[0].pool.split(100 * unit.GiB); slots != 512 {
		t.Errorf("%d states before the prefix cache, want 512", slots)
	}
}

// TestStatesOfStages: until 0.5.17 each stage's pool is charged with the states of the whole model, from 0.5.18 on with those of the
// stage that has most of them.
func TestStatesOfStages(t *testing.T) {
	of := func(v engine.Version) *sizer {
		p := plan.Plan{Context: 8192, TP: 2, PP: 4}
		_, s := enginetest.Case{Model: "qwen3-next-80b-a3b", Hardware: "8xh100", Version: v, Plan: p}.Sizer(t, Engine{})
		return s.(*sizer)
	}
	before, now := of(engine.V(0, 5, 17)), of(engine.V(0, 5, 18))
	var all unit.Bytes
	for i := range before.ranks {
		all += before.ranks[i].pool.state
	}
	for i := range before.ranks {
		old, p := &before.ranks[i].pool, &now.ranks[i].pool
		if old.state+old.elsewhere != all || p.elsewhere != 0 {
			t.Errorf("stage %d: charged with %s of %s, then with %s beside its own", i, old.state+old.elsewhere, all, p.elsewhere)
		}
		fewer, _ := old.split(40 * unit.GiB)
		if more, _ := p.split(40 * unit.GiB); more < 3*fewer {
			t.Errorf("stage %d: %d states, and %d where four stages share them", i, fewer, more)
		}
	}
}

// TestEmbeddings: from 0.5.18 on a multimodal model's pool leaves room for a cache of embeddings, and no other's does.
func TestEmbeddings(t *testing.T) {
	for _, c := range []struct {
		model   string
		version engine.Version
		want    unit.Bytes
	}{{"qwen2.5-vl-7b", engine.V(0, 5, 17), 0}, {"qwen2.5-vl-7b", engine.V(0, 5, 18), 100 * unit.MiB}, {"qwen3-8b", engine.V(0, 5, 18), 0}} {
		j, s := enginetest.Case{Model: c.model, Hardware: "h100", Version: c.version, Plan: plan.Plan{Context: 8192}}.Sizer(t, Engine{})
		var got unit.Bytes
		for _, it := range s.Size(nil, j.Load())[0].Items {
			if it.ID == "encoder_cache" {
				got += it.Bytes
			}
		}
		if got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.model, c.version, got, c.want)
		}
	}
}

// TestFitsWhenEachPoolHolds: needed <= usable says the same as asking each pool for its part.
func TestFitsWhenEachPoolHolds(t *testing.T) {
	for _, model := range []string{"gpt-oss-120b", "qwen3-next-80b-a3b", "llama-3.1-70b"} {
		_, s := enginetest.Case{Model: model, Hardware: "4xh100", Version: engine.V(0, 5, 9), Plan: plan.Plan{Context: 8192}}.Sizer(t,
			Engine{})
		p := &s.(*sizer).ranks[0].pool
		for c := int64(1000); c < 1<<20; c *= 2 {
			for n := int64(1); n < 3000; n = n*3 + 1 {
				l := engine.Load{Context: c, Sequences: n}
				r := s.Size(nil, l)[0]
				slots, cells := p.split(r.KV.Pool)
				full, sliding := p.tokens(cells)
				holds := full >= n*c && (len(p.sliding) == 0 || sliding >= p.windowTokens(l)) && (p.state == 0 || slots >= n*p.rule.slots)
				// within a state and a token of the edge the two may differ
				room := float64(r.Usable.Bytes() - r.Needed().Bytes)
				if fits := room >= 0; fits != holds && math.Abs(room) > 3*float64(p.state)+float64(perToken(p.full)+perToken(p.sliding)) {
					t.Errorf("%s, %d × %d: fits %v, pools hold %v (%s of room)", model, n, c, fits, holds, unit.Bytes(room))
				}
			}
		}
	}
}

// TestLaws over kinds of models, machines and versions.
func TestLaws(t *testing.T) {
	versions := []engine.Version{engine.V(0, 2, 13), engine.V(0, 4, 6), engine.V(0, 5, 2), engine.V(0, 5, 6), engine.V(0, 5, 9), Latest}
	for _, model := range []string{"llama-3.1-8b", "deepseek-v3", "gpt-oss-20b", "gemma-3-27b", "qwen3-next-80b-a3b", "nemotron-h-8b",
		"mamba2-2.7b", "mixtral-8x7b"} {
		for _, on := range []string{"h100", "8xh200", "2xrtx-4090", "8xmi300x", ""} {
			for _, v := range versions {
				c := enginetest.Case{Model: model, Hardware: on, Version: v, Plan: plan.Plan{Context: 9001, Sequences: 5}}
				j, s := c.Sizer(t, Engine{})
				b := &ledger.Book{}
				for _, r := range s.Size(b, j.Load()) {
					enginetest.CheckRank(t, b, &r)
				}
				if v == Latest {
					enginetest.CheckMonotone(t, s)
				}
			}
		}
	}
}

// TestStages: pipeline stages have all layers, the last ones more, and the least pool decides.
func TestStages(t *testing.T) {
	for layers := 1; layers < 100; layers += 7 {
		for stages := 1; stages <= min(8, layers); stages++ {
			sum, last := 0, 0
			for _, n := range stageLayers(layers, stages) {
				if n < last {
					t.Errorf("%d layers in %d stages: %v", layers, stages, stageLayers(layers, stages))
				}
				sum, last = sum+n, n
			}
			if sum != layers {
				t.Errorf("%d layers in %d stages sum to %d", layers, stages, sum)
			}
		}
	}
	ranks := enginetest.Case{Model: "llama-3.1-70b", Hardware: "4xh100", Plan: plan.Plan{Context: 4096, TP: 1, PP: 4}}.Ranks(t, Engine{})
	for _, r := range ranks[1:] {
		if r.KV.Tokens != ranks[0].KV.Tokens {
			t.Errorf("stages with %d and %d tokens", r.KV.Tokens, ranks[0].KV.Tokens)
		}
	}
}

// TestRefusals name the field, the value and the fix.
func TestRefusals(t *testing.T) {
	yes := 0.9
	for _, c := range []struct {
		name, field string
		test        enginetest.Case
	}{
		{"heads", "tp", enginetest.Case{Model: "llama-3.1-8b", Hardware: "8xh100", Plan: plan.Plan{TP: 3}}},
		{"page", "max_num_batched_tokens", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100",
			Plan: plan.Plan{Serving: plan.Serving{BlockSize: 100, MaxBatchedTokens: 250}}}},
		{"format", "kv", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100",
			Plan: plan.Plan{KV: "q8_0", Serving: plan.Serving{MemFractionStatic: &yes}}}},
		{"old fp4", "kv", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: engine.V(0, 5, 0), Plan: plan.Plan{KV: "fp4"}}},
		{"two formats", "kv_v", enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Plan: plan.Plan{KV: "fp8", KVV: "bf16"}}},
	} {
		if c.test.Version == (engine.Version{}) {
			c.test.Version = Latest
		}
		j := c.test.Job(t)
		Engine{}.Defaults(j)
		err := Engine{}.Check(j)
		var p *plan.Problem
		if !errors.As(err, &p) || p.Field != c.field || p.Value == "" || p.Fix == "" || p.Message == "" {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

// TestCommand has only what differs from the defaults.
func TestCommand(t *testing.T) {
	half, off := 0.5, true
	c := enginetest.Case{Model: "llama-3.1-70b", Hardware: "4xh100", Version: Latest,
		Plan: plan.Plan{Context: 16384, KV: "fp8", Serving: plan.Serving{MemFractionStatic: &half, MaxSeqs: 32, EnforceEager: &off}}}
	j, _ := c.Sizer(t, Engine{})
	got := Engine{}.Command(j)
	want := "python -m sglang.launch_server --model-path llama-3.1-70b --tp-size 4 --context-length 16384 --mem-fraction-static 0.5 " +
		"--kv-cache-dtype fp8_e4m3 --max-running-requests 32 --disable-cuda-graph"
	if got != want {
		t.Errorf("%s", got)
	}
	c = enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100", Version: Latest, Plan: plan.Plan{Context: 8192}}
	j, _ = c.Sizer(t, Engine{})
	if got := (Engine{}).Command(j); got != "python -m sglang.launch_server --model-path llama-3.1-8b --context-length 8192" {
		t.Errorf("%s", got)
	}
}

// TestPrints: the lines hold together: what is available after the pool is what was left less the pool and the table of 4,096 requests.
func TestPrints(t *testing.T) {
	r := enginetest.Case{Model: "qwen2.5-7b", Hardware: "h100", Plan: plan.Plan{Context: 8192}}.Ranks(t, Engine{})[0]
	get := func(name string) float64 {
		p := enginetest.Print(&r, name)
		if p == nil {
			t.Fatalf("no %q in %v", name, r.Prints)
		}
		return p.Value
	}
	left := get("Load weight end. avail mem") - get("K size") - get("V size") - 4097*(8192+4)*4.0/float64(unit.GiB)
	if math.Abs(left-get("Memory pool end. avail mem")) > 1e-6 {
		t.Errorf("%g GB left, printed %g", left, get("Memory pool end. avail mem"))
	}
	if int64(get("max_total_num_tokens")) != r.KV.Tokens {
		t.Errorf("%g tokens printed, %d in the pool", get("max_total_num_tokens"), r.KV.Tokens)
	}
	if !strings.HasPrefix(r.Limit, "0.") {
		t.Errorf("limit %q", r.Limit)
	}
}

// TestSmallReserve warns when nothing is left for activations.
func TestSmallReserve(t *testing.T) {
	most := 0.99
	j, _ := enginetest.Case{Model: "llama-3.1-8b", Hardware: "h100",
		Plan: plan.Plan{Context: 8192, Serving: plan.Serving{MemFractionStatic: &most}}}.Sizer(t, Engine{})
	found := false
	for _, n := range j.Notes {
		found = found || n.Code == "small_reserve"
	}
	if !found {
		t.Errorf("no remark in %v", j.Notes)
	}
}

func BenchmarkSize(b *testing.B) {
	_, s := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Context: 8192}}.Sizer(b, Engine{})
	b.ReportAllocs()
	for i := range b.N {
		s.Size(nil, engine.Load{Context: int64(4096 + i&4095), Sequences: 4})
	}
}
