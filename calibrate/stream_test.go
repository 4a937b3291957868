package calibrate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// rowsOf gives llama-bench rows of an 8B on a card, whose rates are a share of memwall's own prediction.
func rowsOf(t *testing.T, share float64) []Observation {
	t.Helper()
	s := &Stream{Models: memwall.Catalog{}}
	var out []Observation
	for i, depth := range []int64{0, 2048, 8192, 16384} {
		o := Observation{At: fmt.Sprintf("row %d", i+1), Model: "models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", Weights: "Q4_K - Medium",
			Hardware: "NVIDIA GeForce RTX 3090", Devices: 1, Engine: "llama.cpp", Backend: "CUDA",
			Concurrency: 1, GPULayers: "99", Flash: "1", Test: Decode, Answer: 128, Depth: depth}
		f, err := s.Formula(&o)
		if err != nil {
			t.Fatal(err)
		}
		c := make([]float64, len(f.Uses))
		for k, u := range f.Uses {
			c[k] = f.Coefs.At(u).Value
		}
		o.Value = share * f.Value(c)
		out = append(out, o)
	}
	return out
}

// TestStreamIsTuned: a card that is a tenth slower than most is known as that afterwards, at other depths too: to a third of it, where depth is left out.
func TestStreamIsTuned(t *testing.T) {
	obs := rowsOf(t, 0.9)
	p, refused, err := Fit(obs, &Stream{Models: memwall.Catalog{}})
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	if math.Abs(*p.Before-0.11) > 0.02 || *p.After > 0.04 { // the mean of the middle two of four
		t.Errorf("median error %.3f before, %.3f left out", *p.Before, *p.After)
	}
	for _, o := range p.Offsets {
		if o.Table != memwall.StreamTable || o.Key != "cuda/rtx-3090" {
			t.Errorf("%+v", o)
		}
	}
}

// TestStreamRefuses: what is not known is named.
func TestStreamRefuses(t *testing.T) {
	good := rowsOf(t, 1)[0]
	for says, change := range map[string]func(*Observation){
		"not known hardware":       func(o *Observation) { o.Hardware = "RTX 9999" },
		"does not name the device": func(o *Observation) { o.Hardware = "" },
		"2 devices":                func(o *Observation) { o.Devices = 2 },
		"not one device":           func(o *Observation) { o.Hardware, o.Devices = "2xh100", 0 },
		"give --model":             func(o *Observation) { o.Model = "llama 99B Q4_K - Medium" },
		"name the model":           func(o *Observation) { o.Model = "" },
		"give --weights":           func(o *Observation) { o.Weights = "Q9_X" },
		"12 of 32 layers":          func(o *Observation) { o.GPULayers = "12" },
		"vllm are not calibrated":  func(o *Observation) { o.Engine = "vllm" },
		"not of a single stream":   func(o *Observation) { o.Test = TPOT },
		"backend":                  func(o *Observation) { o.Backend = "OpenVINO" },
	} {
		o := good
		change(&o)
		if _, err := (&Stream{Models: memwall.Catalog{}}).Formula(&o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want one that says %q", err, says)
		}
	}
}

// TestWrongUnit: milliseconds read as a rate, and a rate beyond the card, are refused with both figures.
func TestWrongUnit(t *testing.T) {
	obs := rowsOf(t, 1)[:2]
	obs[0].Value, obs[1].Value = 8.1, 900
	_, refused, err := Fit(obs, &Stream{Models: memwall.Catalog{}})
	if err != nil || len(refused) != 2 || !strings.Contains(refused[0].Why, "times the prediction") ||
		!strings.Contains(refused[1].Why, "datasheet allows") {
		t.Errorf("%+v %v", refused, err)
	}
}
