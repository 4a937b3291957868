package sglang

import (
	"math"

	"github.com/memwall/memwall/engine"
)

// What changed between versions, as rows: python/sglang/srt/server_args.py and model_runner.py. A change
// that is only dated stands at the release that followed it (0.2.13 2024-08, 0.3.6 and 0.4.0 2024-11,
// 0.4.6 2025-04, 0.4.8 2025-06, 0.5.0 2025-08, 0.5.3 2025-10, 0.5.6 2025-12, 0.5.8 2026-01, 0.5.10 2026-04,
// 0.5.14 2026-06, 0.5.16 2026-07, 0.5.17 and 0.5.18 2026-08).

// Latest is the newest version that the rules were read from.
var Latest = engine.V(0, 5, 18)

var (
	fp4Cache      = engine.V(0, 5, 5)  // KV cache in FP4 E2M1 (#10078)
	prefillGraphs = engine.V(0, 5, 10) // piecewise graphs of prefill by default (#16331, 2026-03-02)
	draftInPool   = engine.V(0, 5, 14) // the draft's cache is inside the pool (#23862)
	rocmAiter     = engine.V(0, 5, 5)  // the AITER backend takes more for long contexts (#12317)
	towerFactor   = engine.V(0, 4, 9)  // multimodal models keep more free (#7748)
	towerBySize   = engine.V(0, 4, 10) // by the size of the tower (#6881)
	ownStage      = engine.V(0, 5, 18) // states are charged to the stage that has them (#33666)
	embedCache    = engine.V(0, 5, 18) // the cache of embeddings is taken off the pool (#34141)
)

// setup is what the default of mem_fraction_static depends on.
type setup struct {
	version     engine.Version
	mem         float64 // MiB, as nvidia-smi prints; 0 when there is no device
	tp, pp      int64
	dp          int64 // groups of attention within tp
	chunk       int64 // tokens of a prefill step
	graphs      int64 // largest batch with a CUDA graph; 0 without graphs
	latent      bool
	rocm        bool
	gguf        bool
	speculative bool
	context     int64
	tower       *tower // nil for text models
}

// tower is the vision encoder.
type tower struct{ layers, width int64 }

const mibPerGiB = 1024.0

// staticShare is the default of mem_fraction_static: the part of the free memory that weights and pools
// may take.
var staticShare = []engine.Since[func(*setup) float64]{
	{From: engine.V(0, 0, 0), Value: byRanks(0.89, 0.88, 0.86, 0.84, 0.80), Source: "server_args.py, 0.1.25"},
	{From: engine.V(0, 2, 8), Value: byRanks(0.88, 0.87, 0.85, 0.83, 0.79), Source: "2024-07-30 (#823)"},
	{From: engine.V(0, 3, 6), Value: byRanks(0.88, 0.87, 0.85, 0.82, 0.79), Source: "2024-11-16 (#2053)"},
	{From: engine.V(0, 4, 0), Value: small, Source: "2024-12-02 (#2325)"},
	{From: engine.V(0, 4, 6), Value: thirteen, Source: "2025-04-22 (#5604)"},
	{From: engine.V(0, 4, 7), Value: eighteen, Source: "2025-04-30 (#5893), 2025-05-29 (#6718, #6726)"},
	{From: engine.V(0, 4, 8), Value: byClass, Source: "2025-06-10 (#7054)"},
	{From: engine.V(0, 5, 3), Value: bySteps, Source: "2025-09-29 (#10975)"},
}

// byRanks gives a share for 1, 2, 4, 8 and 16 ranks.
func byRanks(one, two, four, eight, sixteen float64) func(*setup) float64 {
	return func(s *setup) float64 {
		switch n := s.tp * s.pp; {
		case n >= 16:
			return sixteen
		case n >= 8:
			return eight
		case n >= 4:
			return four
		case n >= 2:
			return two
		}
		return one
	}
}

var small = byRanks(0.88, 0.87, 0.85, 0.81, 0.79)

