package launch

import (
	"regexp"
	"slices"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/called"
	"github.com/memwall/memwall/engine/plain"
	"github.com/memwall/memwall/engine/pycall"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/vllm"
)

// What a server logs about itself on startup: its settings, as a Python dict or call, and its version.

var (
	vllmServer   = pythonCall{program: "vllm.entrypoints.openai.api_server", model: "model", read: vllm.FromArgs}
	sglangServer = pythonCall{program: "sglang.launch_server", model: "model_path", read: sglang.FromArgs}
)

// settings are the prefixes of servers' settings in their logs (vllm/entrypoints/utils.py, log_non_default_args;
// vllm/v1/engine/core.py and vllm/config.py, VllmConfig.__str__; sglang/srt/entrypoints/engine.py).
var settings = []struct {
	at   *regexp.Regexp
	call pythonCall
	// called maps settings to flags of another name; if not nil, all other settings are derived by the engine.
	called map[string]string
}{
	{at: regexp.MustCompile(`non-default args: *(\{)`), call: vllmServer},
	{at: regexp.MustCompile(`\bargs: *Namespace(\()`), call: vllmServer},
	{at: regexp.MustCompile(`(?s)KoboldCpp.{0,600}?\bNamespace(\()`), call: koboldServer, called: koboldConfig},
	{at: regexp.MustCompile(`LLM engine (?:\(v[^)]*\) )?with config: ()\S`), call: vllmServer, called: engineConfig},
	{at: regexp.MustCompile(`\bServerArgs(\()`), call: sglangServer},
}

// engineConfig maps the settings that vLLM's engine logs on startup to their flags.
var engineConfig = map[string]string{"model": "model", "max_seq_len": "max_model_len", "tensor_parallel_size": "tensor_parallel_size",
	"pipeline_parallel_size": "pipeline_parallel_size", "data_parallel_size": "data_parallel_size", "quantization": "quantization",
	"enforce_eager": "enforce_eager", "kv_cache_dtype": "kv_cache_dtype", "enable_prefix_caching": "enable_prefix_caching",
	"chunked_prefill_enabled": "enable_chunked_prefill", "enable_chunked_prefill": "enable_chunked_prefill"}

// koboldServer logs its arguments (koboldcpp.py).
var koboldServer = pythonCall{program: "koboldcpp", model: "model_param", read: called.FromArgs}

var koboldConfig = map[string]string{"model_param": "model_param", "contextsize": "contextsize", "gpulayers": "gpulayers",
	"mmproj": "mmproj", "blasbatchsize": "blasbatchsize", "quantkv": "quantkv", "flashattention": "flashattention",
	"draftmodel": "draftmodel", "moecpu": "moecpu"}

// loggedLaunch parses a server's log; nil if it contains no settings.
func loggedLaunch(text string) (*argv.Launch, error) {
	text = unboxed.ReplaceAllString(text, "$1")
	for i := range settings {
		s := &settings[i]
		at := s.at.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		calls, err := pycall.Calls("logged(" + inner(bracketed(text[at[2]:], at[3]-at[2])) + ")")
		if err != nil || len(calls) == 0 {
			return nil, err
		}
		call := calls[len(calls)-1] // brackets close last
		if dict := call.Positional(0); dict != nil && dict.Pairs != nil {
			call = &pycall.Call{Name: call.Name, Args: dict.Pairs}
		}
		cmds := []argv.Command{{Program: s.call.program, Args: s.call.flags(&pycall.Call{Args: given(call.Args, s.called)})}}
		versioned(cmds, text)
		return s.call.read(&cmds[0])
	}
	return launcherArgs(text)
}

// unboxed matches lines between the sides of a box, as terminals draw logs.
var unboxed = regexp.MustCompile(`(?m)^[ \t]*[│|][ \t]?(.*?)[│|]?[ \t]*$`)

// launcherArg matches a setting logged by TGI's launcher (launcher/src/main.rs): name: Some("value",).
var launcherArg = regexp.MustCompile(`(?m)^\s+(model_id|num_shard|quantize|max_total_tokens|max_batch_prefill_tokens|kv_cache_dtype|` +
	`speculate|cuda_memory_fraction|max_batch_total_tokens): *(?:Some\(\s*)?("[^"\n]*"|[\w.]+)`)

