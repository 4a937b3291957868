package launch

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Commands within programs of other languages: a text of one, "python -m sglang.launch_server …", or a list of its words.

// literal is a text in quotes, in Python's, JavaScript's and Go's manner; before it may stand what says how it is read.
var literal = regexp.MustCompile("(?s)\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`")

// literals gives the first server that a literal of a text starts, or that a list of literals does.
func literals(text string) []argv.Command {
	for _, list := range append(listed(text), literal.FindAllString(text, -1)...) {
		words := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\n`, "\n").Replace(strings.Trim(list, "\"'`"))
		if !strings.ContainsAny(words, " \t\n") {
			continue
		}
		cmds, err := argv.Parse(words)
		for i := range cmds {
			if err == nil && starts(&cmds[i]) {
				return cmds[i:]
			}
		}
	}
	return nil
}

// brackets hold lists; none lies in another in a list of words.
var brackets = regexp.MustCompile(`\[[^\[\]]+\]`)

// item of a list: a literal, or an expression.
var item = regexp.MustCompile(literal.String() + `|[^,\s\[\]][^,\[\]]*`)

// listed are the lists of a text as command lines. An expression is the interpreter where it is the first, as sys.executable, and
// elsewhere a variable that nobody sets.
func listed(text string) (out []string) {
	for _, list := range brackets.FindAllString(text, -1) {
		if !literal.MatchString(list) {
			continue
		}
		words := item.FindAllString(list, -1)
		for i, w := range words {
			switch {
			case strings.ContainsAny(w[:1], "\"'`"):
				words[i] = argv.Quote(strings.Trim(w, "\"'`"))
			case i == 0:
				words[i] = "python"
			default:
				words[i] = "$unset"
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}
