// Package clients generates the contract's types in other languages from their JSON Schema, for the Python and
// JavaScript packages and as a starting point for clients of the HTTP API.
//
// See clients.go for the interpretation of schemas, python.go and typescript.go for the two languages.
package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall/internal/stable"
)

// Shape is a JSON Schema, as far as types go.
type Shape struct {
	Ref         string `json:"$ref"`
	Type        string
	Description string
	Enum        []string
	Items       *Shape
	AnyOf       []Shape
	Properties  map[string]*Shape
	Required    []string
	More        json.RawMessage `json:"additionalProperties"`
}

// Types are the schemas of objects, by name.
type Types map[string]*Shape

// Read takes the definitions of a schema as memwall schema prints it.
func Read(schema []byte) (Types, error) {
	var doc struct {
		Types Types `json:"$defs"`
	}
	if err := json.Unmarshal(schema, &doc); err != nil {
		return nil, fmt.Errorf("a schema that is not JSON: %w", err)
	}
	if len(doc.Types) == 0 {
		return nil, fmt.Errorf("a schema without $defs")
	}
	return doc.Types, nil
}

// names of all types, in order.
func (t Types) names() []string { return slices.Sorted(maps.Keys(t)) }

// fields of an object: what is always there first, then the others, both in order.
func (s *Shape) fields() []string {
	all := slices.Sorted(maps.Keys(s.Properties))
	stable.Sort(all, func(a, b string) int { return s.rank(a) - s.rank(b) })
	return all
}

// rank is 0 of a field that is always there, and 1 of others.
func (s *Shape) rank(field string) int {
	if slices.Contains(s.Required, field) {
		return 0
	}
	return 1
}

// Language is how types are written in one.
type Language struct {
	List, Dict, Any string
	Words           map[string]string         // of JSON's types
	Named           func(name string) string  // an object of the contract
	Either          func(all []string) string // one of several; nil: a client takes what comes
}

// Of is the type of a schema.
func (l *Language) Of(s *Shape) string {
	switch {
	case s.Ref != "":
		return l.Named(path.Base(s.Ref))
	case len(s.AnyOf) > 0:
		return l.either(s.AnyOf)
	case len(s.Enum) > 0 && l.Either != nil:
		return l.Either(literals(s.Enum))
	case s.Items != nil:
		return fmt.Sprintf(l.List, l.Of(s.Items))
	case s.each() != nil:
		return fmt.Sprintf(l.Dict, l.Of(s.each()))
	case l.Words[s.Type] != "":
		return l.Words[s.Type]
	}
	return l.Any
}

// either is one of several types; null is none, because what is null need not be there.
func (l *Language) either(of []Shape) string {
	var all []string
	for i := range of {
		if of[i].Type != "null" {
			all = append(all, l.Of(&of[i]))
		}
	}
	switch {
	case len(all) == 1:
		return all[0]
	case l.Either == nil:
		return l.Any
	}
	return l.Either(all)
}

// each is the schema of every member of an object whose names are anybody's; nil where it is no such object.
func (s *Shape) each() *Shape {
	if s.Type != "object" || len(s.More) == 0 || s.More[0] != '{' {
		return nil
	}
	each := &Shape{}
	_ = json.Unmarshal(s.More, each) // it was part of a text that was read
	return each
}

// object is the name of the contract's object that a schema is or holds, and whether it holds it under names of anybody's.
func (s *Shape) object() (name string, byName bool) {
	if s.Ref != "" {
		return path.Base(s.Ref), false
	}
	for i := range s.AnyOf {
		if name, byName = s.AnyOf[i].object(); name != "" {
			return name, byName
		}
	}
	if s.Items != nil {
		return s.Items.object()
	}
	if e := s.each(); e != nil {
		name, _ = e.object()
	}
	return name, name != ""
}

func literals(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return out
}

// Upper is a name of the contract as one of a type.
func Upper(name string) string {
	var out strings.Builder
	for w := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("_.-", r) }) {
		out.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return out.String()
}
