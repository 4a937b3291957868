package memwall

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestRoofline: predicted steps lie under the roof of their device; one user is bound by bandwidth and a prompt by
// arithmetic on cards of a data centre; what runs at once is no more than what fits.
func TestRoofline(t *testing.T) {
	for _, c := range []struct {
		model, on string
		users     int64
		runs      int64
	}{{"llama-3.1-70b", "2xh100", 6, 3}, {"llama-3.1-8b", "h100", 1, 1}, {"llama-3.1-8b", "rtx-4090", 2, 2},
		{"qwen3-30b-a3b", "h100", 4, 4}, {"deepseek-v3", "8xh200", 8, 8}} {
		r := &Request{Ask: "fit", Model: c.model, Hardware: c.on}
		r.Engine, r.Sequences = "vllm", plan.Int(c.users)
		out, err := (&Asker{}).Roofline(r)
		if err != nil || out == nil || len(out.Points) != 2 {
			t.Errorf("%s on %s: %v %+v", c.model, c.on, err, out)
			continue
		}
		decode, prompt := out.Points[0], out.Points[1]
		if decode.Sequences != c.runs || decode.Bound != "bandwidth" || prompt.Bound != "arithmetic" {
			t.Errorf("%s on %s: %+v", c.model, c.on, out.Points)
		}
		for _, p := range out.Points {
			if roof := min(out.Peak, p.Intensity*out.Bandwidth); p.Rate <= 0 || p.Low > p.Rate || p.High < p.Rate || p.Rate > roof {
				t.Errorf("%s on %s: %+v under a roof of %g", c.model, c.on, p, roof)
			}
		}
	}
	for _, on := range []string{"rtx-4090+rtx-3060", "name=x,memory=48GiB"} {
		if out, err := (&Asker{}).Roofline(&Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: on}); err != nil || out != nil {
			t.Errorf("%s: %v %+v", on, err, out)
		}
	}
	if _, err := (&Asker{}).Roofline(&Request{Ask: "fit", Model: "nosuch", Hardware: "h100"}); err == nil {
		t.Error("an unknown model has a roofline")
	}
}
