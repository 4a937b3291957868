package calibrate

import (
	"math"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/stream"
)

// widths are those of the bands of decoding and of prompts on a card, over their figures.
func widths(t *testing.T, c memwall.Calibration) (decode, prompt float64) {
	t.Helper()
	a, err := (&memwall.Asker{Calibration: c}).Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-3090",
		Plan: plan.Plan{Weights: "q4_k_m"}})
	if err != nil || a.Speed == nil || a.Speed.Decode == nil || a.Speed.Prefill == nil {
		t.Fatalf("%v", err)
	}
	s := a.Speed
	return (*s.DecodeHigh - *s.DecodeLow) / *s.Decode, (*s.PrefillHigh - *s.PrefillLow) / *s.Prefill
}

// tuned by rows that are off by a share, every second one by a further factor.
func tuned(t *testing.T, share, every float64) (*Profile, *Tuned) {
	t.Helper()
	obs := rowsOf(t, share)
	for i := 1; i < len(obs); i += 2 {
		obs[i].Value *= every
	}
	p, refused, err := Fit(obs, &Stream{Models: memwall.Catalog{}})
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	c, err := p.Tune()
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

// TestBandOfOwn: where the rows of a machine agree, its band is what machines that agree leave; where they do not, it
// is wider; and prompts, of which there was no row, are as little known as before.
func TestBandOfOwn(t *testing.T) {
	usual, usualPrompt := widths(t, nil)
	p, calm := tuned(t, 0.9, 1)
	own, prompt := widths(t, calm)
	table, err := stream.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := table.Spread(stream.OwnSpread + "decode")
	if !ok || len(p.Own) != 1 || p.Own[0].Key != "cuda/rtx-3090" || p.Own[0].Rows != 4 {
		t.Fatalf("%+v, spread %v", p.Own, ok)
	}
	if low, high := s.Band(1, p.Own[0].Variance); own > (1/low-1/high)*1.05 ||
		own > usual/2 { // a figure that moved with its rows has a band of its own
		t.Errorf("the band is %.3f wide, %.3f before, and rows that agree leave %.3f", own, usual, 1/low-1/high)
	}
	if prompt < 0.95*usualPrompt {
		t.Errorf("the band of prompts went from %.3f to %.3f", usualPrompt, prompt)
	}
	_, wild := tuned(t, 0.9, 1.25)
	if wide, _ := widths(t, wild); wide < 2*own {
		t.Errorf("rows that differ by a quarter leave a band %.3f wide, and rows that agree %.3f", wide, own)
	}
}

// TestOwnKeeps: repeated runs of one test say nothing of others, and a profile keeps what it knows.
func TestOwnKeeps(t *testing.T) {
	obs := rowsOf(t, 0.9)[:1]
	for range 3 {
		obs = append(obs, obs[0])
	}
	p, _, err := Fit(obs, &Stream{Models: memwall.Catalog{}})
	if err != nil || len(p.Own) != 0 {
		t.Errorf("%v: four runs of one test give %+v", err, p.Own)
	}
	old, _ := tuned(t, 0.9, 1)
	p.Offsets = nil
	if p.KeepOwn(old); len(p.Own) != 1 {
		t.Errorf("kept %+v", p.Own)
	}
	text, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ReadProfile(text); err != nil || back.Own[0] != p.Own[0] {
		t.Errorf("%+v %v", back, err)
	}
	for _, bad := range []Own{{}, {"t", "k", "f", -1, 2}, {"t", "k", "f", math.Inf(1), 2}} {
		if bad.check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
