package memwall

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// on24GB is a card with a host behind 16 lanes of PCIe 4.
const on24GB = "name=x,memory=48GiB,bandwidth=1TB/s,bf16=165TFLOPS,pcie=4x16,host=64GiB@60GB/s"

func hostedOf(engine, model string, gib int64) Request {
	return Request{Model: model, Hardware: on24GB,
		Plan: plan.Plan{Engine: engine, Context: 4096, Serving: plan.Serving{CPUOffload: plan.Size(gib << 30)}}}
}

// TestHostedWeightsCostTheLink: the more weights lie on the host the slower, and never faster than the link brings them; the
// band covers half of what links reach; prompts wait too.
func TestHostedWeightsCostTheLink(t *testing.T) {
	for _, engine := range []string{"vllm@0.6.4", "vllm@0.24", "sglang"} {
		near := spedUp(t, hostedOf(engine, "qwen2.5-14b", 0))
		last := near
		for _, gib := range []int64{1, 4, 12} {
			v := spedUp(t, hostedOf(engine, "qwen2.5-14b", gib))
			link := 1000 * float64(gib<<30) / 31.5e9
			if *v.TPOT <= *last.TPOT || *v.TPOT < link || *v.Total >= *last.Total || *v.TTFT <= *near.TTFT {
				t.Errorf("%s, %d GiB on the host: %g ms a token, %g before, the link alone needs %g", engine, gib, *v.TPOT, *last.TPOT,
					link)
			}
			if gib == 12 && (v.Bound != "network" || *v.TPOTHigh < 1.5*(*v.TPOT) || *v.TPOTLow > *v.TPOT) {
				t.Errorf("%s: %g ms, %g to %g, bound by %s", engine, *v.TPOT, *v.TPOTLow, *v.TPOTHigh, v.Bound)
			}
			last = v
		}
	}
}

// TestHostedExperts: read in place, only the experts that tokens go to cross the link; layers that are copied cross whole.
func TestHostedExperts(t *testing.T) {
	copied, inPlace := spedUp(t, hostedOf("sglang", "qwen3-30b-a3b", 24)), spedUp(t, hostedOf("vllm@0.24", "qwen3-30b-a3b", 24))
	if *inPlace.TPOT*3 > *copied.TPOT {
		t.Errorf("24 GiB of layers: %g ms a token in place, %g copied", *inPlace.TPOT, *copied.TPOT)
	}
}

// TestHostedLink: a published run of the way that copies (Llama 2 13B in 16 bits, 5 GiB on the host, GeForce RTX 4090:
// 2.4 tokens a second, dphnAI/sonar#598) lies in the band.
func TestHostedLink(t *testing.T) {
	r := hostedOf("vllm@0.5.4", "llama-2-13b", 5)
	r.Hardware = "rtx-4090"
	r.Context = 2048
	v := spedUp(t, r)
	if *v.DecodeLow > 2.4 || *v.DecodeHigh < 2.4 {
		t.Errorf("%g to %g tokens a second, 2.4 were measured", *v.DecodeLow, *v.DecodeHigh)
	}
}

// TestHostedCountsHostMemory: weights that the host has no room for do not fit, and the verdict says so; what moves is
// said.
func TestHostedCountsHostMemory(t *testing.T) {
	for _, c := range []struct {
		host string
		want Verdict
	}{{"64GiB", Fits}, {"8GiB", DoesNotFit}} {
		r := hostedOf("vllm@0.24", "qwen2.5-14b", 10)
		r.Ask, r.Hardware = "fit", "name=x,memory=48GiB,bandwidth=1TB/s,bf16=165TFLOPS,pcie=4x16,host="+c.host+"@60GB/s"
		a, err := Ask(&r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != c.want || !slices.ContainsFunc(a.Notes,
			func(n Note) bool { return n.Code == "crosses" && n.Field == "cpu_offload_bytes" }) {
			t.Errorf("a host of %s: %s, notes %+v", c.host, a.Verdict, a.Notes)
		}
	}
}

// TestLeastHosted: a model that is too large for a card fits with as few weights on the host as are suggested, not with a
// GiB less, and the suggestion is an answer of its own.
func TestLeastHosted(t *testing.T) {
	for _, engine := range []string{"vllm@0.24", "sglang"} {
		r := Request{Ask: "fit", Model: "qwen2.5-14b",
			Hardware: "name=x,memory=28GiB,bandwidth=250GB/s,bf16=165TFLOPS,pcie=5x16,host=64GiB@60GB/s",
			Plan:     plan.Plan{Engine: engine, Context: 4096}}
		a, err := Ask(&r)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Suggestions, func(s Suggestion) bool { return s.Patch["cpu_offload_bytes"] != nil })
		if at < 0 || a.Suggestions[at].Verdict != Fits {
			t.Errorf("%s: %+v", engine, a.Suggestions)
			continue
		}
		enough, err := Patch(&r, a.Suggestions[at].Patch)
		if err != nil {
			t.Fatal(err)
		}
		enough.CPUOffload -= 1 << 30
		if less, err := asker().Size(enough); err != nil || less.Verdict == Fits {
			t.Errorf("%s: %d bytes are enough too, %v", engine, enough.CPUOffload, err)
		}
	}
}

// TestHostedFormulas: figures that rest on an assumed share of the link say so, and the formula of what crosses comes to it.
func TestHostedFormulas(t *testing.T) {
	for _, engine := range []string{"vllm@0.6.4", "vllm@0.24", "sglang"} {
		r := hostedOf(engine, "qwen3-30b-a3b", 6)
		r.Ask, r.Explain, r.Hardware, r.TP, r.PP = "fit", true, "4xa100-sxm-80gb", 2, 2
		a, err := Ask(&r)
		if err != nil {
			t.Fatal(err)
		}
		checkFormulas(t, &r, a)
		at := slices.IndexFunc(a.Speed.Parts, func(p SpeedPart) bool { return p.Name == "copies" })
		e := a.Explain["/speed/parts/"+strconv.Itoa(at)+"/ms"]
		if at < 0 || e.Basis != ledger.Assumed || !strings.Contains(e.Formula, "link") {
			t.Errorf("%s: part %d: %+v", engine, at, e)
		}
	}
}
