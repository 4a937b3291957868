package stream_test

import (
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/speed/stream"
)

// input of a catalog model, stored by a recipe, on one device.
func input(t testing.TB, id, recipe, device, backend string) stream.Input {
	t.Helper()
	m := catalogtest.Model(t, id)
	d, _, err := hardware.Find(device)
	if err != nil {
		t.Fatal(err)
	}
	return stream.Input{Model: m, Weights: m.Store(dtype.FindRecipe(recipe)), Engine: "llama.cpp", Flash: "1",
		Stages: []stream.Stage{{Backend: backend, Device: d, Dense: 1, Experts: 1, Head: 1}}}
}

func predictor(t testing.TB, in stream.Input) *stream.Predictor {
	t.Helper()
	m, err := stream.Compile(in)
	if err != nil {
		t.Fatal(err)
	}
	table, err := stream.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	return m.With(table)
}

var backends = map[string]string{"NVIDIA": "cuda", "AMD": "rocm", "Apple": "metal", "Intel": "vulkan"}

var models = []string{"llama-3.1-8b", "qwen3-30b-a3b", "gemma-3-27b", "deepseek-v2-lite", "qwen3-next-80b-a3b", "gpt-oss-20b", "mamba-2.8b"}

// TestNothingBeatsTheDatasheet: on every device of the catalog whose rates are known, a token takes at least the
// bytes it reads over the memory's rate, a prompt its operations over the peak.
func TestNothingBeatsTheDatasheet(t *testing.T) {
	tried := 0
	for _, d := range hardware.All() {
		backend, ok := backends[d.Vendor]
		if !ok || d.IsCPU() {
			continue
		}
		for _, id := range models {
			in := input(t, id, "q4_k_m", d.ID, backend)
			m, err := stream.Compile(in)
			if err != nil {
				break // its rates are not known
			}
			table, err := stream.Fitted()
			if err != nil {
				t.Fatal(err)
			}
			tried++
			f := m.With(table).Predict(stream.Test{Prompt: 2048, Generated: 128})
			if f.BandwidthFraction > 1.0001 || !(f.BandwidthFraction > 0) {
				t.Errorf("%s on %s reads %.2f of the memory's rate", id, d.ID, f.BandwidthFraction)
			}
			if f.FLOPsFraction > 1.0001 || !(f.FLOPsFraction > 0) {
				t.Errorf("%s on %s multiplies %.2f of the peak", id, d.ID, f.FLOPsFraction)
			}
			if f.Decode.Low > f.Decode.Mid || f.Decode.High < f.Decode.Mid || f.TTFT.Low > f.TTFT.Mid || f.TTFT.High < f.TTFT.Mid {
				t.Errorf("%s on %s: bands %+v %+v do not hold their figures", id, d.ID, f.Decode, f.TTFT)
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d cases were tried", tried)
	}
}

// TestMoreTakesLonger: a token behind more others, a longer prompt, a larger model and wider weights take longer.
func TestMoreTakesLonger(t *testing.T) {
	for _, on := range [][2]string{{"rtx-4090", "cuda"}, {"m4-max-40-core", "metal"}, {"ryzen-ai-max-395", "vulkan"}, {"mi300x", "rocm"}, {"epyc-9654", "cpu"}} {
		for _, id := range models {
			p := predictor(t, input(t, id, "q4_k_m", on[0], on[1]))
			was := stream.Figures{}
			for _, n := range []int64{1, 100, 512, 513, 2000, 8000, 32000} {
				f := p.Predict(stream.Test{Prompt: n, Generated: 64})
				if f.TTFT.Mid < was.TTFT.Mid || f.Decode.Mid < was.Decode.Mid {
					t.Errorf("%s on %s: %d tokens take %v, fewer took %v", id, on[0], n, f, was)
				}
				was = f
			}
		}
		small, large := predictor(t, input(t, "qwen3-4b", "q4_k_m", on[0], on[1])), predictor(t, input(t, "qwen3-32b", "q4_k_m", on[0], on[1]))
		wide := predictor(t, input(t, "qwen3-32b", "q8_0", on[0], on[1]))
		test := stream.Test{Prompt: 512, Generated: 64}
		if a, b, c := small.Predict(test), large.Predict(test), wide.Predict(test); a.Decode.Mid >= b.Decode.Mid || b.Decode.Mid >= c.Decode.Mid || a.TTFT.Mid >= b.TTFT.Mid {
			t.Errorf("on %s: %v, %v, %v", on[0], a.Decode, b.Decode, c.Decode)
		}
	}
}

// TestHostLayersCost: layers on the host slow an answer down, to no less than the host's memory needs.
func TestHostLayersCost(t *testing.T) {
	in := input(t, "llama-3.1-70b", "q4_k_m", "rtx-4090", "cuda")
	host, _, err := hardware.Find("ryzen-9-9950x")
	if err != nil {
		t.Fatal(err)
	}
	was := 0.0
	for _, share := range []float64{0.9, 0.5, 0.2} {
		in.Stages = []stream.Stage{{Backend: "cuda", Device: in.Stages[0].Device, Dense: share, Experts: share, Head: 1}, {Backend: "cpu", Device: host, Dense: 1 - share, Experts: 1 - share}}
		f := predictor(t, in).Predict(stream.Test{Prompt: 512, Generated: 64})
		least := (1 - share) * 39e9 / float64(host.Bandwidth.Value)
		if f.Decode.Mid <= was || f.Decode.Mid < least {
			t.Errorf("%g of the layers on the card: %v, before %g, at least %g", share, f.Decode, was, least)
		}
		was = f.Decode.Mid
	}
}

// TestUnknownRatesAreSaid: a device without a memory rate is refused by name.
func TestUnknownRatesAreSaid(t *testing.T) {
	in := input(t, "llama-3.1-8b", "q4_k_m", "rtx-4090", "cuda")
	in.Stages[0].Device = &hardware.Device{ID: "mystery"}
	if _, err := stream.Compile(in); err == nil {
		t.Error("a device without rates is timed")
	}
	in.Stages = nil
	if _, err := stream.Compile(in); err == nil {
		t.Error("no device is timed")
	}
}

func BenchmarkPredict(b *testing.B) {
	p := predictor(b, input(b, "llama-3.1-8b", "q4_k_m", "rtx-4090", "cuda"))
	b.ReportAllocs()
	for b.Loop() {
		p.Predict(stream.Test{Prompt: 2048, Generated: 128})
	}
}

func BenchmarkCompile(b *testing.B) {
	in := input(b, "llama-3.1-8b", "q4_k_m", "rtx-4090", "cuda")
	table, err := stream.Fitted()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m, err := stream.Compile(in)
		if err != nil {
			b.Fatal(err)
		}
		m.With(table)
	}
}
