package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/unit"
)

func TestParseLaw(t *testing.T) {
	for text, want := range map[string]Law{
		"1500":                     {Law: "fixed", Mean: 1500},
		"lognormal:1500,0.5":       {Law: "lognormal", Mean: 1500, CV: 0.5},
		"lognormal:1500,0.5,1-800": {Law: "lognormal", Mean: 1500, CV: 0.5, Min: 1, Max: 800},
		"uniform:100-2000":         {Law: "uniform", Min: 100, Max: 2000},
		"uniform:500,0.3":          {Law: "uniform", Mean: 500, CV: 0.3},
		"exponential:300":          {Law: "exponential", Mean: 300},
		"exponential:300,1-900":    {Law: "exponential", Mean: 300, Min: 1, Max: 900},
		"empirical:1,2,3":          {Law: "empirical", Values: []float64{1, 2, 3}},
	} {
		got, err := ParseLaw(text, unit.ParseNumber)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
		if err := got.check("prompt", 1, MaxTokens); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "many", "zipf:3", "lognormal:", "lognormal:1,2,3", "lognormal:1500,-1", "exponential:300,2",
		"uniform:1-b", "empirical:1,x", "fixed:NaN"} {
		if got, err := ParseLaw(text, unit.ParseNumber); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

func TestParseChoice(t *testing.T) {
	if c, err := ParseChoice("50:1.2"); err != nil || c != (Choice{Count: 50, Zipf: 1.2}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, text := range []string{"", "x", "5:y", "-5"} {
		if c, err := ParseChoice(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, c)
		}
	}
}
