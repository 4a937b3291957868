package called

import (
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestNamesAreOnes: every name is of one program, is found however it is marked, and has a source for what it sets.
func TestNamesAreOnes(t *testing.T) {
	seen := map[string]string{}
	for i := range programs {
		p := &programs[i]
		for _, n := range p.Names {
			if seen[fold(n)] != "" && n != "llamacpp-python" {
				t.Errorf("%s is %s and %s", n, seen[fold(n)], p.Title)
			}
			seen[fold(n)] = p.Title
			if Find(n) != p {
				t.Errorf("%s is not found", n)
			}
		}
		if (p.Context > 0 || p.Batch > 0 || p.FlashOff) && p.Source == "" {
			t.Errorf("%s sets what no source says", p.Title)
		}
	}
	for text, want := range map[string]string{"LM Studio": "LM Studio", "text-generation-webui": "text-generation-webui", "ik_llama.cpp": "ik_llama.cpp", "mlx-lm": "MLX", "exllamav2": "ExLlamaV2", "vllm": ""} {
		if p := Find(text); want == "" && p != nil || want != "" && (p == nil || p.Title != want) {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// TestApply: what a plan says stays, what it does not say the program fills in.
func TestApply(t *testing.T) {
	kobold := Find("koboldcpp")
	said := plan.Plan{Context: 4096, Attention: "flash"}
	if set := kobold.Apply(&said); said.Context != 4096 || said.Attention != "flash" || said.BatchTokens != 512 || len(set) != 1 {
		t.Errorf("%+v, %v", said, set)
	}
	var open plan.Plan
	if set := kobold.Apply(&open); open.Context != 8192 || open.Attention != "eager" || len(set) != 3 {
		t.Errorf("%+v, %v", open, set)
	}
}

// TestOwner: formats of one program alone.
func TestOwner(t *testing.T) {
	for recipe, want := range map[string]string{"mlx-4bit": "MLX", "exl2-4.0bpw": "ExLlamaV2", "exl3-3.0bpw": "ExLlamaV3", "q4_k_m": "", "": ""} {
		if p := Owner(recipe); want == "" && p != nil || want != "" && (p == nil || p.Title != want) {
			t.Errorf("%s: %+v", recipe, p)
		}
	}
}
