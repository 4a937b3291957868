package compare

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/engine/vllm"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

const (
	gib       = float64(unit.GiB)
	needsRoom = "give hardware"
)

// vllm gives memwall's figure for one that vLLM prints.
func (c *Comparison) vllm(f *startup.Figure) estimate {
	r := c.rank(f.Device)
	switch f.ID {
	case "weights":
		return c.weights(r).times(1 / gib)
	case "activations":
		return total(sumOf(r.Items, "activations")).times(1 / gib)
	case "non_torch":
		return total(sumOf(r.Items, "driver", "collectives")).times(1 / gib)
	case "graphs", "graphs_estimate":
		return c.graphs(r)
	case "block_tokens":
		return exactly(float64(r.KV.BlockTokens))
	case "kv_needed":
		return c.needed()
	case "free":
		return unknown("it depends on what else runs on the device")
	}
	if r.Unlimited {
		return unknown(needsRoom)
	}
	switch f.ID {
	case "total":
		if c.described {
			return unknown("the device is described by this figure")
		}
		return deviceTotal(c.q.Job).times(1 / gib)
	case "budget":
		return exactly(r.Usable.Bytes().GiB())
	case "kv_available":
		return c.pool(r).times(1 / gib)
	case "kv_bytes":
		return c.pool(r)
	}
	return c.pages(r, f.ID)
}

// rank is the class of ranks that a log's device belongs to: "TP1", "PP1 TP0", "rank 3".
func (c *Comparison) rank(device string) *engine.Rank {
	p := &c.q.Request.Plan
	index := int64(0)
	for _, w := range strings.Fields(device) {
		var n int64
		if _, err := fmt.Sscanf(w, "TP%d", &n); err == nil {
			index += n
		}
		if _, err := fmt.Sscanf(w, "PP%d", &n); err == nil {
			index += n * max(1, p.TP)
		}
	}
	for i := range c.ranks {
		if r := &c.ranks[i]; r.Index <= index && index < r.Index+max(1, r.Count) {
			return r
		}
	}
	return &c.ranks[0]
}

func sumOf(items []ledger.Item, ids ...string) ledger.Total {
	var some []ledger.Item
	for _, it := range items {
		for _, id := range ids {
			if it.ID == id && it.Place == ledger.Device {
				some = append(some, it)
			}
		}
	}
	return ledger.Sum(some)
}

func (c *Comparison) weights(r *engine.Rank) estimate {
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	return total(sumOf(r.Items, "weights", "draft.weights"))
}

func (c *Comparison) graphs(r *engine.Rank) estimate {
	t := sumOf(append(append([]ledger.Item(nil), r.Items...), r.Beside...), "graphs")
	if t.Bytes == 0 {
		return unknown("memwall books no graphs for this plan")
	}
	return total(t).times(1 / gib)
}

// deviceTotal is the memory that the catalog says torch sees.
func deviceTotal(j *engine.Job) estimate {
	d := j.Device(0)
	if d == nil {
		return unknown(needsRoom)
	}
	e := exactly(float64(d.Usable.Value))
	e.basis = d.Usable.Basis
	return e
}

// pool is what is left for pages, with the bands of all that comes before.
func (c *Comparison) pool(r *engine.Rank) estimate {
	if c.noWeights != "" {
		return unknown("%s", c.noWeights)
	}
	var fixed []ledger.Item
	for _, it := range r.Items {
		if it.ID != "kv_cache" && it.ID != "state" {
			fixed = append(fixed, it)
		}
	}
	t, usable := ledger.Sum(fixed), r.Usable.Bytes()
	e := estimate{value: float64(usable - t.Bytes), low: float64(usable - t.High), high: float64(usable - t.Low), basis: t.Basis,
		known: !t.Unknown}
	if c.q.Request.KVCacheMemory > 0 {
		return exactly(float64(c.q.Request.KVCacheMemory))
	}
	return e
}

// pages are blocks, tokens and concurrency of memwall's own pool.
func (c *Comparison) pages(r *engine.Rank, id string) estimate {
	p, ok := vllm.PagesOf(c.q.Sizer)
	pool := c.pool(r)
	if !ok || !pool.known {
		return pool
	}
	e := estimate{basis: pool.basis, known: true}
	for at, bytes := range map[*float64]float64{&e.value: pool.value, &e.low: pool.low, &e.high: pool.high} {
		*at = c.fromPool(p, unit.Bytes(bytes), id)
	}
	if id == "max_length" || id == "kv_blocks" || id == "kv_tokens" || id == "concurrency" {
		return e
	}
	return unknown("memwall has no figure for it")
}

