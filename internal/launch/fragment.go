package launch

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Parts of files that were copied without their heads, or whose lines ran into one: what stands behind args:, command: or an image is
// words of a command, with the dashes of a list between them.

var (
	// worded is the key of a container's words, and what a block begins with.
	worded = regexp.MustCompile(`(?:^|[\s{])"?(?:args|command|start_command|cmd)"?:(?:[ \t]*[|>][-+]?(?:[ \t]*\n|[ \t]+))?`)
	// remark is what stands behind a word of such a file.
	remark = regexp.MustCompile(`(?m)(^|[ \t])#[ \t][^\n]*$`)
	// dash begins an item of a list.
	dash = regexp.MustCompile(`(^|[ \t\n])-[ \t]+`)
	// continues is the mark of a line that goes on, which a remark may have stood behind.
	continues = regexp.MustCompile(`\\[ \t]*\n`)
	// nextKey ends the words: a key that is none of theirs, a fence, or three dots.
	nextKey = regexp.MustCompile("(?:^|[ \t\n])(?:[A-Za-z_][\\w-]*:(?:[ \t\n]|$)|```|\\.\\.\\.(?:[ \t\n]|$))")
	// running is the image that a part names: image: X, or X alone in front of its flags.
	running = regexp.MustCompile(`(?m)(?:\bimage:[ \t]*["']?|^[ \t]*)((?:[\w.-]+/)*[\w.-]*` +
		`(?:vllm|sglang|llama\.cpp|llama-cpp|text-generation-inference|lmdeploy)[\w./-]*(?::[\w.-]+)?)`)
)

// fragment reads such a part; nil where it holds no server's words.
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

// imageAlone is where the flags behind an image begin that no docker run stands before.
func imageAlone(text string) (out [][]int) {
	for _, at := range running.FindAllStringSubmatchIndex(text, -1) {
		if !strings.Contains(text[at[0]:at[1]], "image:") {
			out = append(out, []int{at[0], at[1]})
		}
	}
	return out
}

// listedWords are the words of a list or a block, up to the next key.
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

// servers by the words that texts name them with.
var servers = []struct{ word, program string }{{"vllm", "vllm.entrypoints.openai.api_server"}, {"sglang", "sglang.launch_server"},
	{"text-generation-inference", "text-generation-launcher"}, {"llama.cpp", "llama-server"}, {"llama-server", "llama-server"}}

// namedServer has flags that tell none, in a text that names one alone.
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

// flagsOf are words behind a program that nobody knows: its flags may tell the server that it starts.
func flagsOf(words []string, keyed bool) []string {
	for i, w := range words {
		if keyed && strings.HasPrefix(w, "--") {
			return words[i:]
		}
	}
	return nil
}

func contained(c argv.Command, words []string) []argv.Command {
	if len(words) == 0 { // an image alone says nothing
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

// grants are the devices that a part of a manifest, or of a compose file, gives.
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
