package launch

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/called"
	"github.com/memwall/memwall/engine/plain"
	"github.com/memwall/memwall/engine/pycall"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/tensorrt"
	"github.com/memwall/memwall/engine/vllm"
)

// Engines started from Python: the keywords of the call are the flags of the server.

// pythonCall is a call that starts an engine.
type pythonCall struct {
	name string // its last part, or all of it if it contains a dot
	// of must occur in the text, if several libraries have a call of this name.
	of      string
	program string
	model   string // keyword of the model, which may be positional
	read    func(*argv.Command) (*argv.Launch, error)
	// steps reports that the engine takes larger steps in Python than as a server.
	steps bool
}

var pythonCalls = []pythonCall{
	{name: "LLM", of: "tensorrt_llm", program: "trtllm-serve", model: "model", read: tensorrt.FromArgs},
	{name: "LLM", program: "vllm.entrypoints.openai.api_server", model: "model", read: vllm.FromArgs, steps: true},
	{name: "AsyncEngineArgs", program: "vllm.entrypoints.openai.api_server", model: "model", read: vllm.FromArgs},
	{name: "EngineArgs", program: "vllm.entrypoints.openai.api_server", model: "model", read: vllm.FromArgs, steps: true},
	{name: "sgl.Engine", program: "sglang.launch_server", model: "model_path", read: sglang.FromArgs},
	{name: "sglang.Engine", program: "sglang.launch_server", model: "model_path", read: sglang.FromArgs},
	{name: "Llama", program: "llama_cpp.server", model: "model_path", read: called.FromArgs},
	{name: "Llama.from_pretrained", program: "llama_cpp.server", model: "repo_id", read: called.FromArgs},
	{name: "load", of: "mlx_lm", program: "mlx_lm.server", model: "path_or_hf_repo", read: plain.FromArgs},
	{name: "load", of: "mlx_vlm", program: "mlx_vlm.server", model: "path_or_hf_repo", read: plain.FromArgs},
	{name: "pipeline", of: "lmdeploy", program: "lmdeploy", model: "model_path", read: plain.FromArgs},
	{name: "LLMConfig", of: "ray", program: "vllm.entrypoints.openai.api_server", model: "model_source", read: vllm.FromArgs},
	{name: "MLCEngine", program: "mlc_llm", model: "model", read: plain.FromArgs},
}

var someCall = regexp.MustCompile(`(?:^|[^\w.])((?:\w+\.)*(?:LLM|AsyncEngineArgs|EngineArgs|Engine|Llama|Llama\.from_pretrained|load|pipeline|LLMConfig|MLCEngine))\(`)

// statement matches a line of Python that is not a shell command.
var statement = regexp.MustCompile(`(?m)^\s*(from [\w.]+ import |import [\w.]+\s*(as \w+)?\s*$|\w+(, \w+)* = [\w.]+\()`)

// callsServer reports whether a text contains a call that starts an engine from Python.
func callsServer(text string) bool {
	for _, m := range someCall.FindAllStringSubmatch(text, -1) {
		if callOf(m[1], text) != nil {
			return true
		}
	}
	return false
}

func callOf(name, text string) *pythonCall {
	for i := range pythonCalls {
		c := &pythonCalls[i]
		last := name[strings.LastIndexByte(name, '.')+1:]
		if (c.name == last && name != "Llama.from_pretrained" || c.name == name || strings.HasSuffix(name, "."+c.name)) &&
			(c.of == "" || strings.Contains(text, c.of)) {
			return c
		}
	}
	return nil
}

