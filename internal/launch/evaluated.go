package launch

import (
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/vllm"
)

// Engines started by EleutherAI's harness: lm_eval --model vllm --model_args pretrained=…,tensor_parallel_size=4.

// evaluates returns the harness's program names.
func evaluates() []string { return []string{"lm_eval", "lm-eval"} }

// harnessOwn are settings used by the harness itself: its replicas are separate servers.
var harnessOwn = map[string]bool{"max_gen_toks": true, "batch_size": true, "data_parallel_size": true}

// fromHarness parses the harness's model arguments as the engine's flags (lm_eval/models/vllm_causallms.py, sglang_causallms.py).
func fromHarness(c *argv.Command) (*argv.Launch, error) {
	kind, settings := valueOf(c.Args, "--model"), valueOf(c.Args, "--model_args")
	program, model, read := "vllm.entrypoints.openai.api_server", "--model", vllm.FromArgs
	switch kind {
	case "vllm", "vllm-vlm":
	case "sglang":
		program, model, read = "sglang.launch_server", "--model-path", sglang.FromArgs
	default:
		return nil, argv.Wrong("lm_eval --model", argv.Blotted(kind), "starts no engine that is read", "--model vllm or --model sglang")
	}
	var flags []string
	for _, s := range strings.Split(settings, ",") {
		name, value, _ := strings.Cut(s, "=")
		switch {
		case name == "" || harnessOwn[name] || strings.EqualFold(value, "none"):
		case name == "pretrained":
			flags = append(flags, model, value)
		case strings.EqualFold(value, "true"):
			flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-"))
		case strings.EqualFold(value, "false"):
		default:
			flags = append(flags, "--"+strings.ReplaceAll(name, "_", "-"), value)
		}
	}
	return read(&argv.Command{Program: program, Args: flags, Env: c.Env, Devices: c.Devices})
}

// valueOf returns the value after a flag; "" if there is none.
func valueOf(args []string, flag string) string {
	for i, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && name == flag {
			return value
		}
		if a == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}