const table = 81920 // MiB up to which the shares by ranks hold

func thirteen(s *setup) float64 {
	if s.mem <= table {
		return small(s)
	}
	return (s.mem - 13*mibPerGiB) / s.mem
}

// eighteen keeps the reserve of a 48 GiB device and at least 18 GiB, or 20 with a draft.
func eighteen(s *setup) float64 {
	f := 0.88
	if s.mem <= table {
		f = small(s)
	}
	keep := 18.0
	if s.speculative {
		keep = 20
	}
	switch {
	case s.mem > 180*1000 && !s.rocm:
		return 0.79
	case s.mem > 96*mibPerGiB:
		return math.Min(f+48*mibPerGiB*(1-f)/s.mem, (s.mem-keep*mibPerGiB)/s.mem)
	case s.speculative:
		return f * 0.95
	}
	return f
}

// byClass keeps GiB free by the class of the device.
func byClass(s *setup) float64 {
	p := float64(s.tp * s.pp)
	keep := 32.0
	switch {
	case s.mem < 35*mibPerGiB:
		keep = 2.8 + p/10
	case s.mem < 90*mibPerGiB:
		keep = 9.5 + p/2
	case s.mem < 160*mibPerGiB:
		keep = 12 + p/2
	}
	if s.speculative {
		keep += 2
	}
	return s.less(keep * mibPerGiB)
}

// bySteps keeps free what steps are expected to take, in MiB: 512, 1.5 for each token of a prefill step,
// 2 for each sequence of the largest graph, 128 for each rank, 3 or 4.5 more for each sequence and group of attention, and at least
// 10 GiB on large devices.
func bySteps(s *setup) float64 {
	keep := 512 + 1.5*float64(max(s.chunk, 2048)) + 2*float64(s.graphs) + 128*float64(s.tp*s.pp)
	if s.dp > 1 {
		keep += 3 * float64(s.graphs*s.dp)
		if s.graphs > 300 {
			keep += 1.5 * float64(s.graphs*s.dp)
		}
	}
	if s.prefillGraphs() {
		if s.latent {
			keep += 1.5 * mibPerGiB
		} else {
			keep += 8 * float64(prefillSizes(s.chunk))
		}
	}
	if s.mem > 60*mibPerGiB {
		keep = max(keep, 10*mibPerGiB)
	}
	if s.speculative && s.version.Before(draftInPool) {
		keep += 2 * mibPerGiB
	}
	return s.less(keep)
}

func (s *setup) less(keep float64) float64 { return math.Round((s.mem-keep)/s.mem*1000) / 1000 }

// prefillGraphs: graphs of prefill steps are captured unless something stands against it.
func (s *setup) prefillGraphs() bool {
	return s.version.AtLeast(prefillGraphs) && s.graphs > 0 && s.pp == 1 && s.tower == nil && !s.rocm && !s.gguf && !s.speculative
}

// prefillSizes counts the lengths for which graphs of prefill are captured: 4 to 32 by 4, to 256 by 16, to
// 512 by 32, to 1,024 by 64, to 4,096 by 256, beyond by 512.
func prefillSizes(most int64) (n int64) {
	for _, r := range []struct{ from, to, step int64 }{{4, 32, 4}, {48, 256, 16}, {288, 512, 32}, {576, 1024, 64}, {1280, 4096, 256},
		{4608, math.MaxInt64, 512}} {
		if most >= r.from {
			n += (min(most, r.to)-r.from)/r.step + 1
		}
	}
	return n
}

// fraction is the default of mem_fraction_static.
func fraction(s *setup) float64 {
	f := engine.At(staticShare, s.version).Value(s)
	if s.tower != nil {
		switch {
		case s.version.AtLeast(towerBySize):
			f *= 0.95 * s.tower.factor()
		case s.version.AtLeast(towerFactor):
			f *= 0.90
		}
	}
	if s.rocm && s.context > 8192 && s.version.AtLeast(rocmAiter) {
		f *= 0.85
	}
	return f
}

