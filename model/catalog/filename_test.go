package catalog

import "testing"

func TestFindFileNames(t *testing.T) {
	for name, want := range map[string]string{
		"qwen3 32B Q8_0 / Qwen3-32B-Q8_0":                                          "qwen3-32b",
		"llama 13B Q4_K - Medium / Mistral-Small-3.1-24B-Instruct-2503-UD-Q4_K_XL": "mistral-small-3.1-24b",
		"baidu_ERNIE-4.5-21B-A3B-PT-Q4_K_M":                                        "ernie-4.5-21b-a3b",
		"llama-2-7b.Q4_0":                                                          "llama-2-7b",
		"gemma-3-12b-it-UD-Q8_K_XL":                                                "gemma-3-12b",
		"Phi 4 Mini 3.8B":                                                          "phi-4-mini",
		"GLM-4.7-Flash 30B-A3B":                                                    "glm-4.7-flash",
		"Qwen3 32B (Dense)":                                                        "qwen3-32b",
	} {
		e, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if e.ID != want {
			t.Errorf("%s is %s, want %s", name, e.ID, want)
		}
	}
}

// A size that the model does not have is not part of its name.
func TestFindRefusesOtherSizes(t *testing.T) {
	for _, name := range []string{"DeepSeek-R1 9B", "phi-4-mini 14B", "Llama 14B-Q4_0"} {
		if e, err := Find(name); err == nil {
			t.Errorf("%s is %s, want an error", name, e.ID)
		}
	}
}

// A version that is not known is no other model whose name holds the figure; a figure that is a size is one.
func TestFindRefusesOtherVersions(t *testing.T) {
	for _, name := range []string{"llama-5", "granite4.1:70b", "llama3.1:9b", "phi-5", "nemotron 4", "qwen4", "gemma 6"} {
		if e, err := Find(name); err == nil {
			t.Errorf("%s is %s, want an error", name, e.ID)
		}
	}
	for name, want := range map[string]string{"gpt oss 120": "gpt-oss-120b", "mistral 7": "mistral-7b-v0.3", "llama 70": "llama-3.3-70b", "phi 4": "phi-4"} {
		if e, err := Find(name); err != nil || e.ID != want {
			t.Errorf("%s is %v (%v), want %s", name, e, err, want)
		}
	}
}

// TestSizesBoth: a name that says what it holds and what a token takes means the entry of which both are true.
func TestSizesBoth(t *testing.T) {
	for name, want := range map[string]string{
		"GLM-4.7-355B-A32B": "glm-4.7", "GLM-4.5-Air-106B-A12B": "glm-4.5-air", "Kimi-K2-1T-A32B": "kimi-k2", "DeepSeek-R1/": "deepseek-r1",
		"GLM-4.7-355B-A12B": "", "Qwen3-235B-A3B": "", "Qwen3-8B-A3B": "",
	} {
		e, err := Find(name)
		if want == "" && err == nil || want != "" && (err != nil || e.ID != want) {
			t.Errorf("%s: %v, %v, want %q", name, e, err, want)
		}
	}
}
