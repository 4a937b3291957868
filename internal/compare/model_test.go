package compare

import "testing"

func TestModelName(t *testing.T) {
	for ref, want := range map[string]string{
		"meta-llama/Llama-3.1-8B": "meta-llama/Llama-3.1-8B", "/models/Meta-Llama-3-8B-Instruct": "Meta-Llama-3-8B-Instruct",
		"/models/Meta-Llama-3-8B-Instruct/":                                                "Meta-Llama-3-8B-Instruct",
		"/root/.cache/huggingface/hub/models--meta-llama--Llama-3.2-1B/snapshots/0e9e39f2": "meta-llama/Llama-3.2-1B",
		"/hub/Qwen/Qwen2___5-7B-Instruct":                                                  "Qwen2.5-7B-Instruct",
		`D:\models\Qwen3-8B`:                                                               "Qwen3-8B", "./Qwen3-8B": "Qwen3-8B", "Qwen3-8B": "Qwen3-8B", "/": "", "": "",
	} {
		if got := modelName(ref); got != want {
			t.Errorf("%q: %q", ref, got)
		}
	}
}
