package validation

import (
	"math"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/stat"
)

// TestTransformersAsked: a plan of transformers is answered by the law of its own rows and not by that of engines that serve, which
// is six times as fast. Builds move by a third from report to report, so that the median is held, and few rows far off are let pass.
func TestTransformersAsked(t *testing.T) {
	rows, err := Streams()
	if err != nil {
		t.Fatal(err)
	}
	var off []float64
	for i := range rows {
		r := &rows[i]
		if r.Engine != "transformers" || r.ofPrompt() {
			continue
		}
		q := memwall.Request{Ask: "fit", Model: r.Model, Hardware: r.Device, Devices: int64(max(1, r.Count))}
		q.Engine, q.Weights, q.Context, q.PromptTokens, q.OutputTokens = "transformers", r.Weights, 2049, 1, 2048
		a, err := memwall.Ask(&q)
		if err != nil || a.Speed == nil || a.Speed.Decode == nil {
			t.Errorf("%s: %v", r.Name(), err)
			continue
		}
		off = append(off, math.Abs(math.Log(*a.Speed.Decode/r.Rate)))
	}
	if m := math.Exp(stat.Median(off)); len(off) < 40 || m > 1.6 {
		t.Errorf("%d rows, off by a factor of %.2f in the middle", len(off), m)
	}
}
