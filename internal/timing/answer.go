package timing

import (
	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/score"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
)

// Speed returns the plan's predicted speed; nil if unknown, with a note that says why.
func Speed(q *question.Question, cache *api.KV) *api.Speed {
	if q.Job.Machine == nil || q.Resolved.UnknownArch != "" || !q.Job.Model.Remembers() {
		return nil
	}
	v := &api.Speed{}
	if err := timed(q, v, cache); err != nil {
		q.Job.Note("speed_unknown", "info", "", "no speed: %s", err)
		return nil
	}
	if m := q.Job.Model; !m.Samples() || score.Special(m.ID) == score.Embedding {
		return readingOnly(v)
	}
	if slow(v) {
		q.Job.Note("fits_but_slow", "warn", "", "%s tokens a second for a user: people read faster, and agents wait",
			unit.Significant(*v.Decode, 2))
	}
	return v
}

// readingOnly returns the speed of a model that turns a text into a vector: it reads the text and generates nothing.
func readingOnly(v *api.Speed) *api.Speed {
	return &api.Speed{Prefill: v.Prefill, PrefillLow: v.PrefillLow, PrefillHigh: v.PrefillHigh,
		PrefillFLOPsFraction: v.PrefillFLOPsFraction, RestsOn: v.RestsOn}
}

// slow reports whether decoding is slower than people read.
func slow(v *api.Speed) bool { return v.Decode != nil && *v.Decode < 5 }

func timed(q *question.Question, v *api.Speed, cache *api.KV) error {
	s, ok := q.Sizer.(engine.Sharer)
	switch alone := ok && s.Shares() != nil; {
	case engine.ReadsGGUF(q.Engine), alone && q.Engine.Name() != question.TransformersEngine:
		return predictStream(q, v)
	case alone:
		return generate(q, v, cache)
	}
	return serve(q, v, cache)
}

// generate predicts transformers: prompts run the same kernels as in serving engines and follow their model; decoding
// waits for Python to launch each kernel, which only transformers' own measurements capture.
func generate(q *question.Question, v *api.Speed, cache *api.KV) error {
	prompts, explain := api.Speed{}, q.Explain
	q.Explain = nil
	err := serve(q, &prompts, cache)
	q.Explain = explain
	if err != nil {
		return err
	}
	if err := predictStream(q, v); err != nil {
		return err
	}
	withoutPrompts(q.Explain)
	v.Prefill, v.PrefillLow, v.PrefillHigh = prompts.Prefill, prompts.PrefillLow, prompts.PrefillHigh
	v.Unloaded, v.UnloadedLow, v.UnloadedHigh = prompts.Unloaded, prompts.UnloadedLow, prompts.UnloadedHigh
	v.TTFT, v.TTFTLow, v.TTFTHigh = prompts.TTFT, prompts.TTFTLow, prompts.TTFTHigh
	v.PrefillFLOPsFraction = prompts.PrefillFLOPsFraction
	derived(q, v)
	return nil
}

// Figure stores a figure and its edges, to four digits: no predicted time is more accurate.
func Figure(f speed.Figure, mid, low, high **float64) {
	if f.Known() {
		*mid, *low, *high = question.Rounded(f.Mid), question.Rounded(f.Low), question.Rounded(f.High)
	}
}
