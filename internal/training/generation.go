package training

import (
	"fmt"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner/change"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/train/step"
)

// Answers that reinforcement learning scores are written by a serving engine before the model learns from them, by the law of a server
// with as many users as the engine has answers to write.

// generationPart is the name of the time in which answers are written.
const generationPart = "generation"

// withGeneration adds to a step the time in which its answers are written; an engine that is not described, or holds no model, is remarked.
func withGeneration(t *Training, s step.Step, tokens float64) step.Step {
	r := t.Job.Training.Rollout
	if r == nil || r.Engine == "" || t.Job.Machine == nil {
		return s
	}
	f, bound, err := generation(t, r)
	if err != nil {
		t.Question.Job.Note("generation_not_counted", "warn", "rollout", "the time of generation is not counted: %s", err)
		return s
	}
	learning := s.Seconds.Mid
	s.Seconds = s.Seconds.Plus(f)
	s.Parts = append(s.Parts, step.Part{Part: speed.Part{Name: generationPart, Seconds: f.Mid, Bound: bound}, Low: f.Low, High: f.High})
	s.TokensPerDevice = s.Seconds.Inverse().Times(tokens / float64(t.Job.Devices()))
	share := learning / s.Seconds.Mid
	s.TFLOPsPerDevice, s.MFU, s.HFU = s.TFLOPsPerDevice*share, s.MFU*share, s.HFU*share
	return s
}

// generation is how long the engines of the rollout write the answers of a step: all of the same length, by as many engines as there are
// groups of so many of the devices, of others of the kind where they stand apart.
func generation(t *Training, r *plan.Rollout) (f speed.Figure, bound speed.Bound, err error) {
	m := t.Job.Machine
	if len(m.Groups) != 1 {
		return f, "", fmt.Errorf("the devices are unlike")
	}
	tp, devices := max(1, int64(r.TP)), t.Job.Devices()
	engines := max(1, devices/tp)
	answers := (int64(t.Job.Training.GlobalBatch) + engines - 1) / engines
	ask := &api.Request{Ask: "fit", Model: t.Question.Request.Model, Hardware: change.HardwareOfKind(t.Question, int(tp))}
	ask.Engine, ask.TP, ask.Sequences = r.Engine, tp, plan.Int(answers)
	ask.PromptTokens, ask.OutputTokens, ask.Context = r.Prompt, r.Output, r.Prompt+r.Output
	if share := r.Share; share > 0 && *r.Colocated {
		if r.Engine == "sglang" {
			ask.MemFractionStatic = &share
		} else {
			ask.GPUMemoryUtilization = &share
		}
	}
	q, ranks, err := change.SameModelEnv(t.Question).SizedRanks(ask)
	if err != nil {
		return f, "", err
	}
	a := timing.SizedAnswer(q, ranks)
	if k := a.KV; k == nil || k.MaxSequences != nil && *k.MaxSequences < 1 {
		return f, "", fmt.Errorf("%s holds no answer with %.2g of %d devices: a larger gpu_memory_utilization or tp of the rollout",
			r.Engine, r.Share, tp)
	}
	v := a.Speed
	if v == nil || v.Total == nil || *v.Total <= 0 {
		return f, "", fmt.Errorf("no speed of %s is known there", r.Engine)
	}
	total := speed.Figure{Mid: *v.Total, Low: *v.TotalLow, High: *v.TotalHigh}
	remarkEngines(t, r, engines, answers)
	return total.Inverse().Times(float64(answers * int64(r.Output))), v.Bound, nil
}

// remarkEngines says what the time of generation rests on.
func remarkEngines(t *Training, r *plan.Rollout, engines, answers int64) {
	where := "on the devices that train, which wait meanwhile"
	if !*r.Colocated {
		where = "on as many devices again, which the price leaves out, while the trainer waits; asynchronous training overlaps both"
	}
	t.Question.Job.Note("generation", "info", "rollout", "%d engines of %s generate %d responses of %d tokens each %s; the longest take longer, and sending weights to the engines is not counted", engines, r.Engine, answers, int64(r.Output), where)
}
