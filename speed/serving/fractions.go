package serving

import (
	"math"

	"github.com/memwall/memwall/speed"
)

// Fractions returns the fractions of datasheet rates that a rank of the first stage reaches in a step: bytes of weights and caches
// over what its memory could move in that time, and operations over its 16-bit peak (or its widest format's). On a board with
// several dies, it is for one of them.
func (m *Model) Fractions(b speed.Batch) (memory, compute float64) {
	r := m.stages[0].rank
	p := r.Points(b)
	if m.width > 1 { // matrices multiply all the tokens that are verified
		wide := b
		wide.Decodes = computed(m.width, b.Decodes)
		p.Both = r.Points(wide).Both
	}
	w, seconds := r.Work(&p), m.Step(b)
	return (w.Weights + w.CacheRead + w.CacheWrite) / (m.device.bandwidth * seconds), w.FLOPs / (m.device.arithmetic(nil).peak * seconds)
}

// Decoding returns the decode step of a load.
func (m *Model) Decoding(l Load) speed.Batch {
	_, k := m.shape(l)
	b := k.decode
	return b
}

// Prompting returns the step of a single prompt of a load.
func (m *Model) Prompting(l Load) speed.Batch {
	return speed.Batch{Prefill: max(1, l.Prompt), Prompts: 1, Finished: 1}
}

// possible returns the seconds that a device's datasheet leaves a step: one stage after another moves its bytes at the full bandwidth, or
// multiplies at the peak of its widest format.
func possible(stages []stage, d *device, b speed.Batch) (seconds float64) {
	for i := range stages {
		r := stages[i].rank
		p := r.Points(b)
		w := r.Work(&p)
		seconds += math.Max((w.Weights+w.CacheRead+w.CacheWrite)/d.bandwidth, w.FLOPs/stages[i].fastest(d))
	}
	return seconds
}

// fastest returns the highest peak that a kernel of the stage multiplies at, in operations a second.
func (s *stage) fastest(d *device) float64 {
	most := d.arithmetic(nil).peak
	for i := range s.ops {
		switch l := s.ops[i].law.(type) {
		case *product:
			most = math.Max(most, l.peak)
		case *experts:
			most = math.Max(most, l.peak)
		}
	}
	return most
}
