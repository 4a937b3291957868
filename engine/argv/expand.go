package argv

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Variables of a text, put in where the text itself says what they hold.

// split stands for a blank that came out of a variable which nobody quoted: a shell parts words there.
const split = "\x00"

// maxNested is how deep defaults may hold variables: ${A:-${B:-x}}.
const maxNested = 4

// Expand puts variables into a word as a container's start does: $(NAME) of Kubernetes, $NAME and ${NAME:-default} of
// compose files and shells. What the text does not set stays as it stands.
func Expand(word string, env []Variable) string {
	vars := map[string]string{}
	for _, v := range env {
		vars[v.Name] = v.Value
	}
	return expand(word, vars, 0)
}

func expand(text string, vars map[string]string, depth int) string {
	var b strings.Builder
	for len(text) > 0 && b.Len() <= maxWord {
		at := strings.IndexByte(text, '$')
		if at < 0 || depth > maxNested {
			break
		}
		b.WriteString(text[:at])
		value, length := reference(text[at:], vars, depth)
		b.WriteString(value)
		text = text[at+length:]
	}
	return b.String() + text
}

// reference gives what stands for the variable at the head of a text that begins with a dollar, and how long that is in
// the text; what nothing sets stands for itself.
func reference(text string, vars map[string]string, depth int) (value string, length int) {
	name, rest, length := variable(text)
	if length == 0 {
		return text[:1], 1
	}
	if v, ok := vars[name]; ok && (v != "" || !strings.HasPrefix(rest, ":")) {
		return v, length
	}
	for _, operator := range []string{":-", ":=", "-", "="} {
		if other, ok := strings.CutPrefix(rest, operator); ok {
			return unquoted(expand(other, vars, depth+1)), length
		}
	}
	if _, set := vars[name]; set {
		return "", length
	}
	return text[:length], length
}

// unquoted is a default without the quotes around all of it, as a shell takes them off: ${MODEL:-"Qwen/Qwen3-8B"}.
func unquoted(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// product reads $((A * B)) of numbers at the head of a text: what it comes to, and how long it is there; 0 where it is anything else.
func product(text string) (value string, length int) {
	inner, found := strings.CutPrefix(text, "$((")
	end := strings.Index(inner, "))")
	if !found || end < 0 || end > 64 {
		return "", 0
	}
	total := int64(1)
	for _, part := range strings.Split(inner[:end], "*") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 || n > 0 && total > math.MaxInt32/n {
			return "", 0
		}
		total *= n
	}
	return strconv.FormatInt(total, 10), len("$((") + end + len("))")
}

// variable reads $NAME, ${NAME}, ${NAME:-default}, ${NAME[@]}, $(NAME) or $env:NAME: its name, what stands behind the name
// in braces, and how long all of it is; 0 where that is no variable.
func variable(s string) (name, rest string, length int) {
	inner := strings.TrimPrefix(s[1:], "env:")
	n := nameLength(inner)
	switch {
	case n > 0:
		return inner[:n], "", len(s) - len(inner) + n
	case strings.HasPrefix(inner, "("):
		if n = nameLength(inner[1:]); n > 0 && strings.HasPrefix(inner[1+n:], ")") {
			return inner[1 : 1+n], "", len(s) - len(inner) + n + 2
		}
		return "", "", 0
	case !strings.HasPrefix(inner, "{"):
		return "", "", 0
	}
	end := closing(inner)
	n = nameLength(inner[1:])
	if n == 0 && len(inner) > 2 && isDigit(inner[1]) && inner[2] == ':' { // what a script is called with, by its place: ${1:-Q8_0}
		n = 1
	}
	if end == 0 || n == 0 {
		return "", "", 0
	}
	name, rest = inner[1:1+n], inner[1+n:end]
	if rest == "[@]" || rest == "[*]" {
		rest = ""
	}
	return name, rest, len(s) - len(inner) + end + 1
}

// closing is where the brace that a text begins with is closed; 0 for nowhere.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s) && i <= maxWord; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		case '\n':
			return 0
		}
	}
	return 0
}

func nameLength(s string) (n int) {
	for n < len(s) && isName(s[n]) && (n > 0 || !isDigit(s[n])) {
		n++
	}
	return n
}

// blank are words that stand where the reader of a page is to put one: <MODEL>, {{ model }}, [model], PATH_TO_MODEL.
var blank = regexp.MustCompile(`^(<[^<>]+>|\[[A-Za-z _-]+\]|\.\.\.|…|(YOUR_|PATH_TO_)?MODEL(_(NAME|PATH|ID|DIR|FILE))*(_HERE)?(\.gguf)?|(your|my|the)[-_](\w+[-_])*model([-_](name|path|id|dir|file|here))*|model[-_](name|path|dir|tag)|\?+)$`)

// example are paths that stand for those of the reader: /path/to/model.gguf.
var example = regexp.MustCompile(`(?i)^[./\\]*(path[/\\]to|your[/\\]path|path[/\\]of)[/\\]([\w.-]*[/\\])*(your[-_]?|my[-_]?)?(quantized[-_])?(model|weights?|checkpoint)([-_]?(name|file|path|dir|weights))?(\.\w+)?[/\\]?$`)

// Elided reports whether a word stands for arguments that a text leaves out: "...", "[...]", a script's own "$@".
func Elided(word string) bool {
	return word == "$@" || word == "$*" || strings.Trim(word, "[](){}.… ") == "" && (strings.Contains(word, "...") || strings.Contains(word, "…"))
}

// Open reports whether a word holds a variable or a placeholder that the text does not fill: nobody knows its value. Of a path the
// last part counts, which says the model whatever folder it lies in; in a word with blanks a dollar is one, as it stood in quotes.
func Open(word string) bool {
	if blank.MatchString(word) || example.MatchString(word) || strings.Contains(word, "{{") || strings.HasPrefix(word, "$(") || Elided(word) {
		return true
	}
	if strings.HasPrefix(word, "${") && strings.HasSuffix(word, "}") { // ${MODEL:?say one}
		return true
	}
	if strings.ContainsAny(word, " \t'") {
		return false
	}
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	for at := strings.IndexByte(word, '$'); at >= 0 && at+1 < len(word); {
		if c := word[at+1]; c == '(' || c == '{' || c == '@' || c == '*' || isName(c) {
			return true
		}
		next := strings.IndexByte(word[at+1:], '$')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return false
}
