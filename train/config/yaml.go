package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// toYAML writes settings two blanks a level.
func toYAML(s *section) string {
	var b strings.Builder
	writeYAML(&b, s, "")
	return b.String()
}

func writeYAML(b *strings.Builder, s *section, indent string) {
	for _, it := range s.items {
		switch v := it.value.(type) {
		case *section:
			fmt.Fprintf(b, "%s%s:\n", indent, it.key)
			writeYAML(b, v, indent+"  ")
		case []*section:
			fmt.Fprintf(b, "%s%s:\n", indent, it.key)
			for _, e := range v {
				var inner strings.Builder
				writeYAML(&inner, e, indent+"    ")
				fmt.Fprintf(b, "%s  - %s", indent, strings.TrimLeft(inner.String(), " "))
			}
		default:
			fmt.Fprintf(b, "%s%s: %s\n", indent, it.key, yamlScalar(v))
		}
	}
}

// plainYAML are texts that every YAML reader takes as they stand.
var plainYAML = regexp.MustCompile(`^[A-Za-z_/.][A-Za-z0-9_/.+-]*$`)

// spoken are plain words that YAML takes for something else.
var spoken = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|~|\.inf|\.nan)$`)

func yamlScalar(v any) string {
	switch v := v.(type) {
	case string:
		if plainYAML.MatchString(v) && !spoken.MatchString(v) {
			return v
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case []string:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = yamlScalar(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return scalar(v)
}

// scalar is a number or a truth as JSON writes it.
func scalar(v any) string {
	if x, ok := v.(float64); ok {
		return decimal(x)
	}
	return fmt.Sprint(v)
}

// decimal has no exponent, which some YAML readers take for a text, and always a point.
func decimal(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// fromYAML reads a file that is small, shallow, one document and without references.
func fromYAML(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("YAML", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one configuration of at most %d bytes", maxText))
	}
	tokens := lexer.Tokenize(string(data))
	if err := shallow(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	for _, d := range file.Docs {
		if m, ok := d.Body.(ast.MapNode); ok {
			return tree(m.(ast.Node)), nil
		}
	}
	return nil, wrong("YAML", "holds no settings", "key: value, one a line")
}

// refused are parts of YAML that stand for more than is written.
var refused = map[token.Type]string{
	token.AnchorType: "an anchor", token.AliasType: "an alias", token.MergeKeyType: "a merge key", token.MappingKeyType: "a complex key",
}

// shallow refuses references and depth before the parser, which recurses, sees them.
func shallow(tokens token.Tokens) error {
	brackets, line, entries := 0, 0, 0
	var indents []int
	for _, t := range tokens {
		if what, bad := refused[t.Type]; bad {
			return wrong("YAML", fmt.Sprintf("holds %s in line %d, which is not followed", what, t.Position.Line), "write it out")
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
			return wrong("YAML", fmt.Sprintf("nests deeper than %d levels in line %d", maxDepth, line), "a configuration has a few levels")
		}
	}
	return nil
}

// syntax turns the parser's error, which prints an excerpt of the file, into one line.
func syntax(err error) error {
	const fix = "two blanks for each level, key: value, and lists with - or in [ ]"
	var known yaml.Error
	if !errors.As(err, &known) {
		return wrong("YAML", "cannot be read", fix)
	}
	where := ""
	if t := known.GetToken(); t != nil && t.Position != nil {
		where = fmt.Sprintf(" in line %d", t.Position.Line)
	}
	return wrong("YAML", "cannot be read"+where+": "+known.GetMessage(), fix)
}

func tree(n ast.Node) *node {
	switch n := n.(type) {
	case ast.MapNode:
		out := block()
		for it := n.MapRange(); it.Next(); {
			out.put(it.Key().GetToken().Value, tree(it.Value()))
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
		return &node{null: true}
	}
	return &node{text: n.GetToken().Value}
}
