package stream

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/model/catalog"
)

// TestNearest: measurements of the device itself, the engine, the model and the format come first, and none of another
// family are named; an engine that nobody measured says so.
func TestNearest(t *testing.T) {
	for _, c := range []struct{ model, weights, device, backend, engine, first, rests string }{
		{"llama-3-8b", "q4_k_m", "rtx-3090", "cuda", "llama.cpp", "GeForce RTX 3090, llama.cpp on cuda, 2024-05, llama-3-8b q4_k_m: 114 tok/s measured", "figures of GeForce RTX 3090 on cuda"},
		{"llama-2-7b", "q4_0", "rx-7900-xtx", "vulkan", "llama.cpp", "Radeon RX 7900 XTX, llama.cpp on vulkan", "on vulkan"},
		{"llama-3-8b", "exl2-4.0bpw", "rtx-4090", "cuda", "exllamav2", "GeForce RTX 4090, exllamav2 on cuda", "figures of exllamav2"},
		{"llama-3-8b", "exl3-4.0bpw", "rtx-4090", "cuda", "exllamav3", "GeForce RTX 4090", "none of exllamav3"},
	} {
		p := predictor(t, c.model, c.weights, c.device, c.backend, c.engine)
		list := p.Nearest(2)
		if len(list) != 2 || !strings.HasPrefix(list[0].String(), c.first) {
			t.Errorf("%s on %s with %s: %v", c.model, c.device, c.engine, list)
		}
		if !strings.Contains(p.RestsOn(), c.rests) {
			t.Errorf("%s on %s with %s rests on %q", c.model, c.device, c.engine, p.RestsOn())
		}
	}
	if list := predictor(t, "llama-3-8b", "q4_k_m", "arc-b580", "sycl", "llama.cpp").Nearest(2); len(list) != 0 {
		for _, m := range list {
			if d, _, err := hardware.Find(m.Device); err != nil || d.Vendor != "Intel" {
				t.Errorf("an Arc is told of %s", m.String())
			}
		}
	}
}

func predictor(t *testing.T, model, weights, device, backend, engine string) *Predictor {
	t.Helper()
	e, err := catalog.Find(model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Spec()
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := hardware.Find(device)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Model(e.ID)
	x, err := Compile(Input{Model: m, Weights: m.Store(dtype.FindRecipe(weights)), Engine: engine, Stages: []Stage{{Backend: backend, Device: d, Dense: 1, Experts: 1, Head: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := Fitted()
	if err != nil {
		t.Fatal(err)
	}
	return x.With(table)
}