// fromCall parses the first such call as a command of the engine's server.
func fromCall(text string) (*argv.Launch, error) {
	calls, err := pycall.Calls(text)
	if err != nil {
		return nil, err
	}
	for _, call := range calls {
		c := callOf(call.Name, text)
		if c == nil {
			continue
		}
		l, err := c.read(&argv.Command{Program: c.program, Args: c.flags(call)})
		if err != nil || l == nil {
			return l, err
		}
		if c.steps && l.Plan.MaxBatchedTokens == 0 {
			l.Unknown = append(l.Unknown, call.Func()+"(…)'s own max_num_batched_tokens, 16384 on devices of 70 GiB and more")
		}
		return l, nil
	}
	return nil, argv.Wrong("the text", "", "holds no call that starts an engine",
		"LLM(model=…), sgl.Engine(model_path=…), Llama(model_path=…)")
}

// flags returns the arguments of a call as command-line flags.
func (c *pythonCall) flags(call *pycall.Call) (out []string) {
	if c.program == "lmdeploy" {
		out = []string{"serve", "api_server"}
	}
	ref := call.Positional(0)
	for _, a := range unfolded(call.Args) {
		switch {
		case a.Name == c.model:
			ref = a.Value
		case a.Name == "":
		case a.Value.Call != nil && strings.HasSuffix(a.Name, "_config"):
			out = append(out, keywords(a.Value.Call.Args)...)
		default:
			out = append(out, keyword(a)...)
		}
	}
	if ref == nil {
		return out
	}
	name := written(ref)
	switch c.program {
	case "lmdeploy", "trtllm-serve", "mlc_llm":
		return append(out, name)
	case "llama_cpp.server":
		return append([]string{"--" + c.model, name}, out...)
	case "sglang.launch_server":
		return append(out, "--model-path", name)
	}
	return append(out, "--model", name)
}

// unfolded returns keywords together with those nested in the blocks of Ray's LLMConfig (ray.serve.llm); without a source, the
// model's id is its source.
func unfolded(args []pycall.Pair) (out []pycall.Pair) {
	for _, a := range args {
		switch pairs := a.Value.Pairs; {
		case a.Name != "model_loading_config" && a.Name != "engine_kwargs":
			out = append(out, a)
		case a.Value.Call != nil:
			out = append(out, a.Value.Call.Args...)
		default:
			out = append(out, pairs...)
		}
	}
	for i := range out {
		if out[i].Name == "model_id" && !slices.ContainsFunc(out, func(p pycall.Pair) bool { return p.Name == "model_source" }) {
			out[i].Name = "model_source"
		}
	}
	return out
}

func keywords(args []pycall.Pair) (out []string) {
	for _, a := range args {
		out = append(out, keyword(a)...)
	}
	return out
}

// keyword returns an argument as a flag: bare if true, =false if false, dicts as JSON, and nothing for None.
func keyword(a pycall.Pair) []string {
	flag := "--" + strings.ReplaceAll(a.Name, "_", "-")
	switch v := a.Value; {
	case a.Name == "" || v.Text == "None" && !v.Quoted:
		return nil
	case v.Text == "True" && !v.Quoted:
		return []string{flag}
	case v.Text == "False" && !v.Quoted:
		return []string{flag + "=false"}
	case v.Pairs != nil:
		return []string{flag, dict(v)}
	default:
		return []string{flag, written(v)}
	}
}

// written returns a literal as is; a name not assigned in the text remains open, like an unset shell variable.
func written(v *pycall.Value) string {
	_, err := json.Number(v.Text).Float64()
	if v.Quoted || err == nil && v.Text != "" {
		return v.Text
	}
	return "${" + strings.Trim(v.String(), "(…){}[]") + "}"
}

func dict(v *pycall.Value) string {
	fields := map[string]any{}
	for _, p := range v.Pairs {
		switch val := p.Value; {
		case val.Pairs != nil:
			fields[p.Name] = json.RawMessage(dict(val))
		case val.Quoted:
			fields[p.Name] = val.Text
		case val.Text == "True" || val.Text == "False":
			fields[p.Name] = val.Text == "True"
		case val.Items == nil && val.Call == nil && json.Valid([]byte(val.Text)):
			fields[p.Name] = json.RawMessage(val.Text)
		}
	}
	data, _ := json.Marshal(fields)
	return string(data)
}
