package serving

import (
	"math"

	"github.com/memwall/memwall/drafts"
	"github.com/memwall/memwall/speed"
)

// Speculation is how a step gets more than one token of a sequence.
type Speculation struct {
	Shape drafts.Shape
	// Accepted are the chances that at least 1, 2, … drafted tokens are.
	Accepted []float64
	// Width is how many tokens of a sequence a step computes on average: those that are verified, and the one before them.
	Width float64
	// Draft is what drafts; nil for what the text repeats. Steps of it precede a step, each of as many tokens of a sequence as it was
	// compiled for. With Head it ends in the head of the model itself.
	Draft *Model
	Steps float64
	Head  bool
}

// Verifying is speculation that verifies all that is drafted.
func Verifying(s drafts.Shape, accepted []float64) *Speculation {
	return &Speculation{Shape: s, Accepted: accepted, Width: float64(1 + s.Tokens), Steps: float64(s.Drafted())}
}

// Expected tokens of a step; without speculation one.
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
