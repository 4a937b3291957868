package simulate

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
	"github.com/memwall/memwall/unit"
)

// FirstToken, token and whole are times of an edge; nil where it was not played.
func FirstToken(e *api.Edge) *api.Percentiles {
	if e == nil {
		return nil
	}
	return e.TTFT
}

// PerToken are the times per further token of an edge; nil where it was not played.
func PerToken(e *api.Edge) *api.Percentiles {
	if e == nil {
		return nil
	}
	return e.TPOT
}

func endToEnd(e *api.Edge) *api.Percentiles {
	if e == nil {
		return nil
	}
	return e.E2E
}

// mostForEdges are the requests up to which the edges are played too.
const mostForEdges = 200_000

// edges plays the workload at both edges of the time of a step, and of that before a request is seen.
func (s *Simulation) edges(out *api.Simulated, res *sim.Result) (err error) {
	fast, slow, ok := s.Extremes(res)
	if res.Asked > mostForEdges || !ok {
		return nil
	}
	low, err := s.edge(fast)
	if err != nil {
		return err
	}
	high, err := s.edge(slow)
	if err == nil && s.Ctx.Err() == nil { // else they were stopped
		out.Low, out.High = low, high
		s.knee(out, s.alone(res))
	}
	return err
}

// amplified is by how much more than without others the first token may differ between the edges before a load is at the knee: away from it
// both grow about alike.
const amplified = 2

// alone is how many times longer a first token may take without others at the slow edge of its band than at the fast one.
func (s *Simulation) alone(res *sim.Result) float64 {
	f := s.stepBand(res)
	if s.Model != nil {
		l := s.load(res)
		l.Users = 1
		f = s.Model.Closed(l).First
	}
	return f.High / f.Low
}

// knee says that a load is where waiting grows without bound within what is not known of a step: there is no one time to the first token.
func (s *Simulation) knee(out *api.Simulated, alone float64) {
	fast, slow := out.Low.TTFT, out.High.TTFT
	if fast == nil || slow == nil {
		return
	}
	if turns := out.Low.Holds && !out.High.Holds; turns || slow.P50 > amplified*alone*fast.P50 {
		s.Question.Job.Note("knee", "warn", "workload.rate",
			"at the knee: half of all first tokens take at most %s ms with steps at the fast edge and %s at the slow one; "+
				"a little less load moves them most",
			unit.Fixed(fast.P50, 0), unit.Fixed(slow.P50, 0))
	}
}

// Extremes are the plan at both edges of the time of a step and, where drafting is assumed to succeed so often, of that
// assumption; ok is false where no band is known.
func (s *Simulation) Extremes(res *sim.Result) (fast, slow Variant, ok bool) {
	f := s.stepBand(res)
	if !f.Known() || f.Mid <= 0 {
		return fast, slow, false
	}
	fast.Scale, slow.Scale = f.Low/f.Mid, f.High/f.Mid
	s.reaching(res, &fast, &slow)
	if s.accepted.Assumed {
		fast.drafts, slow.drafts = 1, -1
	}
	return fast, slow, true
}

// reaching gives the edges what the band of a first token without others leaves to the time before the scheduler sees a request, once steps
// are as
// fast or slow as they may be.
func (s *Simulation) reaching(res *sim.Result, fast, slow *Variant) {
	if s.Model == nil {
		return
	}
	l := s.load(res)
	l.Users = 1
	f, front := s.Model.Closed(l).First, s.Model.Front(l.Prompt)
	steps := f.Mid - front
	fast.Later = min(0, f.Low-front-fast.Scale*steps)
	slow.Later = max(0, f.High-front-slow.Scale*steps)
}

func (s *Simulation) edge(v Variant) (*api.Edge, error) {
	other := *s
	other.Unwatched, other.phase = true, api.PhaseBands
	res, err := other.Run(v)
	if err != nil {
		return nil, err
	}
	return &api.Edge{StepTime: FourDigits(v.Scale), Load: LoadOf(res), TTFT: Percentiles(&res.First), TPOT: Percentiles(&res.PerToken),
		E2E: Percentiles(&res.Whole)}, nil
}

// stepBand is the time of a token in a closed loop of as many users as ran on average, with its band.
func (s *Simulation) stepBand(res *sim.Result) speed.Figure {
	l := s.load(res)
	if s.Stream != nil {
		return s.Stream.Loop(stream.Test{Prompt: l.Prompt, Generated: l.Output}, l.Users).Step
	}
	return s.Model.Closed(l).PerToken
}

// load is a closed loop like a run on average.
func (s *Simulation) load(res *sim.Result) serving.Load {
	n := max(1, res.Finished)
	return serving.Load{Users: max(1, int64(res.Series.Running()+0.5)), Prompt: max(1, res.Prompt/n), Output: max(1, res.Generated/n)}
}
