package serve

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// variants returns the best fleets, else the best contenders, with other token budgets and numbers of sequences.
func (p *playing) variants() (out []*contender) {
	of := p.feasible()
	if len(of) == 0 {
		of = p.queue()
	}
	had := len(p.all)
	for _, c := range of[:min(varied, len(of))] {
		for _, vary := range p.variations(c) {
			r := c.request
			r.Ask, r.Workload, r.Goal, r.Router = "fit", nil, nil, ""
			vary(&r)
			p.addContender(&c.machineChoice, &r, c.loss)
		}
	}
	for _, c := range p.all[had:] {
		if c.possible() {
			out = append(out, c)
		}
	}
	stable.Sort(out, func(a, b *contender) int { return a.objective.compare(&b.objective) })
	return out
}

// stepTokens are token budgets that trade TTFT against TPOT; moreSlots are slots for a llama-server with memory to spare.
var (
	stepTokens = []plan.Int{512, 2048}
	moreSlots  = []plan.Int{16, 64}
)

// variations returns the variations of a server that need no more devices.
func (t *task) variations(c *contender) (out []func(*api.Request)) {
	now := &c.sim.Question.Request
	if c.sim.Stream != nil {
		for _, n := range moreSlots {
			if t.asked.Sequences == 0 && int64(n) > int64(now.Sequences) {
				out = append(out, func(r *api.Request) { r.Sequences = n })
				if c := t.tightContext(); c > 0 {
					out = append(out, func(r *api.Request) { r.Sequences, r.Context = n, c })
				}
			}
		}
		return out
	}
	for _, n := range stepTokens {
		if t.asked.MaxBatchedTokens == 0 && n < now.MaxBatchedTokens {
			out = append(out, func(r *api.Request) { r.MaxBatchedTokens = n })
		}
	}
	if n := plan.Int(unit.PadUp(c.users, 8)); t.asked.MaxSeqs == 0 && t.rate > 0 && n < now.MaxSeqs {
		out = append(out, func(r *api.Request) { r.MaxSeqs = n })
	}
	return out
}

// tightContext returns a context that just holds the longest request, if that is shorter than the usual one; llama-server's slots
// reserve all of it from the start. It returns 0 if there is none.
func (t *task) tightContext() plan.Int {
	if n := unit.PadUp(t.longest, 1024); t.asked.Context == 0 && t.longest > 0 && n < question.DefaultContext {
		return plan.Int(n)
	}
	return 0
}
