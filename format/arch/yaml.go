package arch

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/unit"
)

const (
	// MaxBytes of a file: a token takes two hundred times its bytes while it is parsed, and the description of
	// any network known fits in a fiftieth of this.
	MaxBytes = 64 << 10
	maxDepth = 12
)

// decode gives the tree of a file that is small, shallow, one document and without references.
func decode(text []byte) (ast.Node, error) {
	if len(text) > MaxBytes {
		return nil, &Error{Text: fmt.Sprintf("the description is larger than %s", format.Size(MaxBytes)), Fix: "count: N says that N layers are alike; a description takes a page"}
	}
	tokens := lexer.Tokenize(string(text))
	if err := plain(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	if len(docs) != 1 {
		return nil, &Error{Text: fmt.Sprintf("the file holds %d documents, not one", len(docs)), Fix: "one network in a file"}
	}
	return docs[0], nil
}

// refused are parts of YAML that a description does not need, and which stand for more than is written.
var refused = map[token.Type]string{
	token.AnchorType: "an anchor", token.AliasType: "an alias", token.MergeKeyType: "a merge key", token.TagType: "a tag", token.DirectiveType: "a directive",
	token.MappingKeyType: "a complex key", token.LiteralType: "a block of text", token.FoldedType: "a block of text",
}

// plain refuses such parts, and depth, before the parser, which recurses, sees them.
func plain(tokens token.Tokens) error {
	n := nesting{}
	for _, t := range tokens {
		if what, bad := refused[t.Type]; bad {
			return &Error{Line: t.Position.Line, Text: "holds " + what + ", which descriptions do not have", Fix: "write it out; count: and repeat: say how often"}
		}
		if n.see(t) > maxDepth {
			return &Error{Line: t.Position.Line, Text: fmt.Sprintf("nests deeper than %d levels", maxDepth), Fix: "a layer needs four"}
		}
	}
	return nil
}

// nesting follows how deep a file is: brackets that are open, entries that begin on one line, and indentation.
type nesting struct {
	brackets, line, entries int
	indents                 []int // columns of the lines that enclose the present one
}

func (n *nesting) see(t *token.Token) int {
	if p := t.Position; p.Line != n.line {
		n.line, n.entries = p.Line, 0
		if n.brackets == 0 {
			n.indent(p.Column)
		}
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		n.brackets++
	case token.SequenceEndType, token.MappingEndType:
		n.brackets--
	case token.SequenceEntryType:
		n.entries++
	}
	return max(0, n.brackets) + n.entries + len(n.indents)
}

func (n *nesting) indent(column int) {
	for len(n.indents) > 0 && n.indents[len(n.indents)-1] >= column {
		n.indents = n.indents[:len(n.indents)-1]
	}
	n.indents = append(n.indents, column)
}

// syntax turns the parser's error, which prints an excerpt of the file, into one line.
func syntax(err error) error {
	const fix = "two spaces for each level, key: value, and lists with - or in [ ]"
	var known yaml.Error
	if !errors.As(err, &known) {
		return &Error{Text: "is no YAML", Fix: fix}
	}
	e := &Error{Text: "is no YAML: " + known.GetMessage(), Fix: fix}
	if t := known.GetToken(); t != nil && t.Position != nil {
		e.Line = t.Position.Line
	}
	return e
}

// kindOf names a node in a sentence.
func kindOf(n ast.Node) string {
	switch n := n.(type) {
	case ast.MapNode:
		return "a block of keys"
	case *ast.SequenceNode:
		return "a list of " + unit.Count(int64(len(n.Values)))
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return quote(n.Value)
	}
	return quote(n.GetToken().Value)
}
