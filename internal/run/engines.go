package run

import (
	"os/exec"

	"github.com/memwall/memwall/engine/argv"
)

// listening is how an engine is told where to listen, the port that it takes by itself, and the page that answers once it is well.
type listening struct {
	host, portFlag string
	port           int
	well           string
	env            []argv.Variable // what lets it print what it takes
}

// loudly: from May 2026 on (#23021) llama-server prints its buffers at this level alone; servers before do not know the variable.
var loudly = []argv.Variable{{Name: "LLAMA_ARG_LOG_VERBOSITY", Value: "4"}}

const health = "/health"

// engines that memwall starts. Ports and pages: vllm/entrypoints/openai/cli_args.py (0.24), sglang/srt/server_args.py (0.5),
// tools/server/README.md of llama.cpp, mlx_lm/server.py, tensorrt_llm/commands/serve.py, where /health answers once the model is loaded;
// envconfig/config.go and docs/api.md of Ollama (0.32), and docs/cli of LM Studio, whose models are loaded afterwards.
var engines = map[string]listening{
	"vllm":         {"--host", "--port", 8000, health, nil},
	"sglang":       {"--host", "--port", 30000, health, nil},
	"llama.cpp":    {"--host", "--port", 8080, health, loudly},
	"llama-server": {"--host", "--port", 8080, health, loudly},
	"mlx-lm":       {"--host", "--port", 8080, health, nil},
	"tensorrt-llm": {"--host", "--port", 8000, health, nil},
	ollama:         {"", "", 11434, "/api/version", nil},
	studio:         {"", "", 1234, "/api/v0/models", nil},
}

const (
	ollama = "ollama"
	studio = "lmstudio"
)

// programs of engines that are started, in the order in which they are looked for.
var programs = []struct{ engine, program string }{
	{"llama-server", "llama-server"}, {"vllm", "vllm"}, {"mlx-lm", "mlx_lm.server"}, {"tensorrt-llm", "trtllm-serve"},
	{ollama, "ollama"}, {studio, "lms"},
}

// Installed returns the engines whose programs are in PATH. SGLang, a Python module, is not detected.
func Installed() (out []string) {
	for _, p := range programs {
		if _, err := exec.LookPath(p.program); err == nil {
			out = append(out, p.engine)
		}
	}
	return out
}