// launcherArgs parses those settings, if the text has any.
func launcherArgs(text string) (*argv.Launch, error) {
	_, text, ok := strings.Cut(text, "text_generation_launcher: Args {")
	if !ok {
		return nil, nil
	}
	c := argv.Command{Program: "text-generation-launcher"}
	for _, m := range launcherArg.FindAllStringSubmatch(text, -1) {
		if m[2] != "None" {
			c.Args = append(c.Args, "--"+strings.ReplaceAll(m[1], "_", "-"), strings.Trim(m[2], `"`))
		}
	}
	return plain.FromArgs(&c)
}

// inner returns the text within the brackets of a call; a dict keeps its own.
func inner(settings string) string {
	if rest, ok := strings.CutPrefix(settings, "("); ok {
		return strings.TrimSuffix(rest, ")")
	}
	return settings
}

// record matches the start of a log record; other lines continue the previous one, broken at the terminal's width.
var record = regexp.MustCompile("^[ \\t]*(?:\\(?\\w+ pid=|(?:INFO|WARNING|ERROR|DEBUG)\\b|\\[|\\d{2,4}[-/]\\d\\d|```|[A-Za-z ]*$|[#>*-])")

// bracketed returns a text up to where its first bracket closes, or to the end of its log record. If brackets is 0, only its record
// counts.
func bracketed(text string, brackets int) string {
	var whole strings.Builder
	depth, quote := 1-brackets, byte(0)
	for i := 0; i < len(text); i++ {
		whole.WriteByte(text[i])
		switch c := text[i]; {
		case c == '\n' && record.MatchString(line(text[i+1:])):
			return unbroken(strings.TrimSpace(whole.String()))
		case c == '\n':
			joined := strings.TrimSuffix(whole.String(), "\n")
			whole.Reset()
			whole.WriteString(joined)
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return whole.String()
			}
		}
	}
	return unbroken(strings.TrimSpace(whole.String()))
}

func line(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

// unbroken returns a truncated line without its last setting.
func unbroken(text string) string {
	if whole, ok := strings.CutSuffix(text, ","); ok {
		text = whole
	} else if at := strings.LastIndex(text, ", "); at > 0 {
		text = text[:at]
	}
	if strings.HasPrefix(text, "{") {
		return text + "}"
	}
	return text
}

// given returns settings without those that repeat another or do not affect memory.
func given(args []pycall.Pair, called map[string]string) (out []pycall.Pair) {
	names := func(name string) bool {
		return slices.ContainsFunc(args, func(p pycall.Pair) bool { return p.Name == name && p.Value.Quoted })
	}
	for _, a := range args {
		switch a.Name {
		case "model_tag":
			if !names("model") {
				out = append(out, pycall.Pair{Name: "model", Value: a.Value})
			}
		case "subparser", "dispatch_function", "tokenizer_path", "config", "additional_ports":
		default:
			if called != nil {
				a.Name = called[a.Name]
				a.Value = loggedWord(a.Value)
			}
			if a.Value.Items == nil && a.Name != "" {
				out = append(out, a)
			}
		}
	}
	return out
}

// loggedWord returns a value that the log shows without quotes.
func loggedWord(v *pycall.Value) *pycall.Value {
	switch v.Text {
	case "None", "True", "False":
		return v
	case "auto":
		return &pycall.Value{Text: "None"}
	}
	return &pycall.Value{Text: v.Text, Quoted: true}
}

// versions matches the versions that servers log on startup, by part of the program name.
var versions = []struct {
	program string
	said    *regexp.Regexp
	before  string
}{
	{"vllm", regexp.MustCompile(`(?:vLLM API server version |LLM engine \()v?(\d+\.\d+(?:\.\d+)?)`), ""},
	{"llama-", regexp.MustCompile(`\bbuild: (\d{4,5}) \([0-9a-f]{7,}\)`), "b"},
}

// versioned sets the version of a server from its log if the image does not state it.
func versioned(cmds []argv.Command, text string) {
	for _, v := range versions {
		m := v.said.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		for i := range cmds {
			if strings.Contains(cmds[i].Program, v.program) && cmds[i].Tag() == "" {
				cmds[i].Version = v.before + m[1]
			}
		}
	}
}
