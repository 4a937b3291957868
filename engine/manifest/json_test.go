package manifest

import "testing"

// TestJSON: kubectl -o json and docker compose config --format json print the same files.
func TestJSON(t *testing.T) {
	const pod = `{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "image": "vllm/vllm-openai", "args": ["--model", "x/y"]}]}}`
	for text, want := range map[string]int{
		pod: 1,
		"{\n    \"kind\": \"List\",\n    \"items\": [" + pod + ", " + pod + "]\n}":       2,
		`{"services": {"llm": {"image": "vllm/vllm-openai", "command": "--model x/y"}}}`: 1,
		`{"kind": "ConfigMap", "data": {"a": "b"}}`:                                      0,
	} {
		if !Is(text) {
			t.Errorf("%s is not a manifest", text)
		}
		if got, _ := Read(text); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{`{"model": "x/y"}`, "vllm serve x --speculative-config '{\"kind\": 1}'"} {
		if Is(text) {
			t.Errorf("%s is a manifest", text)
		}
	}
}
