package serve

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// variants of the best fleets, else of the best contenders: with other budgets of a step and numbers of sequences.
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

// stepTokens are budgets of a step that trade the first token against the others, moreSlots what a llama-server that is
// not short of memory has.
var (
	stepTokens = []plan.Int{512, 2048}
	moreSlots  = []plan.Int{16, 64}
)

// variations of a server that need no more devices.
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

// tightContext is one that just holds the longest request, where that is less than the usual one: slots of llama-server have
// room for all of it from the start. 0 where there is none.
func (t *task) tightContext() plan.Int {
	if n := unit.PadUp(t.longest, 1024); t.asked.Context == 0 && t.longest > 0 && n < question.DefaultContext {
		return plan.Int(n)
	}
	return 0
}
