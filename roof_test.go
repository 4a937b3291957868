package memwall

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model/catalog"
)

func roof(t *testing.T, on, model string) *Roof {
	t.Helper()
	r, err := (&Asker{}).Roof(&Request{Model: model, Hardware: on})
	if err != nil {
		t.Fatalf("%s on %s: %v", model, on, err)
	}
	return r
}

func about(got *Explain, want float64) bool {
	return got != nil && math.Abs(got.Value-want) <= 0.01*want
}

// TestRoofByHand: an 8B model reads all weights but its embedding table, and 128 KiB for each of 8,192 cached
// tokens; it multiplies twice for each weight, and four times 4,096 for each layer and pair.
func TestRoofByHand(t *testing.T) {
	r := roof(t, "h100-sxm-80gb", "llama-3.1-8b")
	const table = 128256 * 4096
	weights, cache := 2*(8030261248.0-table), 8193*131072.0
	flops := 2*(8030261248.0-table) + 32*4*4096*8192.0
	if !about(r.WeightsRead, weights) || !about(r.Cache, cache) || !about(r.Decode, 3.35e12/(weights+cache)) || !about(r.FLOPs, flops) {
		t.Errorf("weights %v, cache %v, decode %v, flops %v", r.WeightsRead.Value, r.Cache.Value, r.Decode.Value, r.FLOPs.Value)
	}
	prompt := 2*(8030261248.0-2*table) + 32*4*4096*4096.5
	if !about(r.PromptFLOPs, prompt) || !about(r.Prompt, 989e12/prompt) {
		t.Errorf("prompt %v, %v", r.PromptFLOPs.Value, r.Prompt.Value)
	}
	if !r.CacheBound || r.Batch != nil || !about(r.BatchShort, 298) {
		t.Errorf("1 GiB of cache takes longer than its arithmetic: %+v", r.BatchShort)
	}
}

// TestRoofsFollowFromTheirFormulas: over the catalog, each figure is what its formula gives for its inputs, and
// the batch is the first at which arithmetic takes as long as memory.
func TestRoofsFollowFromTheirFormulas(t *testing.T) {
	checked, never := 0, 0
	for _, id := range catalog.IDs() {
		r, err := (&Asker{}).Roof(&Request{Model: id, Hardware: "h200"})
		if e := (*Error)(nil); errors.As(err, &e) && e.Code == Unsupported && strings.Contains(e.Message, "generates no tokens") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for _, e := range []*Explain{r.WeightsRead, r.Cache, r.Bytes, r.FLOPs, r.PromptFLOPs, r.Decode, r.Prompt, r.Batch, r.BatchShort} {
			if e == nil {
				never++
				continue
			}
			checked++
			if v, err := evaluated(e); err != nil || math.Abs(v-e.Value) > 1e-9*math.Abs(e.Value) || e.Value < 0 {
				t.Errorf("%s: %s = %g, is %g, %v", id, e.Formula, v, e.Value, err)
			}
		}
		if all := r.WeightsRead.Value; r.Decode.Value <= 0 || all <= 0 || r.Decode.Value > 4.8e12/all*1.001 {
			t.Errorf("%s: %g tok/s for %g bytes of weights", id, r.Decode.Value, all)
		}
	}
	if checked < 2000 || never == 0 {
		t.Errorf("%d figures, %d unknown", checked, never)
	}
}

func evaluated(e *Explain) (float64, error) {
	var in []ledger.Input
	for _, i := range e.Inputs {
		in = append(in, ledger.Input{Name: i.Name, Value: i.Value})
	}
	return ledger.Eval(e.Formula, in)
}

// TestRoofOfExperts: one token reads the experts it chooses, many tokens nearly all, and no more than there are.
func TestRoofOfExperts(t *testing.T) {
	r := roof(t, "h200", "deepseek-v3")
	if !about(r.WeightsRead, 37.6e9*1.0) && (r.WeightsRead.Value < 36e9 || r.WeightsRead.Value > 40e9) {
		t.Errorf("%g bytes a token of 37.6B active parameters in fp8", r.WeightsRead.Value)
	}
	if r.Arithmetic != "fp8" || r.BatchShort == nil {
		t.Errorf("%+v", r)
	}
	for _, in := range r.BatchShort.Inputs {
		if in.Name == "weights_read" && in.Value > 671e9*1.1 {
			t.Errorf("a batch reads %g bytes", in.Value)
		}
	}
	if len(r.Notes) == 0 || r.Notes[len(r.Notes)-1].Code != "does_not_fit" {
		t.Errorf("notes %+v", r.Notes)
	}
}

// TestRoofRemarks: what does not bind says so.
func TestRoofRemarks(t *testing.T) {
	for _, c := range []struct{ on, model, code string }{
		{"h100", "llama-3.1-8b", ""}, {"max-1550", "smollm-135m", "cached_weights"}, {"rtx-4090", "llama-3.1-70b", "does_not_fit"},
		{"h100", "deepseek-v3.2", "does_not_fit"},
		{"name=x,memory=24GiB", "llama-3.1-8b", ""},
	} {
		r := roof(t, c.on, c.model)
		found := c.code == ""
		for _, n := range r.Notes {
			found = found || n.Code == c.code
		}
		if !found {
			t.Errorf("%s on %s: %+v", c.model, c.on, r.Notes)
		}
	}
	if r := roof(t, "name=x,memory=24GiB", "llama-3.1-8b"); r.Decode != nil || r.Prompt != nil || r.Bytes == nil {
		t.Errorf("a device without rates: %+v", r)
	}
	if r := roof(t, "name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS,fp8=160TFLOPS", "llama-3.1-8b"); r.Arithmetic != "bf16" ||
		!about(r.Prompt, 80e12/r.PromptFLOPs.Value) {
		t.Errorf("arithmetic %s", r.Arithmetic)
	}
}

// TestNoRoof: errors name what is wrong.
func TestNoRoof(t *testing.T) {
	for _, c := range []struct{ on, model, weights, field string }{
		{"rtx-4091", "llama-3.1-8b", "", "hardware"}, {"h100", "lama", "", "model"}, {"h100", "bge-m3", "", "model"},
		{"h100", "llama-3.1-8b", "q9", "weights"},
		{"2xname=x,memory=24GiB", "llama-3.1-8b", "", "hardware"}, {"name=x", "llama-3.1-8b", "", "memory"},
	} {
		q := &Request{Model: c.model, Hardware: c.on}
		q.Weights = c.weights
		_, err := (&Asker{}).Roof(q)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Field != c.field || e.Message == "" {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
