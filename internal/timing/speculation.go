package timing

import (
	"fmt"

	"github.com/memwall/memwall/drafts"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/unit"
)

// unpublished are the default acceptance probabilities of a drafted token, if neither the request nor the table of
// drafts has any: middle and edges of what is published for drafts of the same family, MTP layers and EAGLE heads
// (arXiv:2211.17192, arXiv:2401.15077, arXiv:2412.19437).
var unpublished = drafts.Chances{Low: 0.5, Mid: 0.7, High: 0.85}

// Accepted is how often drafted tokens are accepted.
type Accepted struct {
	Shape  drafts.Shape
	Method string // from the table of drafts
	// Mid holds the probabilities that at least 1, 2, … tokens are accepted; Low and High their edges if assumed.
	Mid, Low, High []float64
	Assumed        bool
	chances        drafts.Chances
}

// AcceptedOf returns the request's acceptance rates, or else published ones.
func AcceptedOf(q *question.Question) Accepted {
	p := &q.Request.Plan
	a := Accepted{Shape: drafts.Shape{Tokens: int64(p.DraftTokens), Steps: int64(p.DraftSteps), Branches: int64(p.DraftBranches)},
		Method: drafter(q.Job)}
	at, _ := p.Positions() // checked with the plan
	switch {
	case at != nil:
		a.Mid = a.Shape.Stretched(at)
	case p.Acceptance != nil:
		a.Mid = a.Shape.Survival(*p.Acceptance)
	case p.AcceptanceLength != nil:
		chance, ok := a.Shape.Chance(*p.AcceptanceLength)
		if !ok { // more than defaults draft
			chance = 1
		}
		a.Mid = a.Shape.Survival(chance)
	default:
		a.assume(q.Job.Model.ID)
	}
	return a
}

func (a *Accepted) assume(model string) {
	c, ok := drafts.Find(a.Method, model)
	if !ok {
		c = unpublished
	}
	a.Assumed, a.chances = true, c
	a.Low, a.Mid, a.High = a.Shape.Survival(c.Low), a.Shape.Survival(c.Mid), a.Shape.Survival(c.High)
}

// At returns an edge: the lowest for -1, the highest for 1, else the middle.
func (a *Accepted) At(edge int8) []float64 {
	switch edge {
	case -1:
		return a.Low
	case 1:
		return a.High
	}
	return a.Mid
}

// drafter returns the drafter's name in the table.
func drafter(j *engine.Job) string {
	switch {
	case j.Draft != nil:
		return j.Draft.Model.Family
	case j.MTP != nil:
		return "mtp"
	case j.Plan.DraftMethod != "":
		return j.Plan.DraftMethod
	}
	return drafts.NGram
}

// Speculation returns the speculation with the given acceptance. vLLM verifies as many tokens as an n-gram match
// yields; others pad to the requested number (TensorRT-LLM's n-gram blog: verification batch × (v + 1);
// sglang/srt/speculative/ngram_worker.py).
func (a *Accepted) Speculation(engine string, accepted []float64) *serving.Speculation {
	s := serving.Verifying(a.Shape, accepted)
	if drafts.Repeats(a.Method) && engine == "vllm" {
		s.Width = min(s.Width, 1+(s.Expected()-1)/drafts.Kept(a.Method))
	}
	return s
}

// speculate adds the plan's speculation to what is timed.
func speculate(q *question.Question, in *serving.In) (err error) {
	if q.Request.DraftTokens <= 0 {
		return nil
	}
	a := AcceptedOf(q)
	s := a.Speculation(in.Engine, a.Mid)
	in.Speculation = s
	switch j := q.Job; {
	case j.Draft != nil:
		s.Draft, err = drafting(q, in, j.Draft.Model, j.Draft.Model.Decoder(), &j.Draft.Weights.Parts[0])
	case j.MTP != nil:
		s.Draft, err = drafting(q, in, j.Model, j.MTP.Part, j.MTP.Weights)
		s.Head = j.MTP.LentHead()
		s.Steps /= float64(j.MTP.Steps())
	}
	return err
}

