package manifest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/memwall/memwall/engine/argv"
)

// Bounds of a text: the parser takes hundreds of times the bytes of a token, and it recurses.
const (
	maxText  = argv.MaxText
	maxDepth = 32
)

// node is a value of YAML: a block of keys, a list, or a text as it stands.
type node struct {
	keys []string
	of   map[string]*node
	list []*node
	text string
}

// decode gives the documents of a text that is small, shallow and without references.
func decode(text string) ([]*node, error) {
	if len(text) > maxText {
		return nil, argv.Wrong("the file", "", fmt.Sprintf("has %d bytes", len(text)), fmt.Sprintf("one service, in at most %d bytes", maxText))
	}
	tokens := lexer.Tokenize(text)
	if err := shallow(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	var out []*node
	for _, d := range file.Docs {
		if d.Body != nil {
			out = append(out, tree(d.Body))
		}
	}
	return out, nil
}

// refused stand for more than is written.
var refused = map[token.Type]string{
	token.AnchorType: "an anchor", token.AliasType: "an alias", token.MergeKeyType: "a merge key", token.MappingKeyType: "a complex key",
}

// shallow refuses references and depth before the parser sees them.
func shallow(tokens token.Tokens) error {
	brackets, line, entries := 0, 0, 0
	var indents []int
	for _, t := range tokens {
		if what, bad := refused[t.Type]; bad {
			return argv.Wrong(fmt.Sprintf("line %d", t.Position.Line), "", "holds "+what+", which is not followed", "write it out")
		}
		if p := t.Position; p.Line != line {
			line, entries = p.Line, 0
			for len(indents) > 0 && indents[len(indents)-1] >= p.Column {
				indents = indents[:len(indents)-1]
			}
			indents = append(indents, p.Column)
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType:
			entries++
		}
		if brackets+entries+len(indents) > maxDepth {
			return argv.Wrong(fmt.Sprintf("line %d", line), "", fmt.Sprintf("nests deeper than %d levels", maxDepth), "one service")
		}
	}
	return nil
}

// syntax turns the parser's error, which prints an excerpt of the file, into one line.
func syntax(err error) error {
	const fix = "two spaces for each level, key: value, and lists with - or in [ ]"
	var known yaml.Error
	if !errors.As(err, &known) {
		return argv.Wrong("the file", "", "is no YAML", fix)
	}
	where := "the file"
	if t := known.GetToken(); t != nil && t.Position != nil {
		where = fmt.Sprintf("line %d", t.Position.Line)
	}
	return argv.Wrong(where, "", "is no YAML: "+known.GetMessage(), fix)
}

func tree(n ast.Node) *node {
	switch n := n.(type) {
	case ast.MapNode:
		out := &node{of: map[string]*node{}}
		for it := n.MapRange(); it.Next(); {
			name := it.Key().GetToken().Value
			out.keys = append(out.keys, name)
			out.of[name] = tree(it.Value())
		}
		return out
	case *ast.SequenceNode:
		out := &node{list: []*node{}}
		for _, v := range n.Values {
			out.list = append(out.list, tree(v))
		}
		return out
	case *ast.LiteralNode:
		return &node{text: n.Value.Value}
	case *ast.StringNode:
		return &node{text: n.Value}
	case *ast.TagNode:
		return tree(n.Value)
	case *ast.NullNode, nil:
		return &node{}
	}
	return &node{text: n.GetToken().Value}
}

// at walks down keys; nil where one is missing, which every method of a node takes.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		n = n.of[name]
	}
	return n
}

// items of a list; nothing of what is none.
func (n *node) items() []*node {
	if n == nil {
		return nil
	}
	return n.list
}

// value is a text; "" of what is none.
func (n *node) value() string {
	if n == nil {
		return ""
	}
	return n.text
}

// words of a list, or of a text that a shell would split.
func (n *node) words() []string {
	if n == nil || n.list == nil {
		return argv.Words(n.value())
	}
	var out []string
	for _, v := range n.list {
		out = append(out, v.text)
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
		out = d.flatten(out, "")
	}
	return out, nil
}

func (n *node) flatten(out []argv.Variable, name string) []argv.Variable {
	switch {
	case n.of != nil:
		for _, k := range n.keys {
			out = n.of[k].flatten(out, strings.TrimPrefix(name+"."+k, "."))
		}
	case n.list != nil:
		out = append(out, argv.Variable{Name: name, Value: strings.Join(n.words(), ",")})
	default:
		out = append(out, argv.Variable{Name: name, Value: n.text})
	}
	return out
}
