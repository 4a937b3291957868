package serve

import (
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/schema"
)

// definitionsAt is the location of type definitions in the description.
const definitionsAt = "#/components/schemas/"

// definitions holds the contract's types, derived from the structs that encode and decode it, as huma's registry.
type definitions map[string]json.RawMessage

// Schema returns a reference to the definition of a type.
func (definitions) Schema(t reflect.Type, _ bool, _ string) *huma.Schema { return refOf(t) }

// SchemaFromRef returns nil: the definitions are text.
func (definitions) SchemaFromRef(string) *huma.Schema { return nil }

// TypeFromRef returns nil.
func (definitions) TypeFromRef(string) reflect.Type { return nil }

// Map returns nil.
func (definitions) Map() map[string]*huma.Schema { return nil }

// RegisterTypeAlias does nothing.
func (definitions) RegisterTypeAlias(reflect.Type, reflect.Type) {}

// refOf returns a reference to the definition of a type.
func refOf(t reflect.Type) *huma.Schema {
	switch {
	case t == nil:
		return &huma.Schema{Type: "object"}
	case t.Kind() == reflect.Slice:
		return &huma.Schema{Type: "array", Items: refOf(t.Elem())}
	}
	return &huma.Schema{Ref: definitionsAt + t.Name()}
}

// describe returns the beginning of the API description.
func describe(guarded bool) *huma.OpenAPI {
	doc := &huma.OpenAPI{OpenAPI: "3.1.0", Info: &huma.Info{Title: "memwall", Version: memwall.Version,
		Description: "Where every byte of a large language model goes, whether it fits, how fast it runs. Requests and answers are those of the command line's JSON, schema " + memwall.Schema + "."}}
	doc.Servers = []*huma.Server{{URL: "/", Description: "the server that this description is of"}}
	doc.Components = &huma.Components{}
	if guarded {
		doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
		doc.Security = []map[string][]string{{"token": {}}}
	}
	return doc
}

// openAPI returns the whole description as text.
func openAPI(doc *huma.OpenAPI, cards, own []reflect.Type) ([]byte, error) {
	contract := append(cards, reflect.TypeFor[memwall.Request](), reflect.TypeFor[memwall.Answer](), reflect.TypeFor[Problem](),
		reflect.TypeFor[progress](), reflect.TypeFor[List]())
	all, err := schema.Definitions(definitionsAt, append(contract, own...)...) // whose names take precedence
	if err != nil {
		return nil, err
	}
	doc.Components.Schemas = definitions(all)
	return json.Marshal(doc)
}

// replies returns the responses of an operation: its own, the problems it names, and those common to all.
func replies(kind string, ok *huma.Schema, more ...string) map[string]*huma.Response {
	out := map[string]*huma.Response{"200": {Description: "the answer", Content: map[string]*huma.MediaType{kind: {Schema: ok}}}}
	words := map[string]string{"304": "the client has this answer", "400": "the request cannot be read",
		"404": "there is none of that name", "412": "the client has this answer", "413": "the body is too large",
		"415": "the body is of another type", "422": "the request can be read and has no answer",
		"429": "busy: ask again after Retry-After"}
	for _, status := range more {
		r := &huma.Response{Description: words[status]}
		if status != "304" && status != "412" {
			r.Content = map[string]*huma.MediaType{problemType: {Schema: refOf(reflect.TypeFor[Problem]())}}
		}
		out[status] = r
	}
	return out
}

// question describes the endpoint of a question.
func question(ask string) *huma.Operation {
	answer := refOf(reflect.TypeFor[memwall.Answer]())
	op := &huma.Operation{Method: http.MethodPost, Path: "/v1/" + ask, OperationID: ask,
		Summary:     "ask " + ask + "; the request's ask may be left out",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: refOf(reflect.TypeFor[memwall.Request]())}}},
		Responses:   replies(jsonType, answer, "400", "412", "413", "415", "422", "429")}
	op.Responses["200"].Content[eventsType] = streamed("in the end answer, whose data is an Answer, or problem, whose data is a Problem")
	return op
}

// streamed describes an event stream.
func streamed(ends string) *huma.MediaType {
	words := "server-sent events, the data of each JSON on one line: progress four times a second, and " + ends +
		". The data of progress is " + refOf(reflect.TypeFor[progress]()).Ref + ". Its phases:"
	for _, p := range append([][2]string{{phaseWait, "others are answered before"},
		{phaseWork, "it is answered, and there is nothing to count"}}, memwall.Phases()...) {
		words += "\n- " + p[0] + ": " + p[1]
	}
	return &huma.MediaType{Schema: &huma.Schema{Type: "string", Description: words}}
}

// batchOperation describes the batch endpoint.
func batchOperation() *huma.Operation {
	lines := func(what string) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{linesType: {Schema: &huma.Schema{Type: "string", Description: what}}}
	}
	answers := lines("answers, one a line")
	answers[eventsType] = streamed("answer for each line, in order, with end behind the last; progress says which line is at hand")
	responses := replies(linesType, nil, "413", "415", "429")
	responses["200"] = &huma.Response{Description: "the answers", Content: answers}
	return &huma.Operation{Method: http.MethodPost, Path: "/v1/batch", OperationID: "batch",
		Summary:     "a request a line, answered by an answer a line, in order; a bad line gets an answer with an error",
		RequestBody: &huma.RequestBody{Required: true, Content: lines("requests, one a line")},
		Responses:   responses}
}

// textOperation describes an endpoint without parameters.
func textOperation(id, path, doc, kind string) *huma.Operation {
	return &huma.Operation{Method: http.MethodGet, Path: path, OperationID: id, Summary: doc,
		Responses: map[string]*huma.Response{"200": {Description: doc,
			Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{}}}}}}
}
