package compare

import (
	"fmt"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// sglangNames are the names of the engine's prints for figures of the log.
var sglangNames = map[string]string{
	"avail_before": "Load weight begin. avail mem", "avail_after": "Load weight end. avail mem", "avail_pool": "Memory pool end. avail mem",
	"kv_tokens": "max_total_num_tokens", "kv_k": "K size", "kv_v": "V size", "kv_size": "KV size", "states": "max_mamba_cache_size",
}

// sglang gives memwall's figure for one that SGLang prints. Its GB are GiB.
func (c *Comparison) sglang(f *startup.Figure) estimate {
	r := c.rank(f.Device)
	switch f.ID {
	case "weights":
		if e := c.weights(r); !e.known {
			return e
		}
		return total(sumOf(r.Items, "weights", "draft.weights", "fragmentation")).times(1 / gib)
	case "graphs":
		return c.graphs(r)
	}
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if c.noWeights != "" && f.ID != "avail_before" {
		return unknown("%s", c.noWeights)
	}
	if p := printOf(r, sglangNames[f.ID]); p != nil {
		return estimate{value: p.Value, low: p.Low, high: p.High, known: true}
	}
	return unknown("memwall has no figure for it")
}

// printOf finds a print by its name, its band filled in.
func printOf(r *engine.Rank, name string) *engine.Print {
	for i := range r.Prints {
		if p := r.Prints[i]; p.Name == name {
			p = p.Banded()
			return &p
		}
	}
	return nil
}

// sglangGiven adds the tokens that follow from the two printed availables, and the pool's size that
// follows from its printed tokens.
func (c *Comparison) sglangGiven() {
	p, ok := sglang.PoolsOf(c.q.Sizer)
	if !ok {
		return
	}
	before, after := c.smallest("avail_before"), c.smallest("avail_after")
	tokens := c.smallest("kv_tokens")
	if before != nil && after != nil && tokens != nil && c.q.Request.MemFractionStatic != nil {
		at := func(db, da float64) float64 {
			return float64(p.Tokens(unit.Bytes(p.Rest(before.Value+db, after.Value+da) * gib)))
		}
		h := before.Half()
		e := estimate{value: at(0, 0), low: at(h, -h), high: at(-h, h), known: true}
		c.add(tokens, e, fmt.Sprintf("avail mem %s before and %s after loading", before.Text, after.Text))
	}
	if tokens != nil {
		c.sizesGiven(p, tokens)
	}
}

// sizesGiven: K and V have half of the pool each; a latent cache is one buffer.
func (c *Comparison) sizesGiven(p sglang.Pools, tokens *startup.Figure) {
	size := p.Bytes(int64(tokens.Value)).GiB()
	if size == 0 {
		return
	}
	given := fmt.Sprintf("%s %s", tokens.Name, tokens.Text)
	for _, id := range []string{"kv_k", "kv_v", "kv_size"} {
		f := c.smallest(id)
		switch {
		case f == nil:
		case id == "kv_size":
			c.add(f, exactly(size), given)
		case p.Latent():
			c.add(f, unknown("the model's cache is latent: one buffer"), given)
		default:
			c.add(f, exactly(size/2), given)
		}
	}
}
