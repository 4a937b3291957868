package run

import "os/exec"

// listening is how an engine is told where to listen, and the port that it takes by itself.
type listening struct {
	host, portFlag string
	port           int
}

// engines that memwall starts: those whose server answers /health once the model is loaded. Ports: vllm/entrypoints/openai/cli_args.py
// (0.24), sglang/srt/server_args.py (0.5), tools/server/README.md of llama.cpp, mlx_lm/server.py, tensorrt_llm/commands/serve.py.
var engines = map[string]listening{
	"vllm":         {"--host", "--port", 8000},
	"sglang":       {"--host", "--port", 30000},
	"llama.cpp":    {"--host", "--port", 8080},
	"llama-server": {"--host", "--port", 8080},
	"mlx-lm":       {"--host", "--port", 8080},
	"tensorrt-llm": {"--host", "--port", 8000},
}

// programs of engines that are started, in the order in which they are looked for.
var programs = []struct{ engine, program string }{
	{"llama-server", "llama-server"}, {"vllm", "vllm"}, {"mlx-lm", "mlx_lm.server"}, {"tensorrt-llm", "trtllm-serve"},
}

// Installed are the engines whose programs are in PATH. SGLang, a module of Python, is not seen.
func Installed() (out []string) {
	for _, p := range programs {
		if _, err := exec.LookPath(p.program); err == nil {
			out = append(out, p.engine)
		}
	}
	return out
}
