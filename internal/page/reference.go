package page

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// ReferencePath is the path of a server's API reference.
const ReferencePath = "/docs"

// described is the part of an OpenAPI document that the page needs.
type described struct {
	Info       struct{ Title, Description string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schemaNode }
}

type operation struct {
	Summary    string
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                schemaNode
	}
	RequestBody struct{ Content map[string]media }
	Responses   map[string]struct {
		Description string
		Content     map[string]media
	}
}

type media struct{ Schema schemaNode }

// schemaNode is a JSON Schema, restricted to what the API's own generator uses.
type schemaNode struct {
	Ref         string `json:"$ref"`
	Type        string
	Description string
	Enum        []string
	Default     any
	Items       *schemaNode
	AnyOf       []schemaNode
	Properties  ordered
	Required    []string
	More        json.RawMessage `json:"additionalProperties"`
}

// ordered are the members of an object, in order.
type ordered []namedNode

type namedNode struct {
	name string
	schemaNode
}

// UnmarshalJSON decodes an object, preserving its order.
func (o *ordered) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		n := namedNode{name: name.(string)}
		if err := d.Decode(&n.schemaNode); err != nil {
			return err
		}
		*o = append(*o, n)
	}
	return nil
}

// Reference returns the page of an API: its paths, parameters and responses, and all types, from its OpenAPI document.
func (s *Site) Reference(ctx context.Context, openAPI []byte) (string, error) {
	var doc described
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return "", err
	}
	v := &view{site: s, ctx: ctx, state: s.state(ReferencePath[1:]), title: "HTTP API", still: true}
	v.add(el("h1", id("answer"), txt("HTTP API")), el("p", class("sub"), txt(doc.Info.Description+" "),
		el("a", attr{"href", "/openapi.json"}, txt("openapi.json")), txt(" has the same as OpenAPI 3.1, for programs.")))
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			v.add(op.section(strings.ToUpper(method), path))
		}
	}
	v.add(el("h2", txt("Types")))
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		node := doc.Components.Schemas[name]
		v.add(el("details", id("type-"+name), el("summary", el("code", txt(name))), node.table()))
	}
	return v.document(), nil
}

func (op *operation) section(method, path string) part {
	rows := all{}
	for _, p := range op.Parameters {
		words := p.Description
		if p.In == "path" {
			words = "in the path"
		}
		rows = append(rows, fieldRow(p.Name, p.Schema.words(), words, p.Required))
	}
	takes, answers := all{}, all{}
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		m := op.RequestBody.Content[kind]
		takes = append(takes, el("p", txt("takes "), el("code", txt(kind)), txt(": "), m.Schema.words(), txt(" "+m.Schema.Description)))
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		kinds := all{}
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			m := r.Content[kind]
			kinds = append(kinds, txt(" · "), el("code", txt(kind)), txt(" "), m.Schema.words())
		}
		answers = append(answers, el("li", el("b", txt(status)), txt(" "+r.Description), kinds))
	}
	return el("section", el("h2", el("code", txt(method+" "+path))), el("p", txt(op.Summary)), takes, when(len(rows) > 0, fieldTable(rows)),
		el("ul", answers))
}

// table draws an object's members.
func (n *schemaNode) table() part {
	rows := all{}
	for i := range n.Properties {
		p := &n.Properties[i]
		rows = append(rows, fieldRow(p.name, p.words(), p.Description, slices.Contains(n.Required, p.name)))
	}
	return fieldTable(rows)
}

func fieldTable(rows part) part {
	heads := all{}
	for _, name := range []string{"field", "type", "meaning"} {
		heads = append(heads, el("th", attr{"scope", "col"}, txt(name)))
	}
	return el("div", class("scroll"), attr{"tabindex", "0"}, el("table", class("grid"), el("thead", el("tr", heads)), el("tbody", rows)))
}

func fieldRow(name string, kind part, what string, required bool) part {
	return el("tr", el("td", el("code", txt(name)), when(required, txt(" required"))), el("td", kind), el("td", txt(what)))
}

// words describes a type; a named one links to its description.
func (n *schemaNode) words() part {
	switch {
	case n.Ref != "":
		name := n.Ref[strings.LastIndex(n.Ref, "/")+1:]
		return el("a", attr{"href", "#type-" + name}, txt(name))
	case len(n.Enum) > 0:
		return txt(strings.Join(n.Enum, ", "))
	case n.Items != nil:
		return all{txt("list of "), n.Items.words()}
	case len(n.AnyOf) > 0:
		out := all{}
		for i := range n.AnyOf {
			out = append(out, when(i > 0, txt(" or ")), n.AnyOf[i].words())
		}
		return out
	case len(n.More) > 0 && n.More[0] == '{':
		var each schemaNode
		if json.Unmarshal(n.More, &each) == nil {
			return all{txt("object of "), each.words()}
		}
	}
	if n.Type == "" {
		return txt("any")
	}
	return txt(n.Type)
}
