package yaml

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
	"github.com/memwall/memwall/fault"
)

// references denote content elsewhere, and complex keys.
var references = map[token.Type]string{
	token.AnchorType: "an anchor", token.AliasType: "an alias", token.MergeKeyType: "a merge key", token.MappingKeyType: "a complex key",
}

// ornate are constructs that plain files do not need.
var ornate = map[token.Type]string{
	token.TagType: "a tag", token.DirectiveType: "a directive", token.LiteralType: "a block of text", token.FoldedType: "a block of text",
}

// check rejects such constructs, and excessive depth, before the recursive parser sees them.
func (l *Limits) check(tokens token.Tokens) error {
	n := nesting{}
	for _, t := range tokens {
		what := references[t.Type]
		if l.Expanded > 0 && t.Type != token.MappingKeyType {
			what = ""
		}
		if what == "" && l.Plain {
			what = ornate[t.Type]
		}
		if what != "" {
			return &fault.Error{Line: t.Position.Line, Column: t.Position.Column, Problem: "holds " + what + ", which is not read",
				Fix: l.hinted("write it out")}
		}
		if n.see(t) > l.Depth {
			return &fault.Error{Line: t.Position.Line, Column: t.Position.Column,
				Problem: fmt.Sprintf("nests deeper than %d levels", l.Depth), Fix: l.fix(l.Depth, "levels")}
		}
	}
	return nil
}

// nesting tracks depth: open brackets, and columns of enclosing blocks.
type nesting struct {
	brackets, line int
	entered        bool  // the previous token was the - of a list
	columns        []int // ascending
}

func (n *nesting) see(t *token.Token) int {
	entry := t.Type == token.SequenceEntryType
	if n.brackets == 0 && (t.Position.Line != n.line || n.entered || entry) {
		n.begin(t.Position.Column)
	}
	n.line, n.entered = t.Position.Line, entry
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		n.brackets++
	case token.SequenceEndType, token.MappingEndType:
		n.brackets = max(0, n.brackets-1)
	}
	return n.brackets + len(n.columns)
}

// begin closes blocks to the right of a column and opens one there.
func (n *nesting) begin(column int) {
	for len(n.columns) > 0 && n.columns[len(n.columns)-1] >= column {
		n.columns = n.columns[:len(n.columns)-1]
	}
	n.columns = append(n.columns, column)
}
