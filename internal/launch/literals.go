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

// mostNames that lists hold are looked for in a text, each of which is a reading of all of it.
const mostNames = 64

// listed are the lists of a text as command lines. An expression is the interpreter where it is the first, as sys.executable, and
// elsewhere a variable that nobody sets.
func listed(text string) (out []string) {
	asked := 0
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
			case asked >= mostNames:
				words[i] = "$unset"
			default:
				asked++
				words[i] = assigned(text, strings.TrimSpace(w))
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

var (
	// asText is an expression that makes a text of another.
	asText  = regexp.MustCompile(`^str\((.*)\)$`)
	letters = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	count   = regexp.MustCompile(`^[\d_]+(\.\d+)?$`)
)

// assigned is the word that an expression stands for: a number, a name that the text assigns, or the default of an argument
// (argparse); a variable that nobody sets where the text does not say.
func assigned(text, expression string) string {
	if m := asText.FindStringSubmatch(expression); m != nil {
		expression = strings.TrimSpace(m[1])
	}
	name := expression[strings.LastIndexByte(expression, '.')+1:]
	switch {
	case count.MatchString(expression):
		return strings.ReplaceAll(expression, "_", "")
	case !letters.MatchString(name):
		return "$unset"
	}
	const value = `("[^"\n]*"|'[^'\n]*'|\d[\d_.]*)`
	ways := []string{`(?m)^[ \t]*` + name + `(?:[ \t]*:[ \t]*\w+)?[ \t]*=[ \t]*` + value,
		`add_argument\(\s*["']--` + strings.ReplaceAll(name, "_", "[-_]") + `["'][^()]*default=` + value}
	for _, way := range ways {
		if m := regexp.MustCompile(way).FindStringSubmatch(text); m != nil {
			return argv.Quote(strings.Trim(m[1], `"'`))
		}
	}
	return "$unset"
}