// towerShares is what model_runner.py makes of mem_fraction_static, stated or not, for a multimodal model ("Automatically reduce
// --mem-fraction-static"), before server_args.py does it for the default alone.
var towerShares = []engine.Since[float64]{
	{From: engine.V(0, 0, 0), Value: 0.95, Source: "model_runner.py, is_multimodal, 0.4.1"},
	{From: engine.V(0, 4, 5), Value: 0.90, Source: "model_runner.py, is_multimodal, of 2025-04"},
	{From: towerFactor, Value: 1, Source: "server_args.py (#7748)"},
}

// share of what is free before loading that weights and pools get; 0 where no share is set.
func share(j *engine.Job) float64 {
	f := j.Plan.MemFractionStatic
	switch {
	case f == nil:
		return 0
	case j.Model.Traits.Multimodal:
		return *f * engine.At(towerShares, j.Version).Value
	}
	return *f
}

// factor keeps 10 % more free for each doubling of ViT-L/14's size, between 0.8 and 1.05.
func (t *tower) factor() float64 {
	ratio := float64(t.layers*t.width*t.width) / (24 * 1024 * 1024)
	return max(0.8, min(1.05, 1-0.1*(ratio-1)))
}

// class of devices by memory, with the default tokens of a prefill step (chunked_prefill_size) and the
// largest batch with a graph (cuda_graph_max_bs) under 4 tensor ranks and from there on.
type class struct {
	below     float64 // MiB
	chunk     int64
	few, many int64
}

var all = math.Inf(1)

var classes = []engine.Since[[]class]{
	{From: engine.V(0, 0, 0), Value: []class{{all, 8192, 160, 160}}, Source: "server_args.py, 0.2.13"},
	{From: engine.V(0, 3, 3), Value: []class{{25000, 2048, 4, 4}, {all, 8192, 160, 160}}, Source: "2024-09-29 (#1534)"},
	{From: engine.V(0, 4, 0), Value: []class{{25000, 2048, 8, 8}, {all, 8192, 160, 160}}, Source: "2024-11-29 (#2268)"},
	{From: engine.V(0, 4, 1), Value: []class{{25000, 2048, 8, 80}, {all, 8192, 160, 160}}, Source: "2024-12-06 (#2360)"},
	{From: engine.V(0, 4, 7), Value: []class{{25000, 2048, 8, 80}, {180000, 8192, 160, 160}, {all, 16384, 160, 160}},
		Source: "2025-05-29 (#6718)"},
	{From: engine.V(0, 4, 8), Value: []class{{35 * 1024, 2048, 8, 80}, {96 * 1024, 8192, 160, 160}, {160 * 1024, 8192, 256, 256},
		{all, 16384, 512, 512}}, Source: "2025-06-10 (#7054)"},
	{From: engine.V(0, 5, 3), Value: steps(16), Source: "2025-09-27 (#10372)"},
	{From: engine.V(0, 5, 5), Value: steps(24), Source: "2025-10-25 (#12124)"},
}

func steps(few int64) []class {
	return []class{{20 * 1024, 2048, 8, 8}, {35 * 1024, 2048, few, 80}, {60 * 1024, 4096, 32, 160}, {160 * 1024, 8192, 256, 512},
		{all, 16384, 512, 512}}
}

// noDevice are the defaults when SGLang cannot tell the memory.
var noDevice = class{chunk: 4096, few: 160, many: 160}

// maxPrefillTokens is what a step takes when prompts are not cut.
const maxPrefillTokens = 16384

func classOf(v engine.Version, mem float64) class {
	if mem == 0 {
		return noDevice
	}
	rows := engine.At(classes, v).Value
	for _, c := range rows {
		if mem < c.below {
			return c
		}
	}
	return rows[len(rows)-1]
}

func (c *class) graphs(tp int64) int64 {
	if tp < 4 {
		return c.few
	}
	return c.many
}
