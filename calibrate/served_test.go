package calibrate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
)

// loops gives figures of a server whose times are so many times memwall's own, at several numbers of users.
func loops(t *testing.T, slower float64) []Observation {
	t.Helper()
	f := &Formulas{Models: memwall.Catalog{}}
	var out []Observation
	for i, users := range []int64{1, 8, 32, 64} {
		for _, test := range []Test{TPOT, Output} {
			o := Observation{At: fmt.Sprintf("row %d", i+1), Model: "Qwen/Qwen3-32B", Hardware: "h100-sxm-80gb", Devices: 2, Engine: "vllm",
				Test: test, Prompt: 512, Answer: 256, Concurrency: users, Requests: 10 * users}
			x, err := f.Formula(&o)
			if err != nil {
				t.Fatal(err)
			}
			c := make([]float64, len(x.Uses))
			for k, u := range x.Uses {
				c[k] = x.Coefs.At(u).Value
			}
			o.Value = x.Value(c) * slower
			if test == Output {
				o.Value = x.Value(c) / slower
			}
			out = append(out, o)
		}
	}
	return out
}

// TestServedIsTuned: servers that take a fifth longer are known as that, at numbers of users that were left out.
func TestServedIsTuned(t *testing.T) {
	p, refused, err := Fit(loops(t, 1.2), &Formulas{Models: memwall.Catalog{}})
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	if math.Abs(*p.Before-0.2) > 0.02 || *p.After > 0.08 {
		t.Errorf("median error %.3f before, %.3f left out", *p.Before, *p.After)
	}
	for _, o := range p.Offsets {
		if o.Table != memwall.ServingTable || o.Key != "h100-sxm-80gb" {
			t.Errorf("%+v", o)
		}
	}
	tuned, err := p.Tune()
	if err != nil || tuned.Table(memwall.ServingTable, "h100-sxm-80gb") == nil ||
		tuned.Table(memwall.ServingTable, "h200-sxm-141gb") != nil || tuned.Table(memwall.StreamTable, "h100-sxm-80gb") != nil {
		t.Error("the tuned table is of that device and of servers alone", err)
	}
}

func TestServedRefuses(t *testing.T) {
	good := loops(t, 1)[0]
	for says, change := range map[string]func(*Observation){
		"name the model":        func(o *Observation) { o.Model = "" },
		"name the devices":      func(o *Observation) { o.Hardware = "" },
		"not known hardware":    func(o *Observation) { o.Hardware = "h999" },
		"does not fit":          func(o *Observation) { o.Hardware, o.Devices = "rtx-3060", 1 },
		"not all told":          func(o *Observation) { o.Concurrency = 0 },
		"fixed number of users": func(o *Observation) { o.Test = Throughput },
		"no model called":       func(o *Observation) { o.Model = "no-such-model" },
	} {
		o := good
		change(&o)
		if _, err := (&Formulas{Models: memwall.Catalog{}}).Formula(&o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want one that says %q", err, says)
		}
	}
}

// servedWidths are those of the bands of a token and of the first one of a server, over their figures.
func servedWidths(t *testing.T, model string, c memwall.Calibration) (token, first float64) {
	t.Helper()
	a, err := (&memwall.Asker{Calibration: c}).Ask(&memwall.Request{Ask: "fit", Model: model, Hardware: "2xh100-sxm-80gb",
		Plan: plan.Plan{Engine: "vllm", Sequences: 16, PromptTokens: 512, OutputTokens: 256, Context: 768}})
	if err != nil || a.Speed == nil || a.Speed.TPOT == nil || a.Speed.TTFT == nil {
		t.Fatalf("%v", err)
	}
	s := a.Speed
	return (*s.TPOTHigh - *s.TPOTLow) / *s.TPOT, (*s.TTFTHigh - *s.TTFTLow) / *s.TTFT
}

// TestBandOfOwnServer: figures of a server that agree leave a narrow band of such figures, of that model; of figures
// that it lacks, and of other models, what calibrated coefficients leave.
func TestBandOfOwnServer(t *testing.T) {
	usual, usualFirst := servedWidths(t, "qwen3-32b", nil)
	tune := func(every float64) *Tuned {
		obs := loops(t, 1.1)
		for i := range obs {
			if i/2%2 == 1 && obs[i].Test == TPOT {
				obs[i].Value *= every
			}
		}
		p, refused, err := Fit(obs, &Formulas{Models: memwall.Catalog{}})
		if err != nil || len(refused) > 0 {
			t.Fatal(err, refused)
		}
		c, err := p.Tune()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	calm := tune(1)
	own, first := servedWidths(t, "qwen3-32b", calm)
	if own <= 0 || own > usual/2 {
		t.Errorf("the band of a token is %.3f wide, %.3f before", own, usual)
	}
	if first < 0.8*usualFirst {
		t.Errorf("the band of the first token, of which there is no figure, went from %.3f to %.3f", usualFirst, first)
	}
	if wide, _ := servedWidths(t, "qwen3-32b", tune(1.3)); wide < 1.5*own {
		t.Errorf("figures that differ by a third leave a band %.3f wide, and such that agree %.3f", wide, own)
	}
	before, _ := servedWidths(t, "llama-3.1-8b", nil)
	if other, _ := servedWidths(t, "llama-3.1-8b", calm); other < 0.5*before || other < own {
		t.Errorf("the band of another model went from %.3f to %.3f", before, other)
	}
}
