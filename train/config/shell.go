package config

import (
	"bytes"
	"fmt"
	"strings"

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

// fromShell reads the flags of a script, whether they stand behind a command or in arrays, with the variables that
// the text sets put in. Nothing is run.
func fromShell(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("script", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one command of at most %d bytes", maxText))
	}
	out := block()
	vars := map[string]string{}
	flag := ""
	for _, w := range flagWords(shellWords(string(data))) {
		name, value, assigned := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--"):
			flag = name
			out.put(flag, &node{text: "true"})
			if assigned {
				out.put(flag, &node{text: expand(value, vars)})
				flag = ""
			}
		case assigned && isName(name):
			vars[name] = expand(value, vars)
			flag = ""
		case strings.HasSuffix(w, ".py"):
			out.put("script", &node{text: w[strings.LastIndexByte(w, '/')+1:]})
			flag = ""
		case w == "(" || w == ")" || w == "\n":
			flag = ""
		case flag != "":
			out.add(flag, expand(w, vars))
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

// flagWords parts "--flag value" that stands in one pair of quotes, as scripts keep flags in arrays, or in a variable behind
// others: ARGS=" $MORE --flag value".
func flagWords(words []string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, "--") && strings.ContainsAny(w, " \t") {
			out = append(out, strings.Fields(w)...)
			continue
		}
		name, value, assigned := strings.Cut(w, "=")
		if fields := strings.Fields(strings.ReplaceAll(value, "\\\n", " ")); assigned && isName(name) && len(fields) > 1 && flagged(fields) {
			out = append(out, fields...)
			out = append(out, "\n")
			continue
		}
		out = append(out, w)
	}
	return out
}

// flagged: words begin with a flag, or with variables and a flag.
func flagged(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "$") {
		words = words[1:]
	}
	return len(words) > 0 && strings.HasPrefix(words[0], "--")
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

// expand puts variables in: $NAME, ${NAME} and ${NAME:-value}; unknown ones stand as they are written.
func expand(w string, vars map[string]string) string {
	if len(w) < 2 || w[0] != '$' {
		return w
	}
	name, value, _ := strings.Cut(strings.Trim(w[1:], "{}"), ":-")
	if v, ok := vars[name]; ok {
		return v
	}
	if value != "" {
		return value
	}
	return w
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return s != ""
}

// shellWords splits at blanks outside quotes; comments are left out, the ends of lines are words unless a backslash
// joins them.
func shellWords(s string) (words []string) {
	var b strings.Builder
	quote, open := byte(0), false
	end := func() {
		if open {
			words = append(words, b.String())
		}
		b.Reset()
		open = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				b.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' && s[i] != '\r' {
				b.WriteByte(s[i])
				open = true
			}
		case c == '#' && !open:
			for i+1 < len(s) && s[i+1] != '\n' {
				i++
			}
		case c == '\n' || c == '(' || c == ')' || c == ';':
			end()
			words = append(words, string(c))
		case c == ' ' || c == '\t' || c == '\r':
			end()
		default:
			b.WriteByte(c)
			open = true
		}
	}
	end()
	return words
}
