package config

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/format/shell"
	"github.com/memwall/memwall/plan"
)

// toShell writes a command with one flag a line.
func toShell(launcher, script string, s *section) string {
	lines := []string{launcher, script}
	for _, it := range s.items {
		switch v := it.value.(type) {
		case bool:
			if v {
				lines = append(lines, it.key)
			}
		default:
			lines = append(lines, it.key+" "+fmt.Sprint(v))
		}
	}
	return strings.Join(lines, " \\\n  ") + "\n"
}

// follow says what a script of at most 64 KiB starts.
func follow(data []byte) (*shell.Script, error) {
	if len(data) > maxText {
		return nil, wrong("script", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one command of at most %d bytes", maxText))
	}
	s := shell.Follow(string(data))
	if s.Cut {
		return nil, wrong("shell script", "makes more than a script that starts a run: its variables or loops have no end", "the command that it starts, in quotes")
	}
	return s, nil
}

// fromShell reads the flags of the command of a script that has most of them, with the variables that the text sets put in; those of
// arrays and variables where it starts no command. Nothing is run.
func fromShell(data []byte) (*node, error) {
	if n := flagsInYAML(data); n != nil {
		return n, nil
	}
	s, err := follow(data)
	if err != nil {
		return nil, err
	}
	out := asKeys(longest(s, isFlag))
	out.opens(s)
	if len(out.keys) == 0 || out.of[scriptKey] != nil && len(out.keys) == 1 {
		return nil, noFlags()
	}
	return out, nil
}

// flagsInYAML are those that stand in a block of a YAML file as they stand in a command, as Megatron-LM's tests have them:
// MODEL_ARGS: {--num-layers: 12}; nil where there is no such block. A switch that is off is none.
func flagsInYAML(data []byte) *node {
	if !bytes.Contains(data, []byte(":\n  --")) && !bytes.Contains(data, []byte("_ARGS:")) {
		return nil
	}
	root, err := fromYAML(data)
	if err != nil {
		return nil
	}
	for _, key := range root.keys {
		block := root.of[key]
		if !strings.HasSuffix(key, "_ARGS") || block.of == nil || !slices.ContainsFunc(block.keys, isFlag) {
			continue
		}
		for _, k := range slices.Clone(block.keys) {
			if v := block.of[k]; v.text == "false" || !isFlag(k) {
				block.drop(k)
			}
		}
		return block
	}
	return nil
}

// opens names what a script reads in, where something in the command hangs on what it does not say.
func (n *node) opens(s *shell.Script) {
	if !slices.ContainsFunc(n.keys, func(k string) bool { return strings.Contains(k+n.of[k].String(), "${") }) {
		return
	}
	for _, c := range s.Commands {
		if has("source .", c.Words[0]) && len(c.Words) > 1 {
			n.put(sourceKey+c.Words[1], &node{text: "true"})
		}
	}
}

// sourceKey is before the name of a file that a script reads in.
const sourceKey = "--${source "

func isFlag(w string) bool { return len(w) > 2 && strings.HasPrefix(w, "--") }

// longest is the command with most words of a kind; where none has any, what the variables hold.
func longest(s *shell.Script, is func(string) bool) (words []string) {
	most := 0
	for _, c := range s.Commands {
		n := 0
		for _, w := range c.Words {
			if is(w) {
				n++
			}
		}
		if n > most {
			most, words = n, started(c.Words)
		}
	}
	if most > 0 {
		return words
	}
	for _, name := range s.Order {
		for _, v := range s.Vars[name] {
			words = append(words, strings.Fields(v)...)
		}
		words = append(words, "\n")
	}
	return words
}

// started leaves out what hands a command on to machines: srun, ray job submit, docker run.
func started(words []string) []string {
	if !has(handsOn, words[0]) {
		return words
	}
	for i, w := range words {
		if has(launchers, w[strings.LastIndexByte(w, '/')+1:]) && !has(handsOn, w) {
			return words[i:]
		}
	}
	return words
}

const (
	handsOn   = "ray srun mpirun uv docker kubectl sudo nohup"
	scriptKey = "script"
)

// asKeys gives the flags of a command as keys with values.
func asKeys(words []string) *node {
	out, flag := block(), ""
	for _, w := range words {
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case w == "--" || w == "\n":
			flag = ""
		case w == "-m":
			flag = "--module"
			out.put(flag, &node{text: "true"})
		case isFlag(w), group(w):
			flag = name
			if group(w) {
				flag = "--" + strings.TrimLeft(w, "-")
			}
			out.put(flag, &node{text: "true"})
			if assigned {
				out.put(flag, &node{text: value, given: true})
			}
			if assigned || group(w) {
				flag = ""
			}
		case strings.HasSuffix(w, ".py"):
			out.put(scriptKey, &node{text: w[strings.LastIndexByte(w, '/')+1:]})
			flag = ""
		case flag != "":
			out.add(flag, w)
		}
	}
	if strings.HasPrefix(out.textAt("--module"), "torch.distributed") {
		out.drop("--module")
	}
	return out
}

// group tells a variable that stands for several flags and that nothing in the script sets: ${EXTRA_ARGS}.
func group(w string) bool {
	name, ok := strings.CutPrefix(strings.TrimPrefix(w, "--"), "${")
	if !ok || !strings.HasSuffix(name, "}") {
		return false
	}
	name = strings.ToLower(strings.TrimSuffix(name, "}"))
	for _, end := range []string{"args", "arg", "opts", "options", "option", "flags"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(w, "--")
}

// noFlags refuses a script that only sets variables, or hands them on to another.
func noFlags() *plan.Problem {
	return wrong("shell script", "has no flags of a training command; what it runs or reads in is not opened",
		"the script with the flags (torchrun … pretrain_gpt.py --num-layers …, or arrays of them), or that command in quotes")
}

// IsScript reports whether a text is a shell script, by its first line or a command in it.
func IsScript(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("sh")) || isCommand(text)
}

// add gives a flag its value, or one more.
func (n *node) add(flag, word string) {
	v := n.of[flag]
	switch {
	case v.list != nil:
		v.list = append(v.list, &node{text: word})
	case v.text == "true" && !v.given:
		n.of[flag] = &node{text: word, given: true}
	default:
		n.of[flag] = &node{list: []*node{{text: v.text}, {text: word}}}
	}
}

// allocator is what commands tell torch's allocator of its segments, by the environment (c10/core/AllocatorConfig.h; before 2.9 by names
// of each backend); nil where they do not.
func allocator(texts [][]byte) *bool {
	for _, text := range texts {
		s, err := follow(text)
		if err != nil || !isCommand(text) {
			continue
		}
		all := fmt.Sprint(s.Vars["PYTORCH_ALLOC_CONF"], s.Vars["PYTORCH_CUDA_ALLOC_CONF"], s.Vars["PYTORCH_HIP_ALLOC_CONF"])
		if _, said, ok := strings.Cut(strings.ToLower(all), "expandable_segments:"); ok {
			return truth(strings.HasPrefix(said, "true"))
		}
	}
	return nil
}
