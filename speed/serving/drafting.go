package serving

import (
	"math"

	"github.com/memwall/memwall/drafts"
	"github.com/memwall/memwall/speed"
)

// Speculation describes how a step yields more than one token per sequence.
type Speculation struct {
	Shape drafts.Shape
	// Accepted holds the probabilities that at least 1, 2, … drafted tokens are accepted.
	Accepted []float64
	// Width is the mean number of tokens per sequence that a step computes: those verified, plus the one before them.
	Width float64
	// Draft is the drafter; nil for n-grams and suffixes. Its steps precede a step, each with as many tokens per
	// sequence as it was compiled for. With Head it uses the model's own head.
	Draft *Model
	Steps float64
	Head  bool
}

// Verifying returns a Speculation that verifies everything drafted.
func Verifying(s drafts.Shape, accepted []float64) *Speculation {
	return &Speculation{Shape: s, Accepted: accepted, Width: float64(1 + s.Tokens), Steps: float64(s.Drafted())}
}

// Expected returns the expected tokens per step; one without speculation.
func (s *Speculation) Expected() float64 {
	if s == nil {
		return 1
	}
	return drafts.Expected(s.Accepted)
}

// drafting is the time of what drafts before a step.
func (s *Speculation) drafting(m *Model, b speed.Batch) float64 {
	if s == nil || s.Draft == nil {
		return 0
	}
	return s.Steps * (s.Draft.Step(b) + lent(m, b.Decodes))
}

// lent is the time of the model's own head for what drafts without one.
func lent(m *Model, decodes int64) (seconds float64) {
	s := m.in.Speculation
	if !s.Head {
		return 0
	}
	p := point{tokens: s.Draft.width * float64(decodes), outputs: s.Draft.width * float64(decodes)}
	last := &m.stages[len(m.stages)-1]
	for i := range last.ops {
		if o := &last.ops[i]; o.part == "head" {
			seconds += m.times(o) * o.seconds(&p, &m.device, m.c)
		}
	}
	return seconds
}

// drafter is what drafts on a clock.
type drafter struct {
	clock *Clock
	steps float64
	of    *Model
}

func newDrafter(m *Model) *drafter {
	s := m.in.Speculation
	if s == nil || s.Draft == nil {
		return nil
	}
	return &drafter{s.Draft.Clock(), s.Steps, m}
}

func (d *drafter) seconds(b speed.Batch) float64 {
	if d == nil || b.Decodes == 0 {
		return 0
	}
	return d.steps * (d.clock.Step(speed.Batch{Decodes: b.Decodes, Context: b.Context}) + lent(d.of, b.Decodes))
}

// computed is how many tokens of those who decode a step computes.
func computed(width float64, decodes int64) int64 {
	return int64(math.Round(width * float64(decodes)))
}
