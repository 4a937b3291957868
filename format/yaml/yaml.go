// Package yaml decodes small, untrusted YAML files into a tree of keys, lists and scalars with their lines. Files that
// are large, deep or expand beyond what is written are rejected before parsing; files that may use references are
// limited by their expanded size.
//
// See yaml.go for the tree and Decode, nesting.go for how depth is determined from tokens.
package yaml

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
	"github.com/memwall/memwall/fault"
)

// Limits of a file. Without references the number of nodes needs no limit: it is below the number of bytes.
type Limits struct {
	// Bytes of text: while parsing, a token takes two hundred times its size.
	Bytes int
	// Depth limits nested columns and open brackets. A list may start in the column of its key, so a tree is at most
	// twice as deep.
	Depth int
	// Expanded limits the nodes of a file with anchors, aliases and merge keys expanded; 0 rejects these.
	Expanded int
	// Plain also rejects tags, directives and block scalars.
	Plain bool
	// Holds says what such a file contains: "one service". Hint, which may be empty, says how to keep it small.
	Holds, Hint string
}

// Node is a mapping, a list, or a scalar.
type Node struct {
	Line, Column int // from 1; of a mapping, the position of its first key
	// Keys of a mapping in file order, and their values; Of is nil for other nodes. Places are the positions of the
	// keys.
	Keys   []string
	Of     map[string]*Node
	Places map[string]Place
	// List is nil for other nodes, but not for an empty list.
	List []*Node
	// Text of a scalar, unquoted; Scalar is its YAML value: a string, int64 (uint64 beyond its range), float64 or bool;
	// nil if empty.
	Text   string
	Scalar any
	size   int // expanded size, in nodes
}

// Place is a line and column, from 1.
type Place struct{ Line, Column int }

// Null reports whether the node is an empty scalar.
func (n *Node) Null() bool { return n.Of == nil && n.List == nil && n.Scalar == nil }

// At descends along keys; nil if one is missing, which At, Items and Value accept.
func (n *Node) At(path ...string) *Node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		n = n.Of[name]
	}
	return n
}

// Items returns the elements of a list; none for other nodes.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.List
}

// Value returns the text of a scalar; "" for other nodes.
func (n *Node) Value() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// Decode returns the non-empty documents of a text. Errors are *fault.Error.
func Decode(text string, within Limits) ([]*Node, error) {
	if len(text) > within.Bytes {
		return nil, &fault.Error{Field: "the file", Problem: fmt.Sprintf("has %d bytes", len(text)), Fix: within.fix(within.Bytes, "bytes")}
	}
	tokens := lexer.Tokenize(text)
	if err := within.check(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(filled(tokens), 0)
	if err != nil {
		return nil, syntax(err)
	}
	var out []*Node
	b := builder{limits: &within}
	for _, d := range file.Docs {
		if d.Body != nil {
			b.anchors = map[string]*Node{} // scoped to a document
			out = append(out, b.tree(d.Body))
		}
	}
	return out, b.err
}

// filled drops documents that are empty or only comments, at which the parser would stop
// (https://github.com/goccy/go-yaml/issues/731).
func filled(tokens token.Tokens) (out token.Tokens) {
	header := -1 // index in out, followed only by comments
	for _, t := range tokens {
		if t.Type == token.DocumentHeaderType {
			if header >= 0 {
				out = slices.Delete(out, header, header+1)
			}
			header = len(out)
		} else if t.Type != token.CommentType {
			header = -1
		}
		out = append(out, t)
	}
	return out
}

func (l *Limits) fix(most int, unit string) string {
	return l.hinted(fmt.Sprintf("%s, in at most %d %s", l.Holds, most, unit))
}

func (l *Limits) hinted(fix string) string {
	if l.Hint == "" {
		return fix
	}
	return fix + "; " + l.Hint
}

// syntax converts the parser's error, which prints an excerpt, to one line.
func syntax(err error) error {
	e := &fault.Error{Field: "the file", Problem: "is not YAML", Fix: "two spaces for each level, key: value, and lists with - or in [ ]"}
	var known yaml.Error
	if !errors.As(err, &known) {
		return e
	}
	e.Problem += ": " + known.GetMessage()
	at := place(known.GetToken())
	if e.Line, e.Column = at.Line, at.Column; e.Line > 0 {
		e.Field = ""
	}
	return e
}

func place(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return Place{}
	}
	return Place{t.Position.Line, t.Position.Column}
}

