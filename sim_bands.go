package memwall

import (
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/speed/serving"
	"github.com/memwall/memwall/speed/stream"
)

// Edge is what becomes of the same workload where every step takes so many times as long: at an edge of the 90 % band of a
// step's time. A small error of a step is a large one of a queue.
type Edge struct {
	StepTime float64 `json:"step_time"`
	Load
	TTFT *Percentiles `json:"ttft_ms,omitempty"`
	TPOT *Percentiles `json:"tpot_ms,omitempty"`
	E2E  *Percentiles `json:"e2e_ms,omitempty"`
}

// first, token and whole are times of an edge; nil where it was not played.
func (e *Edge) first() *Percentiles {
	if e == nil {
		return nil
	}
	return e.TTFT
}

func (e *Edge) token() *Percentiles {
	if e == nil {
		return nil
	}
	return e.TPOT
}

func (e *Edge) whole() *Percentiles {
	if e == nil {
		return nil
	}
	return e.E2E
}

// mostForEdges are the requests up to which the edges are played too.
const mostForEdges = 200_000

// edges plays the workload at both edges of the time of a step.
func (s *simulation) edges(out *Simulated, res *sim.Result) (err error) {
	fast, slow, ok := s.extremes(res)
	if res.Asked > mostForEdges || !ok {
		return nil
	}
	low, err := s.edge(fast)
	if err != nil {
		return err
	}
	high, err := s.edge(slow)
	if err == nil && s.ctx.Err() == nil { // else they were stopped
		out.Low, out.High = low, high
	}
	return err
}

// extremes are the plan at both edges of the time of a step and, where drafting is assumed to succeed so often, of that
// assumption; ok is false where no band is known.
func (s *simulation) extremes(res *sim.Result) (fast, slow variant, ok bool) {
	f := s.stepBand(res)
	if !f.Known() || f.Mid <= 0 {
		return fast, slow, false
	}
	fast.scale, slow.scale = f.Low/f.Mid, f.High/f.Mid
	if s.speculation != nil && s.q.request.Acceptance == nil {
		fast.acceptance, slow.acceptance = mostAcceptance, leastAcceptance
	}
	return fast, slow, true
}

func (s *simulation) edge(v variant) (*Edge, error) {
	other := *s
	other.unwatched, other.phase = true, phaseBands
	res, err := other.run(v)
	if err != nil {
		return nil, err
	}
	return &Edge{StepTime: four(v.scale), Load: loadOf(res), TTFT: percentiles(&res.First), TPOT: percentiles(&res.PerToken), E2E: percentiles(&res.Whole)}, nil
}

// stepBand is the time of a token in a closed loop of as many users as ran in the mean, with its band.
func (s *simulation) stepBand(res *sim.Result) speed.Figure {
	n := max(1, res.Finished)
	prompt, output := max(1, res.Prompt/n), max(1, res.Generated/n)
	users := max(1, int64(res.Series.Running()+0.5))
	if s.stream != nil {
		return s.stream.Loop(stream.Test{Prompt: prompt, Generated: output}, users).Step
	}
	return s.model.Closed(serving.Load{Users: users, Prompt: prompt, Output: output}).PerToken
}
