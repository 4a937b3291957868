package argv

import (
	"regexp"
	"strings"

	"github.com/memwall/memwall/format/shell"
)

// Expand expands variables in a word as when a container starts: Kubernetes' $(NAME), and $NAME and ${NAME:-default} of compose
// files and shells. Unset variables are left as they are.
func Expand(word string, env []Variable) string { return shell.Fill(word, env) }

// blank are words that stand where the reader of a page is to put one: <MODEL>, {{ model }}, [model], PATH_TO_MODEL.
var blank = regexp.MustCompile(`^(<[^<>]+>|\[[A-Za-z _-]+\]|\.\.\.|…|(YOUR_|PATH_TO_)?MODEL(_(NAME|PATH|ID|DIR|FILE))*(_HERE)?(\.gguf)?|(your|my|the)[-_](\w+[-_])*model([-_](name|path|id|dir|file|here))*|(MY|YOUR)_[A-Z][A-Z_]*|model[-_](name|path|dir|tag)|\?+|\*+|REPLACE_[A-Z0-9_]+)$`)

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
	if word = word[strings.LastIndexAny(word, `/\`)+1:]; strings.HasPrefix(word, "REPLACE_") {
		return true
	}
	for at := strings.IndexByte(word, '$'); at >= 0 && at+1 < len(word); {
		if c := word[at+1]; c == '(' || c == '{' || c == '@' || c == '*' || shell.IsName("_"+word[at+1:at+2]) {
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
