package manifest

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// Settings of launchers, and of engines themselves, in YAML.

var (
	swapModels = regexp.MustCompile(`(?m)^models:`)
	swapCmd    = regexp.MustCompile(`(?m)^\s+"?cmd"?:`)
)

// keyed begins with a key: a script that writes such a file from within does not.
var keyed = regexp.MustCompile(`^([ \t]*(#[^\n]*|---)?\r?\n)*[ \t]*["']?[\w-]+["']?:([ \t]|\r?\n|$)`)

func isSwap(text string) bool {
	return keyed.MatchString(text) && swapModels.MatchString(text) && swapCmd.MatchString(text)
}

// swapped are the models of llama-swap: each has a command, on several lines without marks, with macros of the file.
func swapped(_ *file, d *yaml.Node) (out []container) {
	models := d.At("models")
	if models == nil {
		return nil
	}
	for _, name := range models.Keys {
		m := models.Of[name]
		cmd := m.At("cmd")
		if cmd == nil {
			continue
		}
		text := macros(macros(cmd.Value(), m.At("macros")), d.At("macros"))
		text = strings.ReplaceAll(text, "${MODEL_ID}", name)
		c := container{entry: []string{"sh", "-c", joined(text)}}
		c.Env = variables(m.At("env"))
		out = append(out, c)
	}
	return out
}

// macros puts ${name} in; one may hold others that stand before it.
func macros(text string, n *yaml.Node) string {
	if n == nil {
		return text
	}
	for i := len(n.Keys) - 1; i >= 0 && len(text) <= argv.MaxText; i-- {
		text = strings.ReplaceAll(text, "${"+n.Keys[i]+"}", strings.TrimSpace(n.Of[n.Keys[i]].Value()))
	}
	return text
}

// joined makes one line of several, without those that are comments and without marks that continue them.
func joined(text string) string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSuffix(strings.TrimSpace(l), `\`); !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return strings.Join(out, " ")
}

var (
	settingModel = regexp.MustCompile(`(?m)^(hf_model_handle|model|model-path|model_path|model_tag|served-model-name):[ \t]+\S`)
	settingFlag  = regexp.MustCompile(`(?m)^(tensor[-_]parallel[-_]size|pipeline[-_]parallel[-_]size|data[-_]parallel[-_]size|max[-_]model[-_]len|gpu[-_]memory[-_]utilization|max[-_]num[-_]seqs|tp[-_]size|tp|mem[-_]fraction[-_]static|context[-_]length|kv[-_]cache[-_]dtype|port|host|dtype):`)
)

// isSettings tells a file of flags as keys (vllm serve --config FILE, sglang --config FILE).
func isSettings(text string) bool {
	return keyed.MatchString(text) && settingModel.MatchString(text) && settingFlag.MatchString(text)
}

// settled is such a file: its keys tell the engine.
func settled(_ *file, d *yaml.Node) []container {
	if ref := d.At("hf_model_handle").Value(); ref != "" {
		return []container{evaluated(d, ref)}
	}
	if d.At("kind") != nil || d.At("services") != nil || d.At("commands") != nil || d.At("replicas") != nil || d.At("model").Value()+d.At("model-path").Value()+d.At("model_path").Value() == "" {
		return nil
	}
	for _, k := range []string{"model-path", "model_path", "mem-fraction-static", "mem_fraction_static", "tp-size", "context-length"} {
		if d.At(k) != nil {
			return []container{{entry: []string{"python3", "-m", "sglang.launch_server"}, args: Arguments(d)}}
		}
	}
	if ofTensorRT(d) {
		const name = "settings.json"
		c := container{entry: []string{"trtllm-serve", d.At("model").Value(), "--extra_llm_api_options", name}}
		c.Files = map[string]string{name: object(d)}
		return []container{c}
	}
	return []container{{entry: []string{"vllm", "serve"}, args: Arguments(d)}}
}

// ofTensorRT tells settings by blocks that TensorRT-LLM alone has (tensorrt_llm/llmapi/llm_args.py; Triton's llmapi model.yaml).
func ofTensorRT(d *yaml.Node) bool {
	return d.At("kv_cache_config") != nil || d.At("triton_config") != nil ||
		d.At("cuda_graph_config") != nil || d.At("speculative_config", "decoding_type") != nil
}

// evaluated is a deployment of NeMo Evaluator: flags of vLLM among the keys of a batch system, and more of them as one text.
func evaluated(d *yaml.Node, ref string) container {
	c := container{entry: []string{"vllm", "serve", ref}, args: argv.Words(d.At("extra_args").Value())}
	for _, k := range d.Keys {
		if settingFlag.MatchString(k+":") && !d.Of[k].Null() {
			c.args = append(c.args, "--"+strings.ReplaceAll(k, "_", "-")+"="+d.Of[k].Value())
		}
	}
	c.Image, c.Devices = d.At("image").Value(), max(1, count(d.At("nodes").Value()))*count(d.At("gpus_per_node").Value())
	return c
}

var tabbyModel = regexp.MustCompile(`(?m)^[ \t]+model_name:[ \t]+\S`)

// isTabby tells TabbyAPI's config.yml by the key of its model.
func isTabby(text string) bool { return keyed.MatchString(text) && tabbyModel.MatchString(text) }

// tabby is that file: the keys of its model and of its drafter are options of main.py.
func tabby(_ *file, d *yaml.Node) []container {
	m := d.At("model")
	if m == nil || m.At("model_name").Value() == "" {
		return nil
	}
	args := Arguments(m)
	if draft := d.At("draft_model"); draft != nil && draft.At("draft_model_name").Value() != "" {
		args = append(args, Arguments(draft)...)
	}
	return []container{{entry: []string{"python", "main.py"}, args: args}}
}

// Arguments returns the keys of a block as flags: {max_model_len: 8192, enforce_eager: true} becomes --max-model-len=8192
// --enforce-eager=true; deeper values become JSON.
func Arguments(n *yaml.Node) (out []string) {
	for _, k := range n.Keys {
		v := n.Of[k]
		flag := "--" + strings.ReplaceAll(k, "_", "-")
		switch {
		case v.Null():
		case v.List != nil:
			out = append(append(out, flag), words(v)...)
		case v.Of != nil:
			out = append(out, flag+"="+object(v))
		default:
			out = append(out, flag+"="+v.Text)
		}
	}
	return out
}

// ConfigArguments returns the flags equivalent to a settings file.
func ConfigArguments(text string) (out []string, err error) {
	docs, err := decode(text, 0)
	for _, d := range docs {
		out = append(out, Arguments(d)...)
	}
	return out, err
}
