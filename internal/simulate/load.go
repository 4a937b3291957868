package simulate

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// Load sets the workload with defaults: the plan's lengths and users if it has none of its own.
func (s *Simulation) Load(r *api.Request) error {
	if r.Workload != nil {
		s.Spec = *r.Workload
	}
	w := &s.Spec
	if asksMost(r) {
		*w = LoopOfOne(w)
	}
	if w.Rate == 0 && w.Concurrency == 0 {
		w.Concurrency = r.Sequences
	}
	if w.Arrivals == "" {
		w.Arrivals = arrivalsOf(w)
	}
	if w.Trace == "" {
		s.lengthOf(&w.Prompt, r.PromptTokens, usualPrompts(), "workload.prompt")
		s.lengthOf(&w.Output, r.OutputTokens, usualAnswers(), "workload.output")
	}
	s.count()
	s.Settling = int64(*w.Warmup)
	return w.Check()
}

// UsedDefault is a default filled in before there was a job to note it.
type UsedDefault struct {
	Field string
	Value any
}

// slots returns a server's slots: its sequences, unless they stand for users, when it is 0.
func slots(r *api.Request) plan.Int {
	switch {
	case r.Sequences == 0:
		return UsualSlots
	case r.Workload != nil && r.Workload.Concurrency > 0:
		return r.Sequences
	}
	return 0
}

// UsualSlots is llama-server's default number of slots.
const UsualSlots plan.Int = 4

func arrivalsOf(w *workload.Spec) string {
	switch {
	case w.Concurrency > 0:
		return "closed"
	case w.CV != nil:
		return "gamma"
	case w.Trace != "" && w.Rate == 0:
		return "trace"
	}
	return "poisson"
}

// length sets the context needed by prompts and answers of fixed lengths, if not given.
func (s *Simulation) length(r *api.Request) {
	if r.Context > 0 {
		return
	}
	if need := int64(s.Spec.Prompt.Mean + s.Spec.Output.Mean); need > question.DefaultContext {
		r.Context = plan.Int(need)
	}
}

// TraceError adds the name of the trace to an error.
func (s *Simulation) TraceError(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return api.AsError(err)
	}
	hint := f.Fix
	if hint != "" && !s.Spec.Reading.SkipBad && f.Line > 1 {
		hint += "; or --skip-bad leaves such requests out"
	}
	return &api.Error{Code: api.BadFile, Field: "workload.trace", Value: api.Shorten(s.Spec.Trace),
		Message: s.Spec.Trace + ", " + f.Error(), Hint: hint}
}

// Source returns the source of requests, several per prompt if the plan samples several answers, and the function that closes it.
func (s *Simulation) Source() (workload.Source, func() error, error) {
	n := int64(s.Question.Request.Samples)
	if n > 1 && s.Spec.Sessions != nil {
		return nil, nil, &api.Error{Code: api.ImpossiblePlan, Field: "samples", Value: strconv.FormatInt(n, 10),
			Message: "samples: a conversation goes on from one answer, and nobody says from which", Hint: "leave out samples, or the turns"}
	}
	src, closed, err := s.prompts()
	if err == nil && n > 1 {
		src = workload.Sampled(src, n)
	}
	return src, closed, err
}

// prompts returns the source of prompts.
func (s *Simulation) prompts() (workload.Source, func() error, error) {
	if s.Spec.Trace == "" {
		src, err := s.Spec.Source()
		return src, func() error { return nil }, err
	}
	if s.Question.Env.Traces == nil {
		return nil, nil, &api.Error{Code: api.Unsupported, Field: "workload.trace", Value: api.Shorten(s.Spec.Trace),
			Message: "workload.trace: no files are read here", Hint: "describe the arrivals: rate, prompt, output"}
	}
	r, err := s.Question.Env.Traces.Trace(s.Spec.Trace)
	if err != nil {
		return nil, nil, err
	}
	src, err := s.Spec.Replay(r)
	if err != nil {
		return nil, nil, errors.Join(s.TraceError(err), r.Close())
	}
	return src, r.Close, nil
}

// MaxReplicas is the most replicas of a simulation.
const MaxReplicas = 4096

// CountReplicas rejects an invalid number of replicas.
func CountReplicas(r *api.Request) error {
	if n := int64(r.Replicas); n < 0 || n > MaxReplicas || r.DP > 0 && max(1, n)*r.DP > MaxReplicas {
		return &api.Error{Code: api.BadField, Field: "replicas", Value: fmt.Sprint(n),
			Message: fmt.Sprintf("replicas = %d is not from 1 to %d, those of data parallelism counted", n, MaxReplicas),
			Hint:    "fewer replicas, and their share of the rate"}
	}
	return nil
}

// notNegative rejects negative counts.
func notNegative(r *api.Request) error {
	for _, f := range []struct {
		name  string
		value int64
	}{{"kv_blocks", int64(r.KVBlocks)}, {"kv_tier_bytes", int64(r.KVTier)},
		{"max_queued", int64(r.MaxQueued)}, {"max_loras", int64(r.MaxLoRAs)}, {"long_prompt_tokens", int64(r.LongPrompt)}} {
		if f.value < 0 {
			return &api.Error{Code: api.BadField, Field: f.name, Value: fmt.Sprint(f.value),
				Message: fmt.Sprintf("%s = %d is negative", f.name, f.value), Hint: "a number from 1, or leave it out"}
		}
	}
	return nil
}
