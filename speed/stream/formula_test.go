package stream_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/speed/stream"
)

// TestFormulasGiveTheParts: the printed formulas, evaluated with their printed inputs, are the parts of a step.
func TestFormulasGiveTheParts(t *testing.T) {
	host, _, err := hardware.Find("ryzen-9-9950x")
	if err != nil {
		t.Fatal(err)
	}
	test := stream.Test{Prompt: 512, Generated: 64}
	for _, on := range [][2]string{{"rtx-4090", "cuda"}, {"m4-max-40-core", "metal"}, {"mi300x", "rocm"}, {"epyc-9654", "cpu"}} {
		for _, id := range models {
			in := input(t, id, "q4_k_m", on[0], on[1])
			split := in
			split.Stages = []stream.Stage{{Backend: on[1], Device: in.Stages[0].Device, Dense: 0.7, Experts: 0.5, Head: 1}, {Backend: "cpu", Device: host, Dense: 0.3, Experts: 0.5}}
			for _, in := range []stream.Input{in, split} {
				for _, n := range []int64{1, 8} {
					p := predictor(t, in)
					agree(t, p.Loop(test, n), p.Formulas(test, n))
					prompt := stream.Test{Prompt: 700}
					if got, want := evaluated(t, p.FirstToken(prompt)), 1000*p.Predict(prompt).TTFT.Mid; math.Abs(got-want) > 1e-9*want {
						t.Errorf("%s on %s: a prompt takes %v ms by its formula, %v", id, on[0], got, want)
					}
				}
			}
		}
	}
}

// TestEagerHostRunsAhead: an eager engine's step takes as long as its host where that is slower, whatever the device; its formulas say so.
func TestEagerHostRunsAhead(t *testing.T) {
	test := stream.Test{Prompt: 1, Generated: 64}
	step := func(id, device string) float64 {
		in := input(t, id, "bf16", device, "cuda")
		in.Engine = "transformers"
		p := predictor(t, in)
		agree(t, p.Loop(test, 1), p.Formulas(test, 1))
		return p.Predict(test).Decode.Mid
	}
	if slow, fast := step("qwen3-0.6b", "a100-sxm-80gb"), step("qwen3-0.6b", "h200-sxm-141gb"); fast < 0.9*slow {
		t.Errorf("a small model takes %g s on an A100 and %g on an H200, though the host is waited for", slow, fast)
	}
	if slow, fast := step("llama-3.1-70b", "a100-sxm-80gb"), step("llama-3.1-70b", "h200-sxm-141gb"); fast > 0.8*slow {
		t.Errorf("a large model takes %g s on an A100 and %g on an H200, though the device is waited for", slow, fast)
	}
}

func evaluated(t *testing.T, f stream.Formula) float64 {
	t.Helper()
	var inputs []ledger.Input
	for _, x := range f.Inputs {
		inputs = append(inputs, ledger.Input{Name: x.Name, Value: x.Value})
	}
	v, err := ledger.Eval(f.Text, inputs)
	if err != nil {
		t.Errorf("%s: %v", f.Text, err)
	}
	return v
}

func agree(t *testing.T, l stream.Loop, formulas []stream.Formula) {
	t.Helper()
	for i, f := range formulas {
		ms := evaluated(t, f)
		if want := 1000 * l.Parts[i].Seconds; f.Part != l.Parts[i].Name || math.Abs(ms-want) > 1e-9*want {
			t.Errorf("%s: %s = %v, the part is %v", f.Part, f.Text, ms, want)
		}
	}
}
