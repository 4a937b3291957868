package quant

import (
	"bytes"
	"math"
	"testing"
)

// steppedFormats are those whose codes may be chosen one by one.
func steppedFormats(t *testing.T) (out []*Format) {
	for _, f := range Formats() {
		if GPTQ.Improves(f) {
			out = append(out, f)
		}
	}
	if len(out) < 20 {
		t.Fatalf("%d formats have steps", len(out))
	}
	return out
}

// TestSteps: what a format reads is low + q·step, and placing those codes gives the bytes that encoding gave.
func TestSteps(t *testing.T) {
	x := heavy(4*512, 3)
	for _, f := range steppedFormats(t) {
		c := coderOf(f, surveyOf(x, 512)).(stepped)
		elems, size := c.Unit()
		run, top := c.runs()
		runs := (elems + run - 1) / run
		code, back := make([]byte, size), make([]float32, elems)
		step, low, q := make([]float32, runs), make([]float32, runs), make([]uint8, elems)
		for at := 0; at < len(x); at += elems {
			c.Encode(code, x[at:at+elems], nil)
			c.Decode(back, code)
			c.steps(code, step, low)
			for i, v := range back {
				n := 0.
				if s := float64(step[i/run]); s != 0 {
					n = math.Round((float64(v) - float64(low[i/run])) / s)
				}
				if d := float64(v) - n*float64(step[i/run]) - float64(low[i/run]); n < 0 || n > float64(top) ||
					math.Abs(d) > 1e-5*math.Abs(float64(low[i/run]))+1e-9 {
					t.Fatalf("%s: element %d is %v, which is %v steps of %v above %v", f.Name, i, v, n, step[i/run], low[i/run])
				}
				q[i] = uint8(n)
			}
			again := bytes.Clone(code)
			c.place(again, q)
			for i, v := range code {
				if again[i] != v {
					c.Decode(back, again)
					t.Fatalf("%s: byte %d is %#x, want %#x", f.Name, i, again[i], v)
				}
			}
		}
	}
}

// gain of a method on a format: its noise over that of rounding, on inputs that it did not see.
func gain(t *testing.T, f *Format, m Method, inputs, unseen *Tensor, up []float32) float64 {
	t.Helper()
	const rows, cols = 64, 512
	w := normal(rows*cols, 5)
	in, err := Activations(inputs)
	if err != nil {
		t.Fatal(err)
	}
	var noise [2]float64
	for i, method := range []Method{Nearest, m} {
		s := NewSurvey(rows, cols)
		s.Inputs = in.ofMatrix(0, cols)
		s.Inputs.method, s.Inputs.up = method, up
		s.Add(w)
		tr := tried(f, s, w)
		back := make([]float32, len(w))
		tr.units(w, func(at int, _, part []float32) { copy(back[at:], part) })
		noise[i] = trueNoise(w, back, unseen)
	}
	return noise[1] / noise[0]
}

// TestMethodGPTQ: of every kind of format with steps GPTQ takes a tenth off the error, which is a fifth off the noise, on
// inputs that correlate, and nothing on white ones.
func TestMethodGPTQ(t *testing.T) {
	white, unseen := inputsOf(2048, 512, 0, 0), loudInputs(1024, 512, 0, 0, 1, 12)
	mixed, other := inputsOf(2048, 512, 0.8, 0.5), loudInputs(1024, 512, 0.8, 0.5, 1, 12)
	for _, name := range []string{"q4_0", "q4_1", "q5_0", "q8_0", "q4_k", "q5_k", "q6_k", "q3_k", "q2_k", "int8", "int4-g128"} {
		f := find(t, name)
		if g := math.Sqrt(gain(t, f, GPTQ, mixed, other, nil)); g > 0.9 {
			t.Errorf("%s: %.3f of the error of rounding on inputs that correlate", name, g)
		}
		if g := math.Sqrt(gain(t, f, GPTQ, white, unseen, nil)); math.Abs(g-1) > 0.03 {
			t.Errorf("%s: %.3f of the error of rounding on white inputs", name, g)
		}
	}
}

// TestFewInputs: fewer inputs than columns, of which most correlations are chance, make nothing worse.
func TestFewInputs(t *testing.T) {
	if g := math.Sqrt(gain(t, find(t, "q4_k"), GPTQ, inputsOf(300, 512, 0, 0), loudInputs(1024, 512, 0, 0, 1, 12), nil)); g > 1.03 {
		t.Errorf("%.3f of the error of rounding", g)
	}
}
