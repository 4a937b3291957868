package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train/config/shell"
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

// fromShell reads the flags of a script, whether they stand behind a command or in arrays, with the variables that
// the text sets put in. Nothing is run.
func fromShell(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("script", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one command of at most %d bytes", maxText))
	}
	out := block()
	vars := map[string]string{}
	flag := ""
	for _, w := range shell.Flags(shell.Words(string(data))) {
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--"):
			flag = name
			out.put(flag, &node{text: "true"})
			if assigned {
				out.put(flag, &node{text: shell.Expand(value, vars)})
				flag = ""
			}
		case assigned && shell.IsName(name):
			vars[name] = shell.Expand(value, vars)
			flag = ""
		case strings.HasSuffix(w, ".py"):
			out.put("script", &node{text: w[strings.LastIndexByte(w, '/')+1:]})
			flag = ""
		case w == "(" || w == ")" || w == "\n":
			flag = ""
		case flag != "":
			out.add(flag, shell.Expand(w, vars))
		}
	}
	if len(out.keys) == 0 {
		return nil, noFlags()
	}
	return out, nil
}

// noFlags refuses a script that only sets variables, or hands them on to another.
func noFlags() *plan.Problem {
	return wrong("shell script", "has no flags of a training command; what it runs or reads in is not opened",
		"the script with the flags (torchrun … pretrain_gpt.py --num-layers …, or arrays of them), or that command in quotes")
}

// isScript tells a shell script from other text by its first line, or by a command in it.
func isScript(text []byte) bool {
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
