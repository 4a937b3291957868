package memwall

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
)

// TestSiblings: where a model is held slowly or not at all, the best smaller one that is held is named: of its line, or a newer one of
// another line where the line has none as good; it has fewer parameters, and asked with the change it fits. Where a setting of the plan
// does as well, none is.
func TestSiblings(t *testing.T) {
	for _, c := range []struct{ model, on, weights, want string }{
		{"deepseek-r1", "rtx-4090", "", "qwen3."},         // what it was distilled into is behind by two years
		{"glm-4.6", "4xrtx-3090", "", "qwen3."},           // twice the score of the smaller mixture of the line
		{"llama-3.1-405b", "rtx-3060", "", "qwen3."},      //
		{"llama-3.3-70b", "rtx-4090", "q4_k_m", "qwen3."}, // layers on the host leave some three tokens a second
		{"gemma-3-27b", "m1-8gb", "", "qwen3."},           // scores better at the speed of gemma 3 4B
		{"qwen3-235b-a22b", "m4-max-64gb", "", "qwen"},
		{"qwen3-32b", "rtx-3090", "q4_k_m", ""}, // fits
		{"qwen3-30b-a3b", "rtx-4060-ti-16gb", "q4_k_m", ""},
		{"kimi-k2", "8xh100", "", ""}, // four bits hold it as fast
	} {
		r := Request{Ask: "fit", Model: c.model, Hardware: c.on}
		r.Weights = c.weights
		a := goalOf(t, &r)
		if c.want == "" {
			if len(a.Siblings) > 0 {
				t.Errorf("%s on %s: %+v", c.model, c.on, a.Siblings[0])
			}
			continue
		}
		if len(a.Siblings) == 0 || !strings.HasPrefix(a.Siblings[0].Model, c.want) {
			t.Errorf("%s on %s: %+v", c.model, c.on, a.Siblings)
			continue
		}
		s := a.Siblings[0]
		if ofLine := strings.HasPrefix(c.model, c.want); !ofLine && (s.Score == nil || s.ScoreOfAsked != nil && s.Score.Value < s.ScoreOfAsked.Value) {
			t.Errorf("%s on %s: %s is of another line and no better", c.model, c.on, s.Model)
		}
		there, err := Patch(&r, s.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if b := goalOf(t, there); b.Verdict != Fits || b.Devices[0].Headroom != s.Headroom || b.Model.Parameters >= a.Model.Parameters {
			t.Errorf("%s on %s: %s is %s with %d free and %d parameters", c.model, c.on, s.Model, b.Verdict, b.Devices[0].Headroom,
				b.Model.Parameters)
		}
		if _, err := catalog.Find(s.Model); err != nil {
			t.Error(err)
		}
	}
}
