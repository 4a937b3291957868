package launch

import (
	"errors"
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/engine/llamacpp"
)

// What is embedded in prose: a command in backquotes or after other words, a file in a fence of its own, a request to a server.

// begins matches where a server is started within a line of other words, with preceding variables.
var begins = regexp.MustCompile(`(?:[A-Z][A-Z0-9_]*=\S* +)*(?:(?:sudo )?(?:docker|podman) run |` +
	`(?:vllm|sglang|trtllm-serve|lmdeploy) serve |python3? -m (?:sglang|vllm|lmdeploy)\.|llama-server(?:\.exe)? +-)`)

// within parses such a part; nil if there is none.
func within(text string) *argv.Launch {
	if l := modelfile(text); l != nil {
		return l
	}
	var nameless *argv.Launch
	for _, at := range begins.FindAllStringIndex(text, 4) {
		if l := sentence(text, at[0]); l != nil && l.Model != "" {
			return l
		} else if nameless == nil {
			nameless = l
		}
	}
	if l := requested(text); l != nil {
		return l
	}
	return nameless
}

// mostPart is the longest part of a text, in bytes, that is searched for embedded commands.
const mostPart = 8 << 10

// sentence parses the command that begins at an offset, up to the closing backquote or as far as it is a command. It drops the last
// word of a truncated line, and rejoins a flag broken by a terminal.
func sentence(text string, at int) *argv.Launch {
	command := text[at:min(len(text), at+mostPart)]
	if at > 0 && text[at-1] == '`' {
		command, _, _ = strings.Cut(command, "`")
	}
	ways := []string{command, continued(command)}
	if at > 0 {
		ways = append(ways, uncut(ways[0]), uncut(ways[1]))
	}
	for i := 0; i < len(ways); i++ {
		l, err := readCommands(ways[i])
		if err == nil && l != nil && !sentenced(l) {
			return l
		}
		var e *argv.Error
		if errors.As(err, &e) && len(ways) <= 4 {
			if joined := strings.Replace(ways[i], e.Argument+"\n", e.Argument, 1); joined != ways[i] && e.Argument != "" {
				ways = append(ways, joined)
			}
		}
	}
	return nil
}

// continued returns the first line of a text with its continuation lines.
func continued(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' && !strings.HasSuffix(strings.TrimRight(text[:i], " \t"), `\`) {
			return text[:i]
		}
	}
	return text
}

// uncut returns a command without its last word if that is a truncated flag or lacks its value.
func uncut(text string) string {
	text = strings.TrimRight(text, " \t\r\n\\")
	if i := strings.LastIndexAny(text, " \t\n"); i > 0 && strings.HasPrefix(text[i+1:], "-") {
		return strings.TrimRight(text[:i], " \t\r\n\\")
	}
	return text
}

// block matches a Markdown code block.
var block = regexp.MustCompile("(?s)```\\w*\n(.*?)\n[ \t]*```")

// modelfile parses a code block that is a Modelfile.
func modelfile(text string) *argv.Launch {
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		if !llamacpp.IsModelfile(m[1]) {
			continue
		}
		if l, err := llamacpp.FromModelfile(m[1]); err == nil {
			return l
		}
	}
	return nil
}

var (
	// request matches a request to Ollama's own API.
	request      = regexp.MustCompile(`/api/(?:generate|chat)\b`)
	requestModel = regexp.MustCompile(`"model" *: *"([^"\s]+)"`)
	requestCtx   = regexp.MustCompile(`"num_ctx" *: *(\d+)`)
)

// requested returns the model named in a request to Ollama.
func requested(text string) *argv.Launch {
	model := requestModel.FindStringSubmatch(text)
	if model == nil || !request.MatchString(text) {
		return nil
	}
	line := "ollama run " + argv.Quote(model[1])
	if ctx := requestCtx.FindStringSubmatch(text); ctx != nil {
		line = "OLLAMA_CONTEXT_LENGTH=" + ctx[1] + " " + line
	}
	l, err := readCommands(line)
	if err != nil {
		return nil
	}
	return l
}
