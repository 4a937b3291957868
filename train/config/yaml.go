package config

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/format/yaml"
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

// small is what a configuration may be.
var small = yaml.Limits{Bytes: maxText, Depth: maxDepth, Expanded: 1 << 13, Holds: "one configuration"}

// fromYAML reads a file that is small, shallow and without references: the first document that has settings.
func fromYAML(data []byte) (*node, error) {
	docs, err := yaml.Decode(string(data), small)
	if e, ok := errors.AsType[*fault.Error](err); ok {
		where := ""
		if e.Line > 0 {
			where = fmt.Sprintf("in line %d ", e.Line)
		}
		return nil, wrong("YAML", where+e.Problem, e.Fix)
	}
	for _, d := range docs {
		if d.Of != nil {
			return tree(d), nil
		}
	}
	return nil, wrong("YAML", "holds no settings", "key: value, one a line")
}

func tree(n *yaml.Node) *node {
	switch {
	case n.Of != nil:
		out := block()
		for _, k := range n.Keys {
			out.put(k, tree(n.Of[k]))
		}
		return out
	case n.List != nil:
		out := &node{list: []*node{}}
		for _, v := range n.List {
			out.list = append(out.list, tree(v))
		}
		return out
	}
	return &node{text: n.Text, null: n.Null()}
}
