package workload

import (
	"testing"
	"time"
)

// TestSurvey of a few requests.
func TestSurvey(t *testing.T) {
	src := fixedSource{{Prompt: 10, Output: 1}, {Arrival: time.Second, Prompt: 20, Output: 2, Spans: []Span{{1, 15}}},
		{Arrival: 4 * time.Second, Prompt: 60, Output: 3}}
	l, err := Survey(&src)
	if err != nil || l.Requests != 3 || l.Prompt.Mean != 30 || l.Prompt.Max != 60 || l.Rate() != 0.5 || l.Output.Mean != 2 {
		t.Errorf("%+v %v", l, err)
	}
	none := fixedSource{}
	if l, _ = Survey(&none); l.Rate() != 0 || l.Prompt != (Spread{}) {
		t.Errorf("%+v", l)
	}
}
