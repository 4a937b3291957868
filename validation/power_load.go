package validation

import (
	"errors"
	"fmt"
	"math"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/cost"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// load is the share of its memory rate and of its peak that a device of the row reached, as a mean over time.
// Bytes and operations are those of the model's operator list; the seconds are the row's.
func (w works) load(r *Row, d *hardware.Device) (cost.Load, error) {
	if rate, ok := r.Got["gb_per_s"]; ok {
		return cost.Load{Memory: rate.Mid * 1e9 / float64(d.Bandwidth.Value)}, nil
	}
	k, err := w.rank(r)
	if err != nil {
		return cost.Load{}, err
	}
	switch {
	case has(r, "tpot_ms"):
		return oneBatch(k, d, r), nil
	case has(r, "tokens_per_s"):
		return steady(k, d, r), nil
	}
	return cost.Load{}, errors.New("the row has no throughput")
}

func has(r *Row, figure string) bool { _, ok := r.Got[figure]; return ok }

// steady is a run whose batch is kept full: a token of each sequence every batch / tokens_per_s seconds. A
// sequence has half of its output cached, as a mean over its life, and its prompt.
func steady(k *listed, d *hardware.Device, r *Row) cost.Load {
	batch := r.Got["batch"].Mid
	b := speed.Batch{Decodes: int64(math.Max(1, math.Round(batch))), Context: int64(r.Ask.PromptTokens) + int64(r.Ask.OutputTokens)/2}
	return timed(k, d, b).over(batch / r.Got["tokens_per_s"].Mid)
}

// oneBatch is a batch of prompts that is computed and then decoded to its end.
func oneBatch(k *listed, d *hardware.Device, r *Row) cost.Load {
	n, in, out := int64(max(1, r.Ask.Sequences)), int64(r.Ask.PromptTokens), int64(r.Ask.OutputTokens)
	all := timed(k, d, speed.Batch{Prefill: n * in, Prompts: n, Finished: n})
	step := timed(k, d, speed.Batch{Decodes: n, Context: in + out/2})
	steps := float64(out - 1)
	all.read += steps * step.read
	all.multiply += steps * step.multiply
	return all.over((r.Got["ttft_ms"].Mid + steps*r.Got["tpot_ms"].Mid) / 1e3)
}

// floor is how long work takes at the least, in seconds: what is read over the memory's rate, and operations
// over the peak.
type floor struct{ read, multiply float64 }

func (f floor) over(seconds float64) cost.Load {
	return cost.Load{Memory: f.read / seconds, Compute: f.multiply / seconds}
}

func timed(k *listed, d *hardware.Device, b speed.Batch) (f floor) {
	p := k.Points(b)
	for i := range k.kernels {
		kernel := &k.kernels[i]
		_, peak := speed.Arithmetic(d, kernel.Scheme)
		decode, prefill, both := kernel.Cost(&p)
		for _, c := range []model.Cost{decode, prefill, both} {
			n := float64(kernel.Count)
			f.read += n * (c.Weights + c.CacheRead + c.CacheWrite) / float64(d.Bandwidth.Value)
			if peak.Known {
				f.multiply += n * float64(c.FLOPs) / float64(peak.Value)
			}
		}
	}
	return f
}

// works remembers ranks: many rows differ in their batch alone.
type works map[string]*listed

// listed is a rank and what it runs.
type listed struct {
	*speed.Rank
	kernels []speed.Kernel
}

func (w works) rank(r *Row) (*listed, error) {
	tp, ep := max(1, r.Ask.TP), max(1, r.Ask.EP)
	name := fmt.Sprintf("%s %s %s %d %d", r.Ask.Model, r.Ask.Weights, r.Ask.KV, tp, ep)
	if k := w[name]; k != nil {
		return k, nil
	}
	found, err := (memwall.Catalog{}).Model(r.Ask.Model)
	if err != nil {
		return nil, err
	}
	recipe := r.Ask.Weights
	if recipe == "" {
		recipe = found.Recipe
	}
	how := dtype.FindRecipe(recipe)
	if how == nil {
		return nil, fmt.Errorf("no recipe is called %q", recipe)
	}
	m := found.Model
	if m == nil {
		m = found.Spec.Model(found.ID)
	}
	stored := m.Store(how)
	placed, err := engine.Place(m.Decoder(), &stored.Parts[0], shard.Parallel{TP: tp, EP: ep})
	if err != nil {
		return nil, err
	}
	exec := model.Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}
	if r.Ask.KV == "fp8" {
		exec.KVBytes = 1
	}
	rank, kernels := speed.Kernels(m, &placed[0], exec)
	w[name] = &listed{rank, kernels}
	return w[name], nil
}
