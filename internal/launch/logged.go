package launch

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/pycall"
	"github.com/memwall/memwall/engine/sglang"
	"github.com/memwall/memwall/engine/vllm"
)

// What a server says of itself as it starts: the settings that it was given, as a dict or a call of Python, and its version.

var vllmServer = pythonCall{program: "vllm.entrypoints.openai.api_server", model: "model", read: vllm.FromArgs}

// settings of servers by what stands in front of them in their logs (vllm/entrypoints/utils.py, log_non_default_args;
// sglang/srt/entrypoints/engine.py).
var settings = []struct {
	at   *regexp.Regexp
	call pythonCall
}{
	{regexp.MustCompile(`non-default args: *(\{)`), vllmServer},
	{regexp.MustCompile(`\bargs: *Namespace(\()`), vllmServer},
	{regexp.MustCompile(`\bServerArgs(\()`), pythonCall{program: "sglang.launch_server", model: "model_path", read: sglang.FromArgs}},
}

// loggedLaunch is the server whose log a text is; nil where it says no settings.
func loggedLaunch(text string) (*argv.Launch, error) {
	for i := range settings {
		at := settings[i].at.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		calls, err := pycall.Calls("logged(" + inner(bracketed(text[at[2]:])) + ")")
		if err != nil || len(calls) == 0 {
			return nil, err
		}
		call := calls[len(calls)-1] // brackets close last
		if dict := call.Positional(0); dict != nil && dict.Pairs != nil {
			call = &pycall.Call{Name: call.Name, Args: dict.Pairs}
		}
		c := settings[i].call
		cmds := []argv.Command{{Program: c.program, Args: c.flags(&pycall.Call{Args: given(call.Args)})}}
		versioned(cmds, text)
		return c.read(&cmds[0])
	}
	return nil, nil
}

// inner is what stands within the brackets of a call; a dict keeps its own.
func inner(settings string) string {
	if rest, ok := strings.CutPrefix(settings, "("); ok {
		return strings.TrimSuffix(rest, ")")
	}
	return settings
}

// bracketed is a text up to where its first bracket closes, or its line ends.
func bracketed(text string) string {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return unbroken(text[:i])
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
				return text[:i+1]
			}
		}
	}
	return unbroken(text)
}

// unbroken is what a line that was cut short has whole: its last setting goes.
func unbroken(text string) string {
	if at := strings.LastIndex(text, ", "); at > 0 {
		text = text[:at]
	}
	if strings.HasPrefix(text, "{") {
		return text + "}"
	}
	return text
}

// given are settings without those that only name what another holds, or are none of memory's.
func given(args []pycall.Pair) (out []pycall.Pair) {
	for _, a := range args {
		switch a.Name {
		case "model_tag", "subparser", "dispatch_function", "tokenizer_path", "config", "additional_ports":
		default:
			if a.Value.Items == nil {
				out = append(out, a)
			}
		}
	}
	return out
}

// versions that servers log as they start, by a part of their programs' names.
var versions = []struct {
	program string
	said    *regexp.Regexp
	before  string
}{
	{"vllm", regexp.MustCompile(`(?:vLLM API server version |LLM engine \()v?(\d+\.\d+(?:\.\d+)?)`), ""},
	{"llama-", regexp.MustCompile(`\bbuild: (\d{4,5}) \([0-9a-f]{7,}\)`), "b"},
}

// versioned gives a server the version that its log says, where no image tells one.
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
