package called

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/argv"
)

// TestFromArgs: caches of few bits by each program's own flags, adapters, and what turns devices off.
func TestFromArgs(t *testing.T) {
	for _, c := range []struct{ line, engine, plan, unknown string }{
		{"koboldcpp --model m.gguf --quantkv 1 --gpulayers 9", "koboldcpp", `{"kv":"q8_0","kv_v":"f16","gpu_layers":9}`, ""},
		{"koboldcpp --model m.gguf --quantkv 2 --flashattention", "koboldcpp", `{"kv":"q4_0","kv_v":"q4_0","attention":"flash"}`, ""},
		{"koboldcpp --model m.gguf --lora a-r16.gguf 0.5 --usecpu", "koboldcpp", `{"adapters":[{"rank":16}],"gpu_layers":0}`, ""},
		{"koboldcpp --model m.gguf --lora a.gguf", "koboldcpp", `{}`, "--lora a.gguf"},
		{"python server.py --model m.gguf --cache_8bit --row-split --no-mmap", "text-generation-webui", `{"kv":"q8_0","kv_v":"q8_0","split_mode":"row","mmap":false}`, ""},
		{"python server.py --model m.gguf --cache_4bit --cpu", "text-generation-webui", `{"kv":"q4_0","kv_v":"q4_0","gpu_layers":0}`, ""},
		{"python server.py --model m --loader exllamav2 --cache_8bit", "exllamav2", `{"kv":"fp8"}`, ""},
		{"python server.py --loader exllamav2_hf --model m --cache_4bit --gpu-split 20,24", "exllamav2", `{"kv":"q4"}`, "--gpu-split 20,24"},
		{"python server.py --model m --loader exllamav3 --cache-8bit", "exllamav3", `{"kv":"q8"}`, ""},
	} {
		cmds, err := argv.Parse(c.line)
		if err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		l, err := FromArgs(&cmds[len(cmds)-1])
		if err != nil || l == nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if got, err := json.Marshal(l.Plan); err != nil || string(got) != c.plan || l.Engine != c.engine || strings.Join(l.Unknown, "|") != c.unknown {
			t.Errorf("%s:\n got  %s %s %q\n want %s %s", c.line, l.Engine, got, l.Unknown, c.engine, c.plan)
		}
	}
	for _, line := range []string{"koboldcpp --model m.gguf --quantkv 7", "koboldcpp --model m.gguf --gpulayers some", "python server.py --model m.gguf --ctx-size x"} {
		cmds, _ := argv.Parse(line)
		if l, err := FromArgs(&cmds[0]); err == nil {
			t.Errorf("%s: %+v", line, l)
		}
	}
}
