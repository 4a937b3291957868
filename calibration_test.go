package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed/coef"
	"github.com/memwall/memwall/speed/stream"
)

// slower is a calibration under which one card reads its weights at nine tenths of the usual rate.
type slower struct{ asked []string }

func (s *slower) Table(name, device string) *coef.Table {
	s.asked = append(s.asked, name+" "+device)
	t, err := stream.Fitted()
	if device != "cuda/rtx-3090" || err != nil {
		return nil
	}
	return t.Shifted([]coef.Shift{{Coefficient: "read", Level: "device", Key: device,
		By: coef.Offset{Value: -0.105, StdErr: 0.01, Rows: 1}}})
}

// TestCalibration: a card that was measured is answered for by its own figures, and the answer says so; others
// are as they were.
func TestCalibration(t *testing.T) {
	ask := func(c Calibration, on string) *Answer {
		a, err := (&Asker{Calibration: c}).Ask(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: on, Explain: true,
			Plan: plan.Plan{Weights: "q4_k_m"}})
		if err != nil || a.Speed == nil || a.Speed.Decode == nil {
			t.Fatalf("%s: %v", on, err)
		}
		return a
	}
	usual, own := ask(nil, "rtx-3090"), ask(&slower{}, "rtx-3090")
	if ratio := *own.Speed.Decode / *usual.Speed.Decode; ratio > 0.97 || ratio < 0.89 {
		t.Errorf("decodes %.3f times as fast with nine tenths of the rate", ratio)
	}
	if own.Speed.RestsOn == "" || !hasNote(own, "calibrated", "hardware") || hasNote(usual, "calibrated", "hardware") {
		t.Errorf("rests on %q, noted %v", own.Speed.RestsOn, hasNote(own, "calibrated", "hardware"))
	}
	if s := own.Explain["/speed/decode_tokens_per_s"].Source; s == usual.Explain["/speed/decode_tokens_per_s"].Source {
		t.Errorf("its source is %q all the same", s)
	}
	c := &slower{}
	if *ask(c, "rtx-4090").Speed.Decode != *ask(nil, "rtx-4090").Speed.Decode || len(c.asked) == 0 || c.asked[0] != "stream cuda/rtx-4090" {
		t.Errorf("another card changed, asked for %q", c.asked)
	}
}
