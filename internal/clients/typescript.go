package clients

import (
	"fmt"
	"strings"
)

// TypeScript are the types as interfaces.
func (t Types) TypeScript() string {
	l := &Language{List: "(%s)[]", Dict: "Record<string, %s>", Any: "unknown", Named: Upper,
		Either: func(all []string) string { return strings.Join(all, " | ") },
		Words:  map[string]string{"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}}
	var b strings.Builder
	for _, name := range t.names() {
		s := t[name]
		fmt.Fprintf(&b, "export interface %s {\n", Upper(name))
		for _, field := range s.fields() {
			of := s.Properties[field]
			if of.Description != "" {
				fmt.Fprintf(&b, "  /** %s */\n", strings.ReplaceAll(of.Description, "*/", "* /"))
			}
			fmt.Fprintf(&b, "  %q%s: %s;\n", field, []string{"", "?"}[s.rank(field)], l.Of(of))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
