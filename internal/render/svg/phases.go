package svg

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// Room for words beside the bars of phases, in pixels.
const (
	phaseNames = 150
	phaseSums  = 92
)

// Phases draws what a device holds in each phase of a step of training, on one scale.
func Phases(a *memwall.Answer) []byte { return phasesPicture(a).file() }

// PhasesChart is Phases as a part of a page, as wide as that.
func PhasesChart(a *memwall.Answer, name string, wide int) Chart {
	return phasesPicture(a).chart(name, wide)
}

func phasesPicture(a *memwall.Answer) *picture {
	title, rest, _ := strings.Cut(render.PeakText(a).Runs().String(), "; ")
	under := []string{render.VerdictWords(a.Verdict) + ": " + strings.Join(render.TrainAsked(a), " · ")}
	if rest != "" {
		under = append(under, rest)
	}
	return &picture{term.Capital(title), under, "memory of one device over a step: " + describePhases(a), styles{},
		func(s *svgPage) { s.phases(a) }}
}

// phases draws a bar for each.
func (s *svgPage) phases(a *memwall.Answer) {
	d := a.Devices[0]
	phases, scale := d.Occupied(), max(d.Capacity, d.Usable)
	for i := range phases {
		scale = max(scale, phases[i].Bytes)
	}
	s.y += 2 * svgLine
	s.bars = s.width - phaseSums
	v := &view{0, scale, phaseNames, float64(s.bars), svgBar * 2 / 3}
	s.limitWords(&d, v)
	for i := range phases {
		p := &phases[i]
		of := memwall.Device{Ledger: p.Ledger, Usable: d.Usable, Needed: p.Bytes, Capacity: d.Capacity}
		s.text(svgMargin, s.y+v.high-5, "l", p.Name)
		s.bar(&of, v)
		s.text(float64(s.bars)+6, s.y+v.high-5, "m", phaseSum(a, p))
		s.y += v.high + 10
	}
}

// phaseSum is what a phase holds in GiB, and whether it is the peak.
func phaseSum(a *memwall.Answer, p *memwall.PhaseBytes) string {
	sum := term.GiB(p.Bytes, 1)
	if a.PerDevice != nil && p.Name == a.PerDevice.PeakPhase {
		sum += " peak"
	}
	return sum
}

// describePhases says the numbers of the picture in words.
func describePhases(a *memwall.Answer) string {
	var out []string
	for _, p := range a.Devices[0].Occupied() {
		out = append(out, p.Name+" "+phaseSum(a, &p)+" GiB")
	}
	return strings.Join(out, ", ")
}
