package timing

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// Acceptance of a drafted token where the request does not say: the middle and the edges of what drafts of the same
// family, MTP layers and EAGLE heads are published with (arXiv:2211.17192, arXiv:2401.15077, arXiv:2412.19437).
const acceptance, LeastAcceptance, MostAcceptance = 0.7, 0.5, 0.85

// speculate puts the plan's speculation into what is timed. The draft model runs on the ranks of the target's tensor
// group where its heads can be divided among them, else on one.
func speculate(q *question.Question, in *serving.In) error {
	p := q.Request.Plan
	if p.DraftTokens <= 0 {
		return nil
	}
	s := &serving.Speculation{Tokens: int64(p.DraftTokens), Acceptance: acceptance}
	if p.Acceptance != nil {
		s.Acceptance = *p.Acceptance
	}
	in.Speculation = s
	if q.Job.Draft == nil {
		return nil
	}
	d := *in
	d.Model, d.Speculation, d.Replicas = q.Job.Draft.Model, nil, 1
	part := &q.Job.Draft.Weights.Parts[0]
	ranks, err := engine.Place(d.Model.Decoder(), part, shard.Parallel{TP: p.TP})
	if err != nil {
		if ranks, err = engine.Place(d.Model.Decoder(), part, shard.Parallel{}); err != nil {
			return err
		}
	}
	d.Stages = slowest(ranks)
	s.Draft, err = Compiled(q, &d)
	return err
}

// speculated says what drafting yields and costs. Where the acceptance is assumed, the band reaches from what the
// least would give to what the most would.
func speculated(q *question.Question, f *serving.Figures, in *serving.In, l serving.Load) {
	s := in.Speculation
	if s == nil {
		return
	}
	drafting := 0.0
	for _, p := range f.Parts {
		if p.Name == "draft" {
			drafting = p.Seconds * f.Expected
		}
	}
	who := "heads of the model itself (MTP, EAGLE), whose own time is not counted"
	if s.Draft != nil {
		who = q.Job.Draft.Model.ID + ", which takes " + unit.Seconds(drafting).String() + " of the step's " + unit.Seconds(f.Step).String()
	}
	q.Job.Note("speculation", "info", "draft_tokens",
		"each step verifies %d drafted tokens and yields %s of a sequence in the mean; they are drafted by %s", s.Tokens,
		unit.Significant(f.Expected, 3), who)
	if q.Request.Acceptance != nil {
		return
	}
	q.Job.Note("acceptance_assumed", "warn", "acceptance",
		"each drafted token is taken to be accepted with a chance of %g: nobody measured yours, and the bands hold %g to %g", acceptance,
		LeastAcceptance, MostAcceptance)
	for _, a := range []float64{LeastAcceptance, MostAcceptance} {
		other, with := *in, *s
		with.Acceptance, other.Speculation = a, &with
		m, err := Compiled(q, &other)
		if err != nil {
			continue
		}
		if x, err := closedLoop(q, m, l); err == nil {
			f.PerToken, f.First, f.Throughput = widest(f.PerToken, x.PerToken), widest(f.First, x.First), widest(f.Throughput, x.Throughput)
		}
	}
}

// widest is a figure with the edges of both.
func widest(f, g speed.Figure) speed.Figure {
	return speed.Figure{Mid: f.Mid, Low: min(f.Low, g.Low), High: max(f.High, g.High)}
}
