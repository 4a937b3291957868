package memwall

import (
	"errors"
	"fmt"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/workload"
)

// load is the workload with its defaults: lengths and users of the plan, where it has none of its own.
func (s *simulation) load(r *Request) error {
	if r.Workload != nil {
		s.spec = *r.Workload
	}
	w := &s.spec
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
	s.settling = int64(*w.Warmup)
	return w.Check()
}

// usedDefault is a field that was filled in before there was a job to note it.
type usedDefault struct {
	field string
	value any
}

// slots of a server that has some: sequences, where they do not stand for users; 0 where they do.
func (r *Request) slots() plan.Int {
	switch {
	case r.Sequences == 0:
		return usualSlots
	case r.Workload != nil && r.Workload.Concurrency > 0:
		return r.Sequences
	}
	return 0
}

// usualSlots that llama-server starts with.
const usualSlots plan.Int = 4

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

// length gives the plan the context that prompts and answers of fixed lengths need, where nobody says.
func (s *simulation) length(r *Request) {
	if r.Context > 0 {
		return
	}
	if need := int64(s.spec.Prompt.Mean + s.spec.Output.Mean); need > defaultContext {
		r.Context = plan.Int(need)
	}
}

// faulty names the trace in which a fault was found.
func (s *simulation) faulty(err error) error {
	var f *workload.Fault
	if !errors.As(err, &f) {
		return asError(err)
	}
	hint := f.Fix
	if hint != "" && !s.spec.Reading.SkipBad && f.Line > 1 {
		hint += "; or --skip-bad leaves such requests out"
	}
	return &Error{Code: BadFile, Field: "workload.trace", Value: shorten(s.spec.Trace), Message: s.spec.Trace + ", " + f.Error(), Hint: hint}
}

// source of the requests, and what closes it.
func (s *simulation) source() (workload.Source, func() error, error) {
	if s.spec.Trace == "" {
		src, err := s.spec.Source()
		return src, func() error { return nil }, err
	}
	if s.q.asker.Traces == nil {
		return nil, nil, &Error{Code: Unsupported, Field: "workload.trace", Value: shorten(s.spec.Trace), Message: "workload.trace: no files are read here", Hint: "describe the arrivals: rate, prompt, output"}
	}
	r, err := s.q.asker.Traces.Trace(s.spec.Trace)
	if err != nil {
		return nil, nil, err
	}
	src, err := s.spec.Replay(r)
	if err != nil {
		return nil, nil, errors.Join(s.faulty(err), r.Close())
	}
	return src, r.Close, nil
}

// maxReplicas of a simulation.
const maxReplicas = 4096

func (r *Request) countReplicas() error {
	if n := int64(r.Replicas); n < 0 || n > maxReplicas || r.DP > 0 && max(1, n)*r.DP > maxReplicas {
		return &Error{Code: BadField, Field: "replicas", Value: fmt.Sprint(n), Message: fmt.Sprintf("replicas = %d is not from 1 to %d, those of data parallelism counted", n, maxReplicas), Hint: "fewer replicas, and their share of the rate"}
	}
	return nil
}

// notNegative refuses counts below nothing.
func (r *Request) notNegative() error {
	for _, f := range []struct {
		name  string
		value int64
	}{{"kv_blocks", int64(r.KVBlocks)}, {"kv_tier_bytes", int64(r.KVTier)}, {"max_queued", int64(r.MaxQueued)}, {"max_loras", int64(r.MaxLoRAs)}, {"long_prompt_tokens", int64(r.LongPrompt)}} {
		if f.value < 0 {
			return &Error{Code: BadField, Field: f.name, Value: fmt.Sprint(f.value), Message: fmt.Sprintf("%s = %d is negative", f.name, f.value), Hint: "a number from 1, or leave it out"}
		}
	}
	return nil
}
