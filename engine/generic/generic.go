// Package generic books what every engine must hold: weights, caches and the logits of one step, with no
// overhead. It is the floor against which engines are compared.
package generic

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// Engine is the floor.
type Engine struct{}

// Name of the engine.
func (Engine) Name() string { return "generic" }

// Latest version: the rules are arithmetic and do not change.
func (Engine) Latest() engine.Version { return engine.V(1, 0, 0) }

// Defaults: caches in the weights' 16-bit format, tensor parallelism over all devices that divide the heads.
func (Engine) Defaults(j *engine.Job) {
	if j.Plan.KV == "" {
		j.Plan.KV = "bf16"
		j.Default("kv", j.Plan.KV)
	}
	if j.Plan.KVV == "" {
		j.Plan.KVV = j.Plan.KV
	}
	engine.DefaultParallel(j)
}

// Check refuses what no engine can do.
func (Engine) Check(j *engine.Job) error { return engine.CheckParallel(j) }

// Command is empty: nothing runs.
func (Engine) Command(*engine.Job) string { return "" }

// Sizer prepares the shares.
func (Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	placed, err := engine.Place(j.Model.Decoder(), &j.Weights.Parts[0], engine.Parallel(j.Plan))
	if err != nil {
		return nil, err
	}
	k, v := dtype.FindFormat(j.Plan.KV), dtype.FindFormat(j.Plan.KVV)
	if k == nil || v == nil {
		return nil, &plan.Problem{Field: "kv", Value: j.Plan.KV, Message: fmt.Sprintf("kv = %s is no known format", j.Plan.KV), Fix: "bf16, fp8 or q8_0"}
	}
	return &sizer{job: j, placed: placed, k: k, v: v}, nil
}

type sizer struct {
	job    *engine.Job
	placed []engine.Placed
	k, v   *dtype.Format
}

// Size books weights, caches and logits on each class of ranks.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	out := make([]engine.Rank, len(s.placed))
	for i := range s.placed {
		out[i] = s.rank(b, &s.placed[i], l)
	}
	return out
}

func (s *sizer) rank(b *ledger.Book, pl *engine.Placed, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, pl)
	r.Items = append(r.Items, engine.WeightItem(b, pl, "file tensors as stored"))
	r.Items = append(r.Items, engine.OtherParts(b, s.job, pl)...)
	kv, state := engine.CacheItems(b, pl, s.k, s.v, s.stateFormat(), l)
	r.Items = append(r.Items, kv...)
	r.Items = append(r.Items, state...)
	if pl.Post {
		r.Items = append(r.Items, s.logits(b, pl, l))
	}
	r.KV = engine.KV{PerToken: engine.PerToken(pl, s.k, s.v), Tokens: -1}
	for _, it := range kv {
		r.KV.Needed += it.Bytes
	}
	r.KV.Pool = r.KV.Needed
	return r
}

func (s *sizer) stateFormat() *dtype.Format {
	if s.job.Model.State != nil {
		return s.job.Model.State
	}
	return dtype.F32
}

func (s *sizer) logits(b *ledger.Book, pl *engine.Placed, l engine.Load) ledger.Item {
	n := b.Mul(b.Lit(4), b.Int("sequences", l.Sequences, "plan"), b.Int("vocabulary", s.job.Model.Vocab, "model"))
	return ledger.Known("logits", "logits", n, ledger.Exact, ledger.Ephemeral, ledger.Device, "one row in fp32 for each sequence")
}
