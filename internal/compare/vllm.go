package compare

import (
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/unit"
)

const (
	gib       = float64(unit.GiB)
	needsRoom = "give hardware"
)

// vllmFigures are the predictions of what vLLM prints.
type vllmFigures struct{ *sized }

// estimate returns the counterpart of a figure.
func (v vllmFigures) estimate(f *startup.Figure) estimate {
	r := v.rank(f.Device)
	switch f.ID {
	case "weights":
		return v.weights(r).times(1 / gib)
	case "activations":
		return total(sumOf(r.Items, "activations")).times(1 / gib)
	case "non_torch":
		return total(sumOf(r.Items, "driver", "collectives")).times(1 / gib)
	case "graphs", "graphs_estimate":
		return v.graphs(r)
	case "block_tokens":
		return exactly(float64(r.KV.BlockTokens))
	case "kv_needed":
		return v.needed()
	case "free":
		return unknown("it depends on what else runs on the device")
	}
	if r.Unlimited {
		return unknown(needsRoom)
	}
	switch f.ID {
	case "total":
		if v.described {
			return unknown("the device is described by this figure")
		}
		return deviceTotal(v.q.Job).times(1 / gib)
	case "budget":
		return exactly(r.Usable.Bytes().GiB())
	case "kv_available":
		return v.pool(r).times(1 / gib)
	case "kv_bytes":
		return v.pool(r)
	}
	return v.pages(r, f.ID)
}

// pages estimates blocks, tokens and concurrency of the predicted pool.
func (v vllmFigures) pages(r *engine.Rank, id string) estimate {
	p, ok := vllm.PagesOf(v.q.Sizer)
	pool := v.pool(r)
	if !ok || !pool.known {
		return pool
	}
	e := estimate{basis: pool.basis, known: true}
	for at, bytes := range map[*float64]float64{&e.value: pool.value, &e.low: pool.low, &e.high: pool.high} {
		*at = v.fromPool(p, unit.Bytes(bytes), id)
	}
	if id == "max_length" || id == "kv_blocks" || id == "kv_tokens" || id == "concurrency" {
		return e
	}
	return unknown("memwall has no figure for it")
}

// fromPool returns a figure of a pool of the given bytes.
func (v vllmFigures) fromPool(p vllm.Pages, pool unit.Bytes, id string) float64 {
	load := v.q.Job.Load()
	switch id {
	case "kv_blocks":
		return float64(p.Blocks(pool))
	case "kv_tokens":
		return float64(p.Tokens(p.Blocks(pool), load))
	case "concurrency":
		return p.Concurrency(p.Blocks(pool), load)
	case "max_length":
		return float64(p.Longest(pool, load.Context))
	}
	return 0
}

// needed estimates the memory of one request of the full length.
func (v vllmFigures) needed() estimate {
	p, ok := vllm.PagesOf(v.q.Sizer)
	if !ok || v.Log.Plan.Context == 0 && v.Request.Context == 0 {
		return unknown("the log does not say how long a sequence may be: give context")
	}
	return exactly(p.Needed(int64(v.q.Request.Context)).GiB())
}

// derived returns what follows from printed inputs: the pool from the budget and its parts; blocks, tokens, concurrency and the
// longest request from the pool; concurrency from blocks or tokens.
func (v vllmFigures) derived() (out []api.Line) {
	p, ok := vllm.PagesOf(v.q.Sizer)
	if !ok {
		return nil
	}
	out = v.poolGiven()
	pool, half := printedPool(v.Log)
	if pool != nil {
		given := fmt.Sprintf("%s %s %s", pool.Name, pool.Text, pool.Unit)
		scale := gib
		if pool.Unit == "bytes" {
			scale = 1
		}
		for _, id := range []string{"kv_blocks", "kv_tokens", "concurrency", "max_length"} {
			f := smallest(v.Log, id)
			if f == nil || !v.lengthKnown(id) {
				continue
			}
			e := estimate{known: true}
			e.value = v.fromPool(p, unit.Bytes(pool.Value*scale), id)
			e.low = v.fromPool(p, unit.Bytes((pool.Value-half)*scale), id)
			e.high = v.fromPool(p, unit.Bytes((pool.Value+half)*scale), id)
			out = append(out, line(f, e, given))
		}
	}
	return append(out, v.concurrencyGiven(p)...)
}

// poolGiven returns the pool as the budget less what the same process's profile run printed.
func (v vllmFigures) poolGiven() (out []api.Line) {
	budget := v.Log.Find("budget")
	if budget == nil {
		return nil
	}
	e := estimate{value: budget.Value, low: budget.Value - budget.Half(), high: budget.Value + budget.Half(), known: true}
	for _, id := range []string{"weights", "non_torch", "activations"} {
		f := lastPrinted(v.Log, budget, id)
		if f == nil {
			return nil
		}
		e.value, e.low, e.high = e.value-f.Value, e.low-f.Value-f.Half(), e.high-f.Value+f.Half()
	}
	given := fmt.Sprintf("%s %s less weights, activations and what torch does not count", budget.Name, budget.Text)
	if f := lastPrinted(v.Log, budget, "kv_available"); f != nil {
		out = append(out, line(f, e, given))
	}
	if f := lastPrinted(v.Log, budget, "kv_bytes"); f != nil {
		out = append(out, line(f, e.times(gib), given))
	}
	return out
}

// lastPrinted returns the last figure of a kind from the same process; lines about the profile run come after the one about
// loading, with fewer digits.
func lastPrinted(log *startup.Log, of *startup.Figure, id string) (found *startup.Figure) {
	for i := range log.Figures {
		if f := &log.Figures[i]; f.ID == id && f.Device == of.Device {
			found = f
		}
	}
	return found
}

// printedPool returns the pool's printed size: in bytes if available, else the smallest of the ranks.
func printedPool(log *startup.Log) (f *startup.Figure, half float64) {
	if f = log.Find("kv_bytes"); f != nil {
		return f, 0
	}
	if f = smallest(log, "kv_available"); f != nil {
		half = f.Half()
		return f, half
	}
	return nil, 0
}

func (v vllmFigures) lengthKnown(id string) bool {
	return id != "concurrency" && id != "max_length" || v.Request.Context > 0
}

// concurrencyGiven returns the concurrency from printed blocks, or from printed tokens if these are independent.
func (v vllmFigures) concurrencyGiven(p vllm.Pages) []api.Line {
	f := smallest(v.Log, "concurrency")
	if f == nil || v.Request.Context == 0 {
		return nil
	}
	load := v.q.Job.Load()
	if b := smallest(v.Log, "kv_blocks"); b != nil {
		e := exactly(p.Concurrency(int64(b.Value), load))
		return []api.Line{line(f, e, fmt.Sprintf("%s %s", b.Name, b.Text))}
	}
	t := smallest(v.Log, "kv_tokens")
	if t == nil || p.ByConcurrency() {
		return nil
	}
	low, high := p.BlocksOf(int64(t.Value))
	e := estimate{value: p.Concurrency(low, load), low: p.Concurrency(low, load), high: p.Concurrency(high, load), known: true}
	return []api.Line{line(f, e, fmt.Sprintf("%s %s", t.Name, t.Text))}
}
