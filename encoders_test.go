package memwall

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// TestEncoders: what reads whole texts or images is answered by every engine: it needs its weights and what it works
// on, keeps nothing, and says so.
func TestEncoders(t *testing.T) {
	for _, e := range Engines() {
		for _, id := range []string{"bge-m3", "modernbert-base", "clip-vit-large-patch14", "dinov2-large", "siglip-so400m-patch14-384"} {
			a, err := asker().Ask(&Request{Ask: "fit", Model: id, Hardware: "h100",
				Plan: plan.Plan{Engine: e, Weights: "bf16", Context: 256}})
			if gguf := slices.Contains([]string{"llama.cpp", "llama-server", "ollama", "ik_llama.cpp"}, e); gguf && id == "dinov2-large" {
				if err == nil {
					t.Errorf("%s, %s: answered", e, id)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", e, id, err)
				continue
			}
			d := a.Devices[0]
			if a.Verdict != Fits || a.KV.BytesPerToken != 0 || a.KV.NeededBytes != 0 || d.Needed < d.Sum("weights") ||
				d.Sum("kv_cache") != 0 {
				t.Errorf("%s, %s: %s, cache %+v, needed %s", e, id, a.Verdict, a.KV, d.Needed)
			}
			if !hasText(a, "an encoder caches nothing") {
				t.Errorf("%s, %s: %+v", e, id, a.Notes)
			}
		}
	}
}

func hasText(a *Answer, text string) bool {
	for _, n := range a.Notes {
		if strings.HasPrefix(n.Text, text) {
			return true
		}
	}
	return false
}

// TestSourceCache: Whisper's decoder keeps keys and values of its own tokens, and of the 1,500 frames of each clip once:
// 6 layers of 2 × 512 numbers.
func TestSourceCache(t *testing.T) {
	const layers, numbers, frames, own, users = 6, 2 * 512, 1500, 448, 3
	for e, want := range map[string]unit.Bytes{
		"transformers": users * layers * numbers * 4 * (frames + own), // as the files are, in fp32
		"vllm":         users * layers * numbers * 2 * 16 * (94 + 28), // in pages of 16 tokens, 16 bits
	} {
		a, err := asker().Ask(&Request{Ask: "fit", Model: "whisper-base", Hardware: "h100",
			Plan: plan.Plan{Engine: e, Context: own, Sequences: users}})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Devices[0].Sum("kv_cache"); got != want {
			t.Errorf("%s: %d bytes, want %d", e, got, want)
		}
	}
}

// TestSourceRefusals: engines whose rule for the encoder's output is not described refuse it, and name those that have one.
func TestSourceRefusals(t *testing.T) {
	for _, e := range []string{"llama.cpp", "sglang", "tensorrt-llm"} {
		for _, id := range []string{"whisper-base", "t5-small", "llama-3.2-11b-vision"} {
			_, err := asker().Ask(&Request{Ask: "fit", Model: id, Hardware: "h100", Plan: plan.Plan{Engine: e}})
			var problem *Error
			if !errors.As(err, &problem) || problem.Field != "engine" || !strings.Contains(problem.Hint, "--engine transformers") {
				t.Errorf("%s, %s: %v", e, id, err)
			}
		}
	}
}

// TestDraftOfEncoder: who generates nothing takes no draft, in any engine.
func TestDraftOfEncoder(t *testing.T) {
	for _, engine := range []string{"llama.cpp", "vllm", "sglang"} {
		_, err := Ask(&Request{Ask: "fit", Model: "bge-m3", Hardware: "h100", Plan: plan.Plan{Engine: engine, DraftModel: "qwen3-0.6b"}})
		if err == nil || !strings.Contains(err.Error(), "generates nothing") {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// TestPicturesHoldNoUsers: of a diffusion model pictures are counted and no contexts, and its first cure is a format that its program
// makes while it loads.
func TestPicturesHoldNoUsers(t *testing.T) {
	for on, cure := range map[string]string{"rtx-4090": "", "rtx-3060": "nf4", "rtx-4070-ti-super": "fp8"} {
		a := asked(t, "fit", Request{Model: "flux.1-dev", Hardware: on})
		if !a.KV.Pictures || len(a.Rungs) > 0 || strings.Contains(a.Reasons.Breaks, "user") || hasText(a, "an encoder caches nothing") {
			t.Errorf("%s: %+v, %d rungs, %s", on, a.KV, len(a.Rungs), a.Reasons.Breaks)
		}
		first := ""
		if s := firstCure(a.Suggestions); s != nil {
			first, _ = s.Patch["weights"].(string)
		}
		if first != cure {
			t.Errorf("%s: %q first, want %q", on, first, cure)
		}
	}
}
