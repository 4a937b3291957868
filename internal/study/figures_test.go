package study

import (
	"encoding/json"
	"testing"

	"github.com/memwall/memwall"
)

// TestFigures: figures are in the unit of their names, as their bands are, which they lie in.
func TestFigures(t *testing.T) {
	for _, text := range []string{
		"ask: fit\nmodels: llama-3.1-8b\nhardware: h100\n",
		"ask: sim\nmodels: llama-3.1-8b\nhardware: h100\nworkload: {rate: 2, requests: 50}\n",
		"ask: train\nmodels: llama-3.1-8b\nhardware: 8xh100\nplan: {tokens: 1000000}\n",
	} {
		s := read(t, text)
		r, err := memwall.Decode(s.At(0, "t").Request)
		if err != nil {
			t.Fatal(err)
		}
		a, err := (&memwall.Asker{}).Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		g, err := GistOf(s.Ask, answer)
		if err != nil || len(g.Figures) < 5 {
			t.Fatalf("%+v, %v", g, err)
		}
		bands := 0
		for name, f := range g.Figures {
			if f.Low == nil || f.High == nil {
				continue
			}
			bands++
			if f.Value < min(*f.Low, *f.High) || f.Value > max(*f.Low, *f.High) {
				t.Errorf("%s: %s is %v, with a band of %v to %v", s.Ask, name, f.Value, *f.Low, *f.High)
			}
		}
		if bands < 3 {
			t.Errorf("%s: %d bands", s.Ask, bands)
		}
		if s.Ask == "fit" && g.Figures["ttft_ms"].Value != *a.Speed.TTFT {
			t.Errorf("ttft_ms is %v, and the answer says %v", g.Figures["ttft_ms"].Value, *a.Speed.TTFT)
		}
	}
}
