package svg

import (
	"fmt"
	"slices"

	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
)

// ScalingChart draws a day: requests a second, and the replicas of the best policy, or of the oracle, that serve them.
func ScalingChart(r *autoscale.ScalingReport, name string) Chart {
	p := &picture{"The day: what comes, and what serves it", nil, cards.AutoscaleSentence(r), plotStyle, func(s *svgPage) {
		s.y += svgLine
		drawDay(s, r)
	}}
	return p.chart(name, svgWidth)
}

func drawDay(s *svgPage, r *autoscale.ScalingReport) {
	top, next := s.y, plot{s, svgMargin + plotApart, s.y}
	if s.slim() {
		next = plot{s, svgMargin, s.y + plotTall}
	}
	plot{s, svgMargin, top}.overTime("Load: up to "+term.Significant(r.Load.Peak, 3)+" requests/s", r.Load.Rates, round(r.Load.Peak),
		r.Load.Part, "r", scaleLabel)
	if best := r.Drawn(); best != nil {
		ready := best.Serving()
		whole := round(slices.Max(ready))
		next.overTime(fmt.Sprintf("Replicas of %s: at most %d", cards.ShortPolicy(best.Name), best.Peak), ready, whole,
			r.Load.Seconds/float64(len(ready)), "w", scaleLabel)
	}
	s.y = next.y + plotTall - svgLine/2
}
