package memwall

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// TestCommandsNameTheModel: the command that an answer prints for an id of the catalog names it, and is read as it again.
func TestCommandsNameTheModel(t *testing.T) {
	t.Parallel()
	named := 0
	for i, id := range catalog.IDs() {
		engines, one := []string{"vllm", "ollama"}, asker().Remembering()
		if i%8 == 0 {
			engines = []string{"vllm", "sglang", "tensorrt-llm", "llama-server", "ollama"}
		}
		for _, engine := range engines {
			p := plan.Plan{Engine: engine, Context: 512}
			if engine == "ollama" || engine == "llama-server" {
				p.Weights = "q4_k_m"
			}
			q, err := one.env().Prepare(&Request{Ask: "fit", Model: id, Plan: p})
			if err != nil {
				continue // the engine does not load it
			}
			command := q.Engine.Command(q.Job)
			r, _, err := FromCommand(command)
			if err != nil {
				t.Errorf("%s on %s: %s: %v", id, engine, command, err)
				continue
			}
			named++
			again, err := Catalog{}.Model(r.Model)
			if err != nil || again.ID != id {
				t.Errorf("%s on %s is run as %s, which is %+v, %v", id, engine, command, again, err)
			}
		}
	}
	if named < 500 {
		t.Errorf("%d commands", named)
	}
}

// TestStoredIsSized: what a name says of the format is what is sized, and the command names that checkpoint.
func TestStoredIsSized(t *testing.T) {
	for _, c := range []struct{ model, weights, engine, names string }{
		{"Qwen/Qwen3-32B-AWQ", "awq", "vllm", "Qwen/Qwen3-32B-AWQ"},
		{"RedHatAI/Qwen3-32B-FP8-dynamic", "fp8", "vllm", "RedHatAI/Qwen3-32B-FP8-dynamic"},
		{"unsloth/Qwen3-32B-GGUF:Q4_K_M", "q4_k_m", "llama.cpp", "unsloth/Qwen3-32B-GGUF:Q4_K_M"},
		{"/srv/Qwen3-14B-Q6_K.gguf", "q6_k", "llama.cpp", "/srv/Qwen3-14B-Q6_K.gguf"},
		{"/root/Qwen3-8B", "bf16", "vllm", "/root/Qwen3-8B"},
		{"qwen3:32b", "q4_k_m", "ollama", "qwen3:32b"},
		{"deepseek-v3.1", "fp8-block", "vllm", "deepseek-ai/DeepSeek-V3.1"},
		{"glm-4.6", "bf16", "vllm", "zai-org/GLM-4.6"},
	} {
		a, err := asker().Ask(&Request{Ask: "fit", Model: c.model, Hardware: "8xh200"})
		if err != nil {
			t.Errorf("%s: %v", c.model, err)
			continue
		}
		name, _, _ := strings.Cut(a.Plan.Engine, "@")
		if a.Plan.Weights != c.weights || name != c.engine || !strings.Contains(a.Flags[name], c.names) {
			t.Errorf("%s is sized in %s for %s and run by %q", c.model, a.Plan.Weights, name, a.Flags)
		}
	}
}
