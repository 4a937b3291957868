package study

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/schema"
	"github.com/memwall/memwall/workload"
)

// kind of JSON, in a schema.
type kind = map[string]any

// listOf lets a value be one or several.
func listOf(one any) kind {
	return kind{"anyOf": []any{one, kind{"type": "array", "items": one, "minItems": 1, "uniqueItems": true}}}
}

// Schema returns the JSON Schema of study files, derived from the structs that requests are decoded into.
func Schema() ([]byte, error) {
	defs, err := schema.Definitions("#/$defs/", reflect.TypeFor[memwall.Request](), reflect.TypeFor[workload.Spec](),
		reflect.TypeFor[memwall.Goal]())
	if err != nil {
		return nil, err
	}
	plan, err := members(defs["Request"], func(name string) bool { return taken[name] == "" })
	if err != nil {
		return nil, err
	}
	load, err := members(defs["Spec"], func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	goal, err := members(defs["Goal"], func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	name := kind{"type": "string", "description": "what reports call it"}
	words := func(doc string) kind {
		return kind{"anyOf": listOf(kind{"type": "string"})["anyOf"], "description": doc}
	}
	named := func(of kind) kind {
		all := maps.Clone(of)
		all["name"] = name
		return kind{"type": "array", "minItems": 1, "items": kind{"type": "object", "properties": all, "additionalProperties": false}}
	}
	seed := kind{"type": "integer", "minimum": 1}
	top := kind{
		"$schema": schema.Draft, "$id": memwall.Schema + "/study", "type": "object", "additionalProperties": false,
		"required": []string{"ask", "models"},
		"properties": kind{
			"study": kind{"type": "string", "maxLength": 80, "description": "what the study is called"},
			"ask":   kind{"enum": Asks, "description": "the question"}, "models": words("models of the catalog"),
			"hardware": words("devices, nodes or custom devices, with counts"),
			"plan": kind{"type": "object", "properties": each(plan), "additionalProperties": false,
				"description": "fields of the request, each with a value or a list of values"},
			"workloads": named(load), "workload": kind{"type": "object", "properties": each(load), "additionalProperties": false,
				"description": "fields of all workloads, each with a value or a list of values"},
			"traces": words("files of recorded workloads, by their names from where the study lies"), "goals": named(goal),
			"seeds": kind{"anyOf": []any{kind{"type": "array", "items": seed, "minItems": 1, "uniqueItems": true}, kind{"type": "string", "pattern": `^[0-9]+\.\.[0-9]+$`}}, "description": "seeds of the workload: [1, 2, 3] or 1..100"},
		},
		"$defs": others(defs),
	}
	return indented(top)
}

// members of an object's schema.
func members(of json.RawMessage, keep func(string) bool) (kind, error) {
	var o struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(of, &o); err != nil {
		return nil, err
	}
	maps.DeleteFunc(o.Properties, func(name string, _ any) bool { return !keep(name) })
	return o.Properties, nil
}

// each member may be a value, as JSON has it or as a flag takes it, or a list of them.
func each(of kind) kind {
	out := kind{}
	for name, one := range of {
		out[name] = listOf(kind{"anyOf": []any{one, kind{"type": "string"}}})
	}
	return out
}

// others are the definitions that members lead to.
func others(defs map[string]json.RawMessage) kind {
	out := kind{}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		out[name] = defs[name]
	}
	return out
}

func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
