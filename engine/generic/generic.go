// Package generic sizes what every engine must hold: weights, caches and the logits of one step, without overhead. It
// is the lower bound against which engines are compared.
package generic

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
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
	engine.EagerNote(j, false)
}

// Check refuses what no engine can do.
func (Engine) Check(j *engine.Job) error { return engine.CheckParallel(j) }

// Command is empty: nothing runs.
func (Engine) Command(*engine.Job) string { return "" }

// Sizer prepares the shares.
func (Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	placed, err := j.PlaceDecoder(engine.Parallel(j.Plan))
	if err != nil {
		return nil, err
	}
	k, v := dtype.FindFormat(j.Plan.KV), dtype.FindFormat(j.Plan.KVV)
	if k == nil || v == nil {
		return nil, &plan.Problem{Field: "kv", Value: j.Plan.KV, Message: fmt.Sprintf("kv = %s is not a known format", j.Plan.KV),
			Fix: "bf16, fp8 or q8_0"}
	}
	s := &sizer{job: j, k: k, v: v}
	for i := range placed {
		pl := &placed[i]
		s.ranks = append(s.ranks, prepared{pl: *pl, weights: pl.WeightSums(), experts: pl.ExpertSums(),
			others: engine.OtherParts(nil, j, pl, engine.Speaking), kinds: engine.WithDraft(j, pl, pl.Kinds)})
	}
	return s, nil
}

type sizer struct {
	job   *engine.Job
	ranks []prepared
	k, v  *dtype.Format
}

// prepared is what a class of ranks holds whatever the load.
type prepared struct {
	pl      engine.Placed
	weights []engine.WeightSum
	experts []engine.WeightSum // of weights
	others  []ledger.Item
	kinds   []engine.KindCount // whose caches it keeps
}

// Size books weights, caches and logits on each class of ranks.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	return engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
}

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	r.Items = append(r.Items, s.weights(b, p)...)
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Speaking, p.others)...)
	l.Over = s.job.Plan.CP
	kv, state := engine.CacheItems(b, p.kinds, s.k, s.v, engine.StateFormat(s.job.Model), l)
	for _, it := range append(kv, state...) {
		it.Place = place(s.offload().KV)
		r.Items = append(r.Items, it)
	}
	if p.pl.Post {
		r.Items = append(r.Items, s.logits(b, l))
	}
	r.KV = engine.GrowingKV(engine.PerToken(p.kinds, s.k, s.v)/unit.Bytes(max(1, l.Over)), kv)
	r.Host = engine.OffDevice(r.Items)
	return r
}

func (s *sizer) logits(b *ledger.Book, l engine.Load) ledger.Item {
	n := b.Mul(b.Lit(4), b.Int("sequences", l.Sequences, "plan"), b.Int("vocabulary", s.job.Model.Vocab, "model"))
	return ledger.Known("logits", "logits", n, ledger.Exact, ledger.Ephemeral, ledger.Device, "one row in fp32 for each sequence")
}
