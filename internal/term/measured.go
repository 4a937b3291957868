package term

import (
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Measured adds the badge of an answer confirmed or contradicted by the user's own rows, if there are any.
func (p *Page) Measured(m *memwall.Measured) {
	if m == nil {
		return
	}
	p.Blank()
	badge, words := MeasuredText(m)
	p.Para(Pad(Gap), Join(Say(badge, Bold), Say(" "+words)))
}

// MeasuredText returns the badge and its explanation.
func MeasuredText(m *memwall.Measured) (badge, words string) {
	rows := m.Rows
	if rows == 0 {
		rows = m.OtherRows
	}
	return "measured × " + unit.Count(int64(rows)), measuredWords(m)
}

// measuredWords describes how measured figures compare with the prediction.
func measuredWords(m *memwall.Measured) string {
	if m.Rows == 0 {
		return "on these devices with this engine, of other models"
	}
	var words []string
	for _, r := range m.Ratios {
		w := r.Kind + " " + unit.Fixed(r.Median, 2)
		if r.Figures > 1 {
			w += " (" + unit.Fixed(r.Low, 2) + "–" + unit.Fixed(r.High, 2) + ")"
		}
		words = append(words, w)
	}
	text := "on this card"
	if len(words) > 0 {
		text += "; over the prediction: " + strings.Join(words, ", ")
	}
	if m.Quarantined > 0 {
		text += "; " + Plural(int64(m.Quarantined), "figure", "figures") + " in quarantine: memwall rows"
	}
	return text
}
