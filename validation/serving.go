package validation

import "github.com/memwall/memwall"

// servingMeasures compare runs at fixed concurrency. The coefficients were fitted to most of the rows, which are
// scored apart; what holds for plans that no fit has seen is in docs/accuracy.md.
var servingMeasures = []Measure{
	{Name: "serving TPOT", About: "time of an output token at fixed concurrency", Sets: "serving", Figures: []string{"tpot_ms"}, Target: 0.10, Fitted: true,
		Find: speedFigure(func(s *memwall.Speed) (mid, low, high *float64) { return s.TPOT, s.TPOTLow, s.TPOTHigh })},
	{Name: "serving TTFT", About: "time to the first token at fixed concurrency", Sets: "serving", Figures: []string{"ttft_ms"}, Target: 0.20, Fitted: true,
		Find: speedFigure(func(s *memwall.Speed) (mid, low, high *float64) { return s.TTFT, s.TTFTLow, s.TTFTHigh })},
}

// speedFigure reads a figure of the speed and its band.
func speedFigure(of func(*memwall.Speed) (mid, low, high *float64)) func(*memwall.Answer, string) (Range, bool) {
	return func(a *memwall.Answer, _ string) (Range, bool) {
		if a.Speed == nil {
			return Range{}, false
		}
		mid, low, high := of(a.Speed)
		if mid == nil || low == nil || high == nil {
			return Range{}, false
		}
		return Range{*mid, *low, *high}, true
	}
}
