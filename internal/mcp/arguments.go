package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/schema"
)

// property is an argument's schema.
type property struct {
	Type string   `json:"type,omitempty"`
	Enum []string `json:"enum,omitempty"`
	Doc  string   `json:"description,omitempty"`
}

// briefly returns the schema of arguments in as few words as an agent needs: structures by their field names, and
// descriptions that another tool has given are omitted.
func briefly(fields, required []string, said map[string]bool) (json.RawMessage, error) {
	text, err := schema.Fields(fields, required)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Properties map[string]struct {
			property
			Ref   string     `json:"$ref"`
			AnyOf []property `json:"anyOf"`
		}
		Defs map[string]struct{ Properties map[string]json.RawMessage } `json:"$defs"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	out := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required,omitempty"`
	}{"object", map[string]property{}, required}
	for name, p := range whole.Properties {
		short := p.property
		switch def := strings.TrimPrefix(p.Ref, "#/$defs/"); {
		case p.Ref != "" && len(whole.Defs[def].Properties) > 0:
			short.Type, short.Doc = "object", short.Doc+": "+strings.Join(slices.Sorted(maps.Keys(whole.Defs[def].Properties)), ", ")
		case len(p.AnyOf) > 0:
			short.Type = p.AnyOf[0].Type
		}
		if said[name] {
			short.Doc, short.Enum = "", nil
		}
		said[name] = true
		out.Properties[name] = short
	}
	return json.Marshal(out)
}
