package launch

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
)

// Commands within programs in other languages: a string literal, "python -m sglang.launch_server …", or a list of words.

// literal matches a quoted string of Python, JavaScript or Go, with an optional prefix.
var literal = regexp.MustCompile("(?s)\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`")

// literals parses the first server started by a string literal or a list of literals in a text.
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

// brackets matches lists; lists of words are not nested.
var brackets = regexp.MustCompile(`\[[^\[\]]+\]`)

// item matches a list item: a literal or an expression.
var item = regexp.MustCompile(literal.String() + `|[^,\s\[\]][^,\[\]]*`)

// mostNames is the most names in lists that are looked up in a text, each of which takes a pass over all of it.
const mostNames = 64

// listed returns the lists of a text as command lines. An expression stands for the interpreter if it comes first, as
// sys.executable does, and elsewhere for an unset variable.
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
	// asText matches a conversion of another expression to a string.
	asText  = regexp.MustCompile(`^str\((.*)\)$`)
	letters = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	count   = regexp.MustCompile(`^[\d_]+(\.\d+)?$`)
)

// assigned returns the value of an expression: a number, a name assigned in the text, or an argument's default (argparse); an unset
// variable if the text does not determine it.
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
