package manifest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/argv"
	"github.com/memwall/memwall/format/yaml"
)

// small is what a file of one service may be.
var small = yaml.Limits{Bytes: argv.MaxText, Depth: 32, Expanded: 1 << 16, Holds: "one service"}

// decode gives the documents of a text that is small, shallow and without references.
func decode(text string) ([]*yaml.Node, error) {
	docs, err := yaml.Decode(text, small)
	e, ok := errors.AsType[*yaml.Error](err)
	if !ok {
		return docs, err
	}
	where := "the file"
	if e.Line > 0 {
		where = fmt.Sprintf("line %d", e.Line)
	}
	return nil, argv.Wrong(where, "", e.Text, e.Fix)
}

// words of a list, or of a text that a shell would split.
func words(n *yaml.Node) []string {
	if n == nil || n.List == nil {
		return argv.Words(n.Value())
	}
	var out []string
	for _, v := range n.List {
		out = append(out, v.Text)
	}
	return out
}

// Settings flattens a block of keys: {a: {b: 1}} is a.b = 1. A list stands as its items with commas.
func Settings(text string) (out []argv.Variable, err error) {
	docs, err := decode(text)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		out = flatten(d, out, "")
	}
	return out, nil
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
