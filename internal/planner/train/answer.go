package train

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/train/step"
	"github.com/memwall/memwall/unit"
)

// answer reports what was found, and what decides.
func (f *found) answer(ranked []*candidate) *api.Answer {
	shown, notes := *f.original, f.notes
	if g := f.original.Goal; f.want == "cost" && (g == nil || g.Minimize == "") {
		shown.Goal = &api.Goal{Minimize: f.want}
		notes = append(notes, filledIn("goal.minimize", f.want))
	}
	out := &api.Answer{Model: f.model, Plan: &shown, Verdict: api.DoesNotFit, NearestMiss: f.nearest, Evaluated: &f.evaluated}
	out.Notes = append(notes, f.remarks(ranked)...)
	if len(ranked) > 0 {
		f.fill(out, ranked)
	}
	return out
}

// fill adds candidates, the front, surprises and files to the answer.
func (f *found) fill(out *api.Answer, ranked []*candidate) {
	out.Verdict, out.NearestMiss = ranked[0].verdict, nil
	best := f.detail(ranked[0])
	for _, p := range ranked {
		d := f.detail(p)
		c := f.shown(d)
		c.Why = why(f.want, d, best)
		out.Candidates = append(out.Candidates, c)
	}
	out.Best, out.Pareto = &out.Candidates[0], f.kept.indices(ranked)
	out.Surprises = f.surprises(best)
	out.Config = best.training.Config()
	out.Best.Files = out.Config
	out.Notes = append(out.Notes, notesOf(best)...)
}

// detail is a plan evaluated in full, with its step time and the parts of it.
type detail struct {
	*candidate
	training *training.Training
	step     step.Step
	tokens   float64 // per step
}

// detail evaluates a plan that was found.
func (s *space) detail(p *candidate) *detail {
	d := &detail{candidate: p}
	d.training, _ = training.Trained(s.env, &p.request) // it succeeded when the plan was found
	if m, v, err := d.training.Step(); err == nil {
		d.step, d.tokens = v, m.Tokens()
	}
	return d
}

// onHost returns what the ranks of a node keep in its memory.
func (d *detail) onHost() unit.Bytes {
	needs := question.HostNeeds(d.training.Question.Job, d.training.EngineRanks(d.training.Sizer.Deciding()))
	return needs.High
}

// shown converts a plan to its form in answers.
func (s *space) shown(d *detail) api.Candidate {
	p := d.candidate
	c := api.Candidate{Change: p.words(s.original), Verdict: p.verdict, Headroom: p.headroom, Capacity: p.site.capacity,
		USDPerHour: p.site.perHour}
	c.Plan, c.Patch = d.training.Question.Plan(), s.patch(&p.request)
	if room, known := question.HostCapacity(d.training.Question.Job.Machine); known && p.request.Offload != nil {
		left := room.Bytes() - d.onHost()
		c.HostHeadroom = &left
	}
	if !p.timed() {
		return c
	}
	c.Step = training.TrainingStep(&d.step, d.tokens)
	if n := int64(p.request.Tokens); n > 0 {
		c.Run = d.training.Run(&d.step, d.tokens, n)
	}
	if p.priced() {
		c.Cost = question.Rounded(p.perMillion)
	}
	return c
}

// patch returns the patch from the request to a plan.
func (s *space) patch(r *api.Request) map[string]any {
	out := change.PatchOf(s.original, r)
	for _, f := range []string{"ask", "for", "goal", "all", "max_devices", "among"} {
		delete(out, f)
	}
	return out
}