// fromPool is what a pool of so many bytes comes to.
func (c *Comparison) fromPool(p vllm.Pages, pool unit.Bytes, id string) float64 {
	load := c.q.Job.Load()
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

// needed for one request of the full length.
func (c *Comparison) needed() estimate {
	p, ok := vllm.PagesOf(c.q.Sizer)
	if !ok || c.Log.Plan.Context == 0 && c.Request.Context == 0 {
		return unknown("the log does not say how long a sequence may be: give context")
	}
	return exactly(p.Needed(int64(c.q.Request.Context)).GiB())
}

// vllmGiven adds what follows from printed inputs: from the budget and its parts the pool; from the pool's
// size its blocks, tokens, concurrency and the longest request; from blocks or tokens the concurrency.
func (c *Comparison) vllmGiven() {
	p, ok := vllm.PagesOf(c.q.Sizer)
	if !ok {
		return
	}
	c.poolGiven()
	pool, half := c.printedPool()
	if pool != nil {
		given := fmt.Sprintf("%s %s %s", pool.Name, pool.Text, pool.Unit)
		scale := gib
		if pool.Unit == "bytes" {
			scale = 1
		}
		for _, id := range []string{"kv_blocks", "kv_tokens", "concurrency", "max_length"} {
			f := c.smallest(id)
			if f == nil || !c.lengthKnown(id) {
				continue
			}
			e := estimate{known: true}
			e.value = c.fromPool(p, unit.Bytes(pool.Value*scale), id)
			e.low = c.fromPool(p, unit.Bytes((pool.Value-half)*scale), id)
			e.high = c.fromPool(p, unit.Bytes((pool.Value+half)*scale), id)
			c.add(f, e, given)
		}
	}
	c.concurrencyGiven(p)
}

// poolGiven: the budget less what the profile run printed, all of one process.
func (c *Comparison) poolGiven() {
	budget := c.Log.Find("budget")
	if budget == nil {
		return
	}
	e := estimate{value: budget.Value, low: budget.Value - budget.Half(), high: budget.Value + budget.Half(), known: true}
	for _, id := range []string{"weights", "non_torch", "activations"} {
		f := c.lastPrinted(budget, id)
		if f == nil {
			return
		}
		e.value, e.low, e.high = e.value-f.Value, e.low-f.Value-f.Half(), e.high-f.Value+f.Half()
	}
	given := fmt.Sprintf("%s %s less weights, activations and what torch does not count", budget.Name, budget.Text)
	if f := c.lastPrinted(budget, "kv_available"); f != nil {
		c.add(f, e, given)
	}
	if f := c.lastPrinted(budget, "kv_bytes"); f != nil {
		c.add(f, e.times(gib), given)
	}
}

// lastPrinted finds the last figure of a kind that the same process prints; lines about the profile run come
// after the one about loading, with fewer digits.
func (c *Comparison) lastPrinted(of *startup.Figure, id string) (found *startup.Figure) {
	for i := range c.Log.Figures {
		if f := &c.Log.Figures[i]; f.ID == id && f.Device == of.Device {
			found = f
		}
	}
	return found
}

// printedPool is the pool's printed size: in bytes when the log has them, else the smallest of the ranks.
func (c *Comparison) printedPool() (f *startup.Figure, half float64) {
	if f = c.Log.Find("kv_bytes"); f != nil {
		return f, 0
	}
	if f = c.smallest("kv_available"); f != nil {
		half = f.Half()
		return f, half
	}
	return nil, 0
}

// smallest of the ranks' figures decides.
func (c *Comparison) smallest(id string) (least *startup.Figure) {
	for i := range c.Log.Figures {
		if f := &c.Log.Figures[i]; f.ID == id && (least == nil || f.Value < least.Value) {
			least = f
		}
	}
	return least
}

func (c *Comparison) lengthKnown(id string) bool {
	return id != "concurrency" && id != "max_length" || c.Request.Context > 0
}

// concurrencyGiven: from printed blocks, else from printed tokens where they do not come from it.
func (c *Comparison) concurrencyGiven(p vllm.Pages) {
	f := c.smallest("concurrency")
	if f == nil || c.Request.Context == 0 {
		return
	}
	load := c.q.Job.Load()
	if b := c.smallest("kv_blocks"); b != nil {
		e := exactly(p.Concurrency(int64(b.Value), load))
		c.add(f, e, fmt.Sprintf("%s %s", b.Name, b.Text))
		return
	}
	t := c.smallest("kv_tokens")
	if t == nil || p.ByConcurrency() {
		return
	}
	low, high := p.BlocksOf(int64(t.Value))
	e := estimate{value: p.Concurrency(low, load), low: p.Concurrency(low, load), high: p.Concurrency(high, load), known: true}
	c.add(f, e, fmt.Sprintf("%s %s", t.Name, t.Text))
}
