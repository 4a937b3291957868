package memwall

import "testing"

// TestSmallModelsShareACard: two that fit together are told so, by every engine; of vLLM the other gets the
// least share that holds it, and the first the rest.
func TestSmallModelsShareACard(t *testing.T) {
	for _, e := range []string{"vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers", "generic"} {
		r, err := Decode([]byte(`{"ask":"fit","model":"llama-3.1-8b","engine":"` + e + `","hardware":"h100","also":[{"model":"llama-3.2-1b","engine":"` + e + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Ask(r)
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if a.Verdict != Fits || a.Also[0].Verdict != Fits {
			t.Errorf("%s: %s, and the other %s", e, a.Verdict, a.Also[0].Verdict)
		}
		if e != "vllm" {
			continue
		}
		first, other := *a.Plan.GPUMemoryUtilization, *a.Also[0].Plan.GPUMemoryUtilization
		if first+other > 1 || first < 0.85 || other > 0.15 {
			t.Errorf("vLLM: shares of %g and %g", first, other)
		}
	}
}