// drafting compiles the drafter: it runs on the target's tensor parallel group if its heads can be divided, else on one
// rank.
func drafting(q *question.Question, in *serving.In, m *model.Model, part *model.Part, w *model.PartWeights) (*serving.Model, error) {
	d, p := *in, q.Request.Plan
	d.Model, d.Speculation, d.Replicas = m, nil, 1
	if b := float64(p.DraftBranches); b > 1 {
		d.Speculation = &serving.Speculation{Width: b}
	}
	ranks, err := engine.Place(part, w, shard.Parallel{TP: p.TP, EP: sharedBy(m == in.Model, p.EP)})
	if err != nil {
		if ranks, err = engine.Place(part, w, shard.Parallel{}); err != nil {
			return nil, err
		}
	}
	d.Stages = slowest(ranks)
	return Compiled(q, &d)
}

// sharedBy returns the number of ranks that share the experts of the model's own layers.
func sharedBy(own bool, ep int64) int64 {
	if own {
		return ep
	}
	return 0
}

// speculated notes the yield and cost of drafting. If acceptance is assumed, the band spans its edges.
func speculated(q *question.Question, f *serving.Figures, in *serving.In, l serving.Load) {
	s := in.Speculation
	if s == nil {
		return
	}
	a := AcceptedOf(q)
	q.Job.Note("speculation", "info", "draft_tokens",
		"each step verifies %s and yields %s of a sequence on average; they are drafted by %s", a.drafted(),
		unit.Significant(f.Expected, 3), who(q.Job, f, s))
	if !a.Assumed {
		return
	}
	q.Job.Note("acceptance_assumed", "warn", "acceptance",
		"each first choice of a drafted token is taken to be accepted with a chance of %s, by %s: nobody measured yours, and "+
			"the bands hold %s to %s",
		unit.Significant(a.chances.Mid, 2), a.source(), unit.Significant(a.chances.Low, 2), unit.Significant(a.chances.High, 2))
	for _, accepted := range [][]float64{a.Low, a.High} {
		other, with := *in, *a.Speculation(in.Engine, accepted)
		with.Draft, with.Head, with.Steps, other.Speculation = s.Draft, s.Head, s.Steps, &with
		m, err := Compiled(q, &other)
		if err != nil {
			continue
		}
		if x, err := closedLoop(q, m, l); err == nil {
			f.PerToken, f.First, f.Throughput = widest(f.PerToken, x.PerToken), widest(f.First, x.First), widest(f.Throughput, x.Throughput)
		}
	}
}

// drafted describes what a step verifies.
func (a *Accepted) drafted() string {
	if s := a.Shape; s.Branches > 1 {
		return fmt.Sprintf("%s of a tree of %d steps with %d branches", draftedTokens(s.Tokens), s.Steps, s.Branches)
	}
	return draftedTokens(a.Shape.Tokens)
}

func draftedTokens(n int64) string {
	if n == 1 {
		return "1 drafted token"
	}
	return fmt.Sprintf("%d drafted tokens", n)
}

// source describes where assumed rates come from.
func (a *Accepted) source() string {
	switch c := a.chances; {
	case c.Rows == 0:
		return "what drafts of all kinds were published with"
	case c.Model:
		return fmt.Sprintf("the median of %d published figures of this model", c.Rows)
	default:
		return fmt.Sprintf("the median of %d published figures of %s", c.Rows, a.Method)
	}
}

// who describes the drafter and its time.
func who(j *engine.Job, f *serving.Figures, s *serving.Speculation) string {
	taken := 0.0
	for _, p := range f.Parts {
		if p.Name == "draft" {
			taken = p.Seconds * f.Expected
		}
	}
	times := ", which takes " + unit.Seconds(taken).String() + " of the step's " + unit.Seconds(f.Step).String()
	switch {
	case j.Draft != nil:
		return j.Draft.Model.ID + times
	case s.Draft != nil:
		return "the model's own prediction layers" + times
	}
	return "what the text repeats"
}

// widest returns a figure with the outer edges of both.
func widest(f, g speed.Figure) speed.Figure {
	return speed.Figure{Mid: f.Mid, Low: min(f.Low, g.Low), High: max(f.High, g.High)}
}
