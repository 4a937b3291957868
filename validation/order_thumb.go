package validation

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// What a rule of thumb takes to be reached: of the memory's rate by answers, and of the peak by prompts and by training.
const (
	thumbMemory  = 0.8
	thumbCompute = 0.5
	thumbReached = 0.4
)

// thumb is the rule of thumb: a step reads weights and caches at a flat share of the memory's rate, a prompt is
// multiplied at a flat share of the peak, and neither waits. ok is false of plans with workers of two kinds.
func (w works) thumb(s *served) (t timing, ok bool) {
	if s.ask.Disaggregated != nil {
		return t, false
	}
	k, err := w.rank(&Row{Ask: *s.ask})
	if err != nil {
		return t, false
	}
	each := math.Ceil(float64(s.ask.Sequences) / float64(max(1, s.ask.DP)))
	in, out := int64(s.ask.PromptTokens), int64(s.ask.OutputTokens)
	step := timed(k, s.device, speed.Batch{Decodes: int64(each), Context: in + out/2})
	prompt := timed(k, s.device, speed.Batch{Prefill: in, Prompts: 1, Finished: 1})
	return timing{1e3 * step.read / thumbMemory, 1e3 * prompt.multiply / thumbCompute}, true
}

// thumbTrainer remembers what the rule of thumb says of rows.
type thumbTrainer struct {
	*Trainer
	rates map[int]float64
}

// rate of a device in tokens a second where its products, those of what is computed again among them, run at a flat share
// of the peak and nothing else takes time; 0 where its peak is not known.
func (t thumbTrainer) rate(r *TrainSpeed) float64 {
	rate, seen := t.rates[r.Line]
	if seen {
		return rate
	}
	if m, err := t.Compile(r); err == nil && m.Floor() > 0 {
		rate = m.PerDevice(m.Floor() / thumbReached)
	}
	t.rates[r.Line] = rate
	return rate
}
