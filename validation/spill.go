package validation

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// The measures of single streams whose weights are larger than their device. No report says what its host computed
// nor how fast the host's memory is: layers are placed as llama.cpp's --fit places them, beside the host that memwall
// assumes. Nothing is fitted to these rows.
var (
	decodeSpilled = Measure{Name: "decode, spilled", About: "tokens/s of an answer of a model larger than the device, the split and the host not told", Target: 0.25}
	promptSpilled = Measure{Name: "prompt, spilled", About: "tokens/s of a prompt of a model larger than the device, the split and the host not told", Target: 0.25}
)

// LocalScore are LocalScore's tests: tokens of prompt and answer. A row is the mean of their rates.
var LocalScore = [][2]int64{{1024, 16}, {4096, 256}, {2048, 256}, {2048, 768}, {1024, 1024}, {1280, 3072}, {384, 1152}, {64, 1024},
	{16, 1536}}

// spillers are engines that are llama.cpp inside, and leave to the host what the device does not hold.
var spillers = map[string]bool{"llama.cpp": true, "llamafile": true, "ollama": true, "llmfit": true}

// spilled asks for the figure of a row that no fit predicted; ok is false for one that is not of this kind.
func (r *StreamRow) spilled(asker *memwall.Asker, row *Row) (c Comparison, ok bool) {
	if r.Refused != "" || r.Count > 1 || r.Kind == "both" || !spillers[r.Engine] || !r.exceeds(asker) {
		return c, false
	}
	c = Comparison{Measure: &decodeSpilled, Row: row, Figure: r.Kind, Measured: r.measured()}
	if r.ofPrompt() {
		c.Measure = &promptSpilled
	}
	var err error
	if c.Ours, err = r.placed(asker); err != nil {
		c.Refused = err.Error()
		return c, true
	}
	c.judge()
	return c, true
}

// request for llama.cpp on the row's device.
func (r *StreamRow) request(prompt, answer int64) *memwall.Request {
	return &memwall.Request{Ask: "fit", Model: r.Model, Hardware: r.Device,
		Plan: plan.Plan{Engine: "llama.cpp", Weights: r.Weights, PromptTokens: plan.Int(prompt), OutputTokens: plan.Int(answer),
			Context: plan.Int(prompt + answer)}}
}

// exceeds reports whether the row's model is larger than its device.
func (r *StreamRow) exceeds(asker *memwall.Asker) bool {
	t := r.tests()[0]
	a, err := asker.Size(r.request(t[0], t[1]))
	return err == nil && a.Verdict == memwall.DoesNotFit
}

// tests of the row: tokens of prompt and answer.
func (r *StreamRow) tests() [][2]int64 {
	if strings.HasPrefix(r.Kind, "localscore") {
		return LocalScore
	}
	return [][2]int64{{max(1, r.Prompt+r.Depth), max(1, r.Generated)}}
}

// placed is the mean of the row's tests with the layers where llama.cpp puts them.
func (r *StreamRow) placed(asker *memwall.Asker) (mean Range, err error) {
	tests := r.tests()
	n := float64(len(tests))
	for _, t := range tests {
		q := r.request(t[0], t[1])
		q.Fit = "on"
		a, err := asker.Ask(q)
		if err != nil {
			return mean, err
		}
		x, err := streamFigure(a, r.ofPrompt())
		if err != nil {
			return mean, err
		}
		mean.add(Range{x.Mid / n, x.Low / n, x.High / n})
	}
	return mean, nil
}

// streamFigure is the answer's rate of prompts, or of answers.
func streamFigure(a *memwall.Answer, prompt bool) (Range, error) {
	s := a.Speed
	switch {
	case s == nil || s.Decode == nil || s.Prefill == nil:
		return Range{}, fmt.Errorf("the answer has no speed")
	case prompt:
		return Range{*s.Prefill, *s.PrefillLow, *s.PrefillHigh}, nil
	}
	return Range{*s.Decode, *s.DecodeLow, *s.DecodeHigh}, nil
}