// builder converts the parser's tree. Aliased nodes are shared, not copied.
type builder struct {
	limits  *Limits
	anchors map[string]*Node
	err     error
}

func (b *builder) tree(n ast.Node) *Node {
	if n == nil {
		return &Node{size: 1}
	}
	at := place(n.GetToken())
	out := &Node{Line: at.Line, Column: at.Column, size: 1}
	switch n := n.(type) {
	case ast.MapNode:
		b.block(n, out)
	case *ast.SequenceNode:
		out.List = []*Node{}
		for _, v := range n.Values {
			out.List = append(out.List, b.tree(v))
			b.grow(out, out.List[len(out.List)-1])
		}
	case *ast.TagNode:
		return b.tree(n.Value)
	case *ast.AnchorNode:
		return b.named(n)
	case *ast.AliasNode:
		return b.referred(n)
	case *ast.NullNode:
	default:
		out.Text, out.Scalar = leaf(n)
	}
	return out
}

func (b *builder) block(n ast.MapNode, out *Node) {
	out.Of, out.Places = map[string]*Node{}, map[string]Place{}
	var others []*Node
	for it := n.MapRange(); it.Next(); { // the parser has rejected duplicate keys
		value := b.tree(it.Value())
		b.grow(out, value)
		if it.Key().IsMergeKey() {
			others = append(others, value)
			continue
		}
		key := it.Key().GetToken()
		out.Keys = append(out.Keys, key.Value)
		out.Of[key.Value], out.Places[key.Value] = value, place(key)
	}
	if len(out.Keys) > 0 {
		out.Column = out.Places[out.Keys[0]].Column
	}
	for _, from := range others { // a mapping's own keys take precedence
		merge(out, from)
		for _, v := range from.List {
			merge(out, v)
		}
	}
}

// merge adds the keys of a mapping where missing. A list of lists is rejected (yaml.org/type/merge.html): descending
// would take time proportional to the expanded size.
func merge(out, from *Node) {
	for _, k := range from.Keys {
		if _, has := out.Of[k]; !has {
			out.Keys = append(out.Keys, k)
			out.Of[k], out.Places[k] = from.Of[k], from.Places[k]
		}
	}
}

func (b *builder) named(n *ast.AnchorNode) *Node {
	out := b.tree(n.Value)
	b.anchors[n.Name.GetToken().Value] = out
	return out
}

// referred returns the node of an earlier anchor.
func (b *builder) referred(n *ast.AliasNode) *Node {
	at := place(n.GetToken())
	name := n.Value.GetToken().Value
	if out := b.anchors[name]; out != nil {
		return out
	}
	b.fault(at, "refers to &"+name+", which does not stand above it", "write it out")
	return &Node{Line: at.Line, Column: at.Column, size: 1}
}

// grow counts a node's expanded size, which nested aliases could multiply.
func (b *builder) grow(n, by *Node) {
	if n.size += by.size; n.size > b.limits.Expanded && b.limits.Expanded > 0 {
		n.size = b.limits.Expanded
		b.fault(Place{n.Line, n.Column}, fmt.Sprintf("stands for more than %d values", b.limits.Expanded), b.limits.hinted("fewer aliases"))
	}
}

func (b *builder) fault(at Place, text, fix string) {
	if b.err == nil {
		b.err = &fault.Error{Line: at.Line, Column: at.Column, Problem: text, Fix: fix}
	}
}

// leaf returns a scalar's text and value.
func leaf(n ast.Node) (string, any) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return n.Value.Value, n.Value.Value
	case *ast.StringNode:
		return n.Value, n.Value
	case *ast.IntegerNode:
		if v, ok := n.Value.(uint64); ok && v <= math.MaxInt64 {
			return n.GetToken().Value, int64(v)
		}
		return n.GetToken().Value, n.Value
	case ast.ScalarNode:
		return n.GetToken().Value, n.GetValue()
	}
	return n.GetToken().Value, n.GetToken().Value
}
