package compare

import (
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/unit"
)

// sglangNames maps figures of the log to the names of the engine's prints.
var sglangNames = map[string]string{
	"avail_before": "Load weight begin. avail mem", "avail_after": "Load weight end. avail mem", "avail_pool": "Memory pool end. avail mem",
	"kv_tokens": "max_total_num_tokens", "kv_k": "K size", "kv_v": "V size", "kv_size": "KV size", "states": "max_mamba_cache_size",
}

// sglangFigures are the predictions of what SGLang prints. Its GB are GiB.
type sglangFigures struct{ *sized }

// estimate returns the counterpart of a figure.
func (s sglangFigures) estimate(f *startup.Figure) estimate {
	r := s.rank(f.Device)
	switch f.ID {
	case "weights":
		if e := s.weights(r); !e.known {
			return e
		}
		return total(sumOf(r.Items, "weights", "draft.weights", "fragmentation")).times(1 / gib)
	case "graphs":
		return s.graphs(r)
	}
	if r.Unlimited {
		return unknown(needsRoom)
	}
	if s.noWeights != "" && f.ID != "avail_before" {
		return unknown("%s", s.noWeights)
	}
	if p := printOf(r, sglangNames[f.ID]); p != nil {
		return estimate{value: p.Value, low: p.Low, high: p.High, known: true}
	}
	return unknown("memwall has no figure for it")
}

// printOf returns a print by its name, with its band.
func printOf(r *engine.Rank, name string) *engine.Print {
	for i := range r.Prints {
		if p := r.Prints[i]; p.Name == name {
			p = p.Banded()
			return &p
		}
	}
	return nil
}

// derived returns the tokens that follow from the two printed values of available memory, and the pool size that follows from the
// printed tokens.
func (s sglangFigures) derived() (out []api.Line) {
	p, ok := sglang.PoolsOf(s.q.Sizer)
	if !ok {
		return nil
	}
	before, after := smallest(s.Log, "avail_before"), smallest(s.Log, "avail_after")
	tokens := smallest(s.Log, "kv_tokens")
	if before != nil && after != nil && tokens != nil && s.q.Request.MemFractionStatic != nil {
		at := func(db, da float64) float64 {
			return float64(p.Tokens(unit.Bytes(p.Rest(before.Value+db, after.Value+da) * gib)))
		}
		h := before.Half()
		e := estimate{value: at(0, 0), low: at(h, -h), high: at(-h, h), known: true}
		out = append(out, line(tokens, e, fmt.Sprintf("avail mem %s before and %s after loading", before.Text, after.Text)))
	}
	if tokens != nil {
		out = append(out, s.sizesGiven(p, tokens)...)
	}
	return out
}

// sizesGiven returns the pool's buffer sizes: K and V take half each; a latent cache is one buffer.
func (s sglangFigures) sizesGiven(p sglang.Pools, tokens *startup.Figure) (out []api.Line) {
	size := p.Bytes(int64(tokens.Value)).GiB()
	if size == 0 {
		return nil
	}
	given := fmt.Sprintf("%s %s", tokens.Name, tokens.Text)
	for _, id := range []string{"kv_k", "kv_v", "kv_size"} {
		f := smallest(s.Log, id)
		switch {
		case f == nil:
		case id == "kv_size":
			out = append(out, line(f, exactly(size), given))
		case p.Latent():
			out = append(out, line(f, unknown("the model's cache is latent: one buffer"), given))
		default:
			out = append(out, line(f, exactly(size/2), given))
		}
	}
	return out
}
