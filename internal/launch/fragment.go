package launch

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Fragments of files without their heads, or with their lines joined: what follows args:, command: or an image are the words of a
// command, with list dashes between them.

var (
	// worded matches the key of a container's words and the start of a block.
	worded = regexp.MustCompile(`(?:^|[\s{])"?(?:args|command|start_command|cmd)"?:(?:[ \t]*[|>][-+]?(?:[ \t]*\n|[ \t]+))?`)
	// remark matches a comment after a word.
	remark = regexp.MustCompile(`(?m)(^|[ \t])#[ \t][^\n]*$`)
	// dash matches the start of a list item.
	dash = regexp.MustCompile(`(^|[ \t\n])-[ \t]+`)
	// continues matches a line continuation, possibly left behind by a comment.
	continues = regexp.MustCompile(`\\[ \t]*\n`)
	// nextKey matches the end of the words: an unrelated key, a fence, or an ellipsis.
	nextKey = regexp.MustCompile("(?:^|[ \t\n])(?:[A-Za-z_][\\w-]*:(?:[ \t\n]|$)|```|\\.\\.\\.(?:[ \t\n]|$))")
	// running matches the image that a fragment names: image: X, or X alone before its flags.
	running = regexp.MustCompile(`(?m)(?:\bimage:[ \t]*["']?|^[ \t]*)((?:[\w.-]+/)*[\w.-]*` +
		`(?:vllm|sglang|llama\.cpp|llama-cpp|text-generation-inference|lmdeploy)[\w./-]*(?::[\w.-]+)?)`)
)

// fragment parses such a fragment; nil if it contains no server's words.
func fragment(text string) *argv.Launch {
	text = remark.ReplaceAllString(argv.Unfenced(text, "\n"), "$1")
	var words []string
	keyed := worded.FindAllStringIndex(text, -1)
	for _, at := range append(keyed, imageAlone(text)...) {
		words = append(words, listedWords(text[at[1]:])...)
	}
	if len(words) == 0 || len(words) > 400 {
		return nil
	}
	c := argv.Command{}
	if m := running.FindStringSubmatch(text); m != nil {
		c.Image = m[1]
	}
	ways := [][]argv.Command{contained(c, words), parsed(strings.Join(words, " ")), contained(c, flagsOf(words, len(keyed) > 0)),
		namedServer(text, words)}
	for _, cmds := range ways {
		if l, err := firstLaunch(cmds); l != nil && err == nil {
			if l.Devices == 0 {
				l.Devices = granted(text)
			}
			if l.Model == "" && l.Served == "" {
				l.Model = keyedModel(text)
			}
			return l
		}
	}
	return nil
}

// imageAlone returns where the flags begin after images that are not preceded by docker run.
func imageAlone(text string) (out [][]int) {
	for _, at := range running.FindAllStringSubmatchIndex(text, -1) {
		if key := strings.HasPrefix(text[at[1]:], ":"); !key && !strings.Contains(text[at[0]:at[1]], "image:") {
			out = append(out, []int{at[0], at[1]})
		}
	}
	return out
}

// listedWords returns the words of a list or block, up to the next key.
func listedWords(text string) []string {
	if at := nextKey.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = continues.ReplaceAllString(dash.ReplaceAllString(text, "$1"), " ")
	if flow, ok := strings.CutPrefix(strings.TrimSpace(text), "["); ok {
		flow, _, _ = strings.Cut(flow, "]")
		text = strings.ReplaceAll(flow, ",", " ")
	}
	return argv.Words(text)
}

// servers are the words by which texts name servers.
var servers = []struct{ word, program string }{{"vllm", "vllm.entrypoints.openai.api_server"}, {"sglang", "sglang.launch_server"},
	{"text-generation-inference", "text-generation-launcher"}, {"llama.cpp", "llama-server"}, {"llama-server", "llama-server"}}

// namedServer attributes flags that identify no server to the only server that the text names.
func namedServer(text string, words []string) []argv.Command {
	text, program := strings.ToLower(text), ""
	for _, s := range servers {
		if strings.Contains(text, s.word) && s.program != program {
			if program != "" {
				return nil
			}
			program = s.program
		}
	}
	if program == "" || !strings.HasPrefix(words[0], "--") {
		return nil
	}
	return []argv.Command{{Program: program, Args: words}}
}

// flagsOf returns the words after an unknown program, whose flags may identify the server it starts.
func flagsOf(words []string, keyed bool) []string {
	for i, w := range words {
		if keyed && strings.HasPrefix(w, "--") {
			return words[i:]
		}
	}
	return nil
}

func contained(c argv.Command, words []string) []argv.Command {
	if len(words) == 0 { // an image alone is not enough
		return nil
	}
	cmds, err := argv.Contained(c, nil, words)
	if err != nil {
		return nil
	}
	return cmds
}

func parsed(line string) []argv.Command {
	cmds, err := argv.Parse(line)
	if err != nil {
		return nil
	}
	return cmds
}

// grants matches the devices that a fragment of a manifest or compose file assigns.
var grants = []*regexp.Regexp{
	regexp.MustCompile(`(?:nvidia|amd)\.com/gpu["']?:[ \t]*["']?(\d{1,3})\b`),
	regexp.MustCompile(`\bdevice_ids:[ \t]*\[([^\]]*)\]`),
}

func granted(text string) int64 {
	if n := said(grants[0], text); n > 0 {
		return n
	}
	if m := grants[1].FindStringSubmatch(text); m != nil {
		return int64(strings.Count(m[1], ",") + 1)
	}
	return 0
}
