package validation

import (
	"math"
	"strings"
	"testing"
)

// TestPowerRows: each row has power of one kind and a source; those that are used keep within what their device
// can do, and those that are not say why.
func TestPowerRows(t *testing.T) {
	s, runs, err := Power()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{"device_watts": true, "wall_watts": true, "idle_wall_watts": true, "peak_wall_watts": true}
	for i := range s.Rows {
		r, scopes := &s.Rows[i], 0
		for name := range r.Got {
			if strings.HasSuffix(name, "watts") {
				scopes++
				if !kinds[name] {
					t.Errorf("%s: %s is not a kind of power", r.Name(), name)
				}
			}
		}
		if scopes != 1 || r.Source == "" {
			t.Errorf("%s has %d kinds of power and the source %q", r.Name(), scopes, r.Source)
		}
	}
	for i := range runs {
		r := &runs[i]
		if r.Row.Refused != "" || !r.Row.Fit {
			t.Errorf("%s is used: refused %q, fit %v", r.Row.Name(), r.Row.Refused, r.Row.Fit)
		}
		if limit := float64(r.Device.TDP.Value); r.Watts > 1.1*limit || r.Watts < 0.05*limit {
			t.Errorf("%s: %g W of a limit of %g", r.Row.Name(), r.Watts, limit)
		}
		if l := r.Load; !(l.Memory > 0 && l.Memory <= 1 && l.Compute >= 0 && l.Compute <= 1) {
			t.Errorf("%s: a load of %+v, beyond the datasheet", r.Row.Name(), l)
		}
	}
	if len(runs) < 400 {
		t.Errorf("only %d runs are used", len(runs))
	}
}

// TestLoadByHand: Llama 3.1 8B reads its weights and the cache of its batch in each step. The table of the
// embedding, 1.05 GB, is read by the row.
func TestLoadByHand(t *testing.T) {
	_, runs, err := Power()
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		r := &runs[i]
		if !strings.HasSuffix(r.Row.Ask.Model, "Llama-3.1-8B-Instruct") || r.Row.Got["batch"].Mid > 40 {
			continue
		}
		batch := r.Row.Got["batch"].Mid
		bytes := 16.06e9 - 1.05e9 + batch*131072*float64(r.Row.Ask.OutputTokens)/2
		want := bytes * r.Row.Got["tokens_per_s"].Mid / batch / float64(r.Device.Bandwidth.Value)
		if math.Abs(r.Load.Memory/want-1) > 0.02 {
			t.Errorf("%s: %.4f of the memory's rate, by hand %.4f", r.Row.Name(), r.Load.Memory, want)
		}
		return
	}
	t.Error("no such run")
}
