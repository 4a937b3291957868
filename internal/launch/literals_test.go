package launch

import (
	"strings"
	"testing"
)

// TestLiterals: commands as programs of other languages write them, and lists and texts that start no server.
func TestLiterals(t *testing.T) {
	for text, want := range map[string]string{
		"server, port = launch_server_cmd(\n    \"python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2\"\n)":                                                                                         "Qwen/Qwen3-8B tp 2",
		"subprocess.Popen(\n [sys.executable, \"-m\", \"vllm.entrypoints.openai.api_server\",\n  \"--model\", \"Qwen/Qwen3-8B\",\n  \"--tensor-parallel-size\", \"2\", \"--max-model-len\", str(ctx)], env=env)": "Qwen/Qwen3-8B tp 2 --max-model-len '$unset'",
		"const args = ['vllm', 'serve', 'Qwen/Qwen3-8B', '--tensor-parallel-size', '4'];":                                                                                                                        "Qwen/Qwen3-8B tp 4",
		"print('hello world') or [1, 2, 3]": "",
		"x = [\"rm\", \"-rf\", \"vllm\"]":   "",
	} {
		l, err := readLaunch(text)
		got := ""
		if err == nil {
			got = strings.TrimSpace(l.Model + " tp " + string('0'+rune(l.Plan.TP)) + " " + strings.Join(l.Unknown, " "))
		}
		if got != want {
			t.Errorf("%s\n got  %q (%v)\n want %q", text, got, err, want)
		}
	}
}
