package planner

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/advice"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/timing"
)

// trial is a changed request that was sized: a candidate of which the memory is known, and of a brief planner nothing else.
type trial struct {
	api.Candidate
	sizedPlan
	request *api.Request
	timed   bool
}

// candidate evaluates a changed request; ok is false if it is refused.
func (p *Planner) candidate(r *api.Request, words string) (api.Candidate, bool) {
	t, ok := try(p, r, words)
	if !ok {
		return api.Candidate{}, false
	}
	return t.completed(p), true
}

// try sizes a changed request, with a larger host if it needs one; ok is false if it is refused.
func try(p *Planner, r *api.Request, words string) (trial, bool) {
	q, ranks, err := p.env.SizedRanks(r)
	if err != nil || len(ranks) == 0 {
		return trial{}, false
	}
	t := trial{sizedPlan: sizedPlan{q, ranks}, request: r, timed: !p.brief || q.Prompter != nil}
	a := t.answer()
	p.evaluated.Full++
	p.evaluated.Decided++
	if h := a.Host; h != nil && !p.spared(q, h.Needed) {
		return p.onLargerHost(q, r, h.Needed, words)
	}
	t.Candidate = api.Candidate{Change: words, Plan: a.Plan, Verdict: a.Verdict, Speed: a.Speed,
		Saves: p.base.Devices[0].Needed - a.Devices[0].Needed, Headroom: a.Devices[0].Headroom, Lacks: a.Devices[0].Headroom}
	if h := a.Host; h != nil && h.Capacity > 0 {
		t.Lacks, t.HostHeadroom = min(t.Lacks, h.Headroom), &h.Headroom
	}
	return t, true
}

// answer returns what the memory of a plan says, and its speed if it is timed.
func (t *trial) answer() *api.Answer {
	if t.timed {
		return timing.SizedAnswer(t.question, t.ranks)
	}
	return change.OutlineAnswer(t.question, t.ranks)
}

// mayHelp reports whether a change may help, and be suggested, at some speed.
func (t *trial) mayHelp(p *Planner) bool {
	if t.timed || p.base.Verdict == api.Fits { // where all fits, it is the speed that helps
		return true
	}
	return p.helps(&t.Candidate) && advice.Refused(p.cure(&t.Candidate)) == nil
}

// completed returns a trial with its speed, its patch, what it costs, and the command that runs it.
func (t *trial) completed(p *Planner) api.Candidate {
	c, q := t.Candidate, t.question
	if !t.timed {
		c.Speed = change.TimedAnswer(q, t.ranks).Speed
	}
	c.Patch, c.SpeedRatio = change.PatchOf(&p.Asked, t.request), p.speedRatio(c.Speed)
	c.Quality = question.QualityOf(p.Question.Judged(), p.base.Plan, c.Plan)
	switch {
	case !p.brief:
		p.addCommandAndCost(&c, q)
	case c.Verdict == api.Fits, c.Verdict == api.Tight:
		c.Flags = q.Flags()
	}
	return c
}
