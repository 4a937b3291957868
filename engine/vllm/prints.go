package vllm

import (
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/search"
	"github.com/memwall/memwall/unit"
)

// The lines of vLLM's start-up log, in its words, units and digits: vllm/v1/worker/gpu_worker.py and
// vllm/v1/core/kv_cache_utils.py.

func (s *sizer) prints(r *engine.Rank, p *prepared, l engine.Load) []engine.Print {
	if r.Unlimited {
		return nil
	}
	v := s.job.Version
	out := []engine.Print{loaded(r).print("Model loading took", 4)}
	pool := s.poolBand(r)
	if v.AtLeast(graphsEstimated) && !eager(s.job.Plan) {
		out = append(out, estimatePrint(s.estimatedGraphs(nil, p)))
	}
	if v.AtLeast(engine.V(0, 9, 2)) {
		out = append(out, pool.print("Available KV cache memory", 2))
	}
	out = append(out, s.poolPrint(pool, p, r, l), s.concurrencyPrint(pool, p, r, l))
	need := p.g.needed(l.Context, s.inFlight(), v)
	out = append(out, gibPrint("KV cache needed for one request", need, 2))
	if need > r.KV.Pool {
		n := p.g.longest(r.KV.Pool, l.Context, s.inFlight(), v)
		out = append(out, engine.Print{Name: "Estimated maximum model length", Value: float64(n), Text: strconv.FormatInt(n, 10),
			Unit: "tokens"})
	}
	return out
}

// loaded returns all that loading allocates: the decoder's share and the towers of other parts.
func loaded(r *engine.Rank) budget {
	var items []ledger.Item
	for _, it := range r.Items {
		if it.ID == "weights" || it.ID == "draft.weights" || it.ID == "mtp.weights" || it.ID == "adapters" {
			items = append(items, it)
		}
	}
	t := ledger.Sum(items)
	return budget{t.Bytes, t.Low, t.High}
}

// poolBand returns the budget after ranks have agreed on their blocks.
func (s *sizer) poolBand(r *engine.Rank) budget {
	rest := *r
	rest.Items = nil
	for _, it := range r.Items {
		if it.ID != "kv_cache" && it.ID != "state" {
			rest.Items = append(rest.Items, it)
		}
	}
	return s.available(&rest)
}

func (b budget) print(name string, decimals int) engine.Print {
	p := gibPrint(name, b.mid, decimals)
	p.Low, p.High = b.low.GiB(), b.high.GiB()
	return p
}

func estimatePrint(it ledger.Item) engine.Print {
	return budget{it.Bytes, it.Low, it.High}.print("Estimated CUDA graph memory", 2)
}

// poolPrint is the size of the pool: blocks in V0, tokens in V1.
func (s *sizer) poolPrint(pool budget, p *prepared, r *engine.Rank, l engine.Load) engine.Print {
	least := func(b unit.Bytes) int64 { return min(r.KV.Blocks, p.g.blocks(b)) }
	if s.job.Version.Before(v1Default) {
		return engine.Print{Name: "# GPU blocks", Value: float64(r.KV.Blocks), Text: strconv.FormatInt(r.KV.Blocks, 10),
			Low: float64(least(pool.low)), High: float64(p.g.blocks(pool.high))}
	}
	tokens := func(blocks int64) float64 { return float64(s.poolTokens(&p.g, blocks, l)) }
	return engine.Print{Name: "GPU KV cache size", Value: float64(r.KV.Tokens), Text: unit.Count(r.KV.Tokens), Unit: "tokens",
		Low: tokens(least(pool.low)), High: tokens(p.g.blocks(pool.high))}
}

func (s *sizer) concurrencyPrint(pool budget, p *prepared, r *engine.Rank, l engine.Load) engine.Print {
	of := func(blocks int64) float64 { return s.concurrency(&p.g, blocks, l) }
	c := of(r.KV.Blocks)
	return engine.Print{Name: "Maximum concurrency", Value: c, Text: strconv.FormatFloat(c, 'f', 2, 64), Unit: "x",
		Low: of(min(r.KV.Blocks, p.g.blocks(pool.low))), High: of(p.g.blocks(pool.high))}
}

func gibPrint(name string, b unit.Bytes, decimals int) engine.Print {
	return engine.Print{Name: name, Value: b.GiB(), Text: strconv.FormatFloat(b.GiB(), 'f', decimals, 64), Unit: "GiB"}
}

// firstGroup: between these versions only the first group of layers was counted (#36030).
var firstGroup = []engine.Since[bool]{
	{From: engine.V(0, 0, 0), Value: false, Source: "vllm/v1/core/kv_cache_utils.py"},
	{From: engine.V(0, 14, 0), Value: true, Source: "vllm/v1/core/kv_cache_utils.py, 2026-01"},
	{From: engine.V(0, 18, 0), Value: false, Source: "vllm/v1/core/kv_cache_utils.py (#36030, 2026-03-17)"},
}

// needed returns what a request of the length takes of the pool.
func (g *groups) needed(length, batched int64, v engine.Version) unit.Bytes {
	if len(g.specs) == 0 {
		return 0
	}
	blocks := g.perRequest(length, batched)
	if engine.At(firstGroup, v).Value {
		blocks = g.specs[0].pages(length, batched)
	}
	return unit.Bytes(blocks*g.size) * g.page()
}

// longest returns the longest length that a pool holds, searched like vLLM from 1 to the requested length.
func (g *groups) longest(pool unit.Bytes, length, batched int64, v engine.Version) int64 {
	return search.Largest(0, length, 0, func(n int64) bool { return g.needed(n, batched, v) <= pool })
}
