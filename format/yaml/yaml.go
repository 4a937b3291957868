// Package yaml decodes small YAML files of anybody: a text becomes a tree of keys, lists and values as they stand,
// each with its line. What is large, deep, or stands for more than is written, is refused before a parser sees it; files that may
// refer to their own parts are bounded by what they stand for.
//
// Open yaml.go for the tree and the way in, nesting.go for how depth is told from tokens.
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

// Limits of a file. Nodes need none of their own without references: a file has fewer of them than bytes.
type Limits struct {
	// Bytes of the text: a token takes two hundred times its bytes while it is parsed.
	Bytes int
	// Depth is the most columns and open brackets within each other. A list may begin in the column of the key that
	// holds it, so that a tree is at most twice as deep.
	Depth int
	// Expanded is the most nodes that a file may stand for where anchors, aliases and merge keys are read; 0 refuses those.
	Expanded int
	// Plain files have no tags, directives and blocks of text either.
	Plain bool
	// Holds is what such a file has in it: "one service". Hint, which may be empty, says how it stays small.
	Holds, Hint string
}

// Node is a value: a block of keys, a list, or a leaf.
type Node struct {
	Line, Column int // from 1; of a block, where its first key begins
	// Keys of a block in the order of the file, and what they hold; Of is nil of all else. Places are where the keys stand.
	Keys   []string
	Of     map[string]*Node
	Places map[string]Place
	// List is nil of all else; an empty list is not.
	List []*Node
	// Text of a leaf as it stands, without quotes; Scalar is what YAML takes it for: a string, an int64 (a uint64
	// beyond its range), a float64 or a bool; nil where nothing stands.
	Text   string
	Scalar any
	size   int // of all that it stands for, in nodes
}

// Place is a line and a column of a file, from 1.
type Place struct{ Line, Column int }

// Null tells a leaf with nothing in it.
func (n *Node) Null() bool { return n.Of == nil && n.List == nil && n.Scalar == nil }

// At walks down keys; nil where one is missing, which At, Items and Value take.
func (n *Node) At(path ...string) *Node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		n = n.Of[name]
	}
	return n
}

// Items of a list; nothing of what is none.
func (n *Node) Items() []*Node {
	if n == nil {
		return nil
	}
	return n.List
}

// Value is a leaf's text; "" of what is none.
func (n *Node) Value() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// Decode gives the documents of a text, without those that hold nothing. Faults are *fault.Error.
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
			b.anchors = map[string]*Node{} // which are of one document
			out = append(out, b.tree(d.Body))
		}
	}
	return out, b.err
}

// filled leaves out documents that hold nothing or comments only: the parser would end the file there
// (https://github.com/goccy/go-yaml/issues/731).
func filled(tokens token.Tokens) (out token.Tokens) {
	header := -1 // in out, with nothing but comments after it
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

// syntax turns the parser's error, which prints an excerpt of the file, into one line.
func syntax(err error) error {
	e := &fault.Error{Field: "the file", Problem: "is no YAML", Fix: "two spaces for each level, key: value, and lists with - or in [ ]"}
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

// builder makes nodes of what the parser found. What an alias stands for is shared and not copied.
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
	for it := n.MapRange(); it.Next(); { // the parser has refused keys that stand there twice
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
	for _, from := range others { // a block's own keys go before
		merge(out, from)
		for _, v := range from.List {
			merge(out, v)
		}
	}
}

// merge puts the keys of a block in where they are missing. A list of lists is none (yaml.org/type/merge.html): going down one would
// take time in what aliases of aliases stand for.
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

// referred is what stands under an anchor further up.
func (b *builder) referred(n *ast.AliasNode) *Node {
	at := place(n.GetToken())
	name := n.Value.GetToken().Value
	if out := b.anchors[name]; out != nil {
		return out
	}
	b.fault(at, "refers to &"+name+", which does not stand above it", "write it out")
	return &Node{Line: at.Line, Column: at.Column, size: 1}
}

// grow counts what a node stands for, which aliases of aliases could multiply.
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

// leaf gives a text as it stands and what it is taken for.
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
