package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
)

// small is what a file of one service may be.
var small = yaml.Limits{Bytes: argv.MaxText, Depth: 32, Expanded: 1 << 16, Holds: "one service"}

var (
	// directives are lines of a template that hold no value; holes are values that a template puts in.
	directives = regexp.MustCompile(`(?m)^[ \t]*\{\{-?[ \t]*(if|else|end|range|with|define|include|template|toYaml|/\*|\$\w+ *:=)[^\n]*$`)
	holes      = regexp.MustCompile(`\{\{[^{}\n]*\}\}`)
	name       = regexp.MustCompile(`[A-Za-z_.][\w.]*`)
	border     = regexp.MustCompile(`(?m)^---.*$`)
)

// filled makes YAML of a template: what a hole stands for nobody knows, and it stays a variable of its name.
func filled(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return holes.ReplaceAllStringFunc(directives.ReplaceAllString(text, ""), func(hole string) string {
		return "$(" + strings.Trim(strings.ReplaceAll(name.FindString(hole), ".", "_"), "_") + ")"
	})
}

// documents are those of a text that can be read; the fault is of the first that cannot.
func documents(text string) (out []*yaml.Node, fault error) {
	if len(text) > small.Bytes {
		return decode(text, 0)
	}
	text = filled(text)
	from, lines := 0, 0
	for _, b := range append(border.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		docs, err := decode(text[from:b[0]], lines)
		lines += strings.Count(text[from:b[1]], "\n")
		if err != nil && fault == nil {
			fault = err
		}
		out, from = append(out, docs...), b[1]
	}
	return out, fault
}

// decode gives the documents of a text that is small and shallow, and that stands behind so many lines of its file.
func decode(text string, above int) ([]*yaml.Node, error) {
	docs, err := yaml.Decode(text, small)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return docs, err
	}
	where := "the file"
	if e.Line > 0 {
		where = fmt.Sprintf("line %d", above+e.Line)
	}
	return nil, argv.Wrong(where, "", e.Problem, e.Fix)
}

// folded are comments of lines that the file folds into one: each ends where the next flag begins.
var folded = regexp.MustCompile(`[ \t]#[ \t][^\n]*?([ \t]--?[A-Za-z]|\n|$)`)

// words of a list, or of a text that a shell would split.
func words(n *yaml.Node) []string {
	if n == nil || n.List == nil {
		return argv.Words(folded.ReplaceAllString(n.Value(), "$1"))
	}
	var out []string
	for _, v := range n.List {
		out = append(out, v.Text)
	}
	return out
}

// object is a block as JSON.
func object(n *yaml.Node) string {
	data, err := json.Marshal(plain(n, 0))
	if err != nil {
		return ""
	}
	return string(data)
}

func plain(n *yaml.Node, depth int) any {
	switch {
	case depth > maxDeep:
		return nil
	case n.Of != nil:
		out := map[string]any{}
		for _, k := range n.Keys {
			out[k] = plain(n.Of[k], depth+1)
		}
		return out
	case n.List != nil:
		out := []any{}
		for _, v := range n.List {
			out = append(out, plain(v, depth+1))
		}
		return out
	}
	return n.Scalar
}

// Settings flattens a block of keys: {a: {b: 1}} becomes a.b = 1. Lists become comma-separated items.
func Settings(text string) (out []argv.Variable, err error) {
	docs, err := decode(text, 0)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		out = flatten(d, out, "")
	}
	return out, nil
}

// Named returns the keys of the file named by a variable of the command, flattened like Settings; open if the text does not contain
// the file.
func Named(c *argv.Command, variable string) (keys map[string]string, open bool, err error) {
	file, named := c.Getenv(variable)
	text, held := c.Files[file]
	if !named || file == "" || !held {
		return nil, named && file != "", nil
	}
	list, err := Settings(text)
	if e, ok := errors.AsType[*argv.Error](err); ok {
		return nil, false, argv.Wrong(variable+", "+e.Argument, "", e.Problem, e.Fix)
	}
	keys = make(map[string]string, len(list))
	for _, v := range list {
		keys[v.Name] = v.Value
	}
	return keys, false, err
}

func flatten(n *yaml.Node, out []argv.Variable, name string) []argv.Variable {
	switch {
	case n.Of != nil:
		for _, k := range n.Keys {
			out = flatten(n.Of[k], out, strings.TrimPrefix(name+"."+k, "."))
		}
	case n.List != nil:
		out = append(out, argv.Variable{Name: name, Value: strings.Join(words(n), ",")})
	default:
		out = append(out, argv.Variable{Name: name, Value: n.Text})
	}
	return out
}
