package serve

import (
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/schema"
)

// catalog is a list of things with cards.
type catalog struct {
	name, doc string
	row       reflect.Type
	cards     []reflect.Type
	all, one  http.HandlerFunc
}

func (s *Server) lists() []catalog {
	return []catalog{
		{"models", "models of the catalog", reflect.TypeFor[List](), []reflect.Type{reflect.TypeFor[card.Model]()}, s.listed(modelRows),
			s.carded(func(name string) (any, error) { return card.ModelOf(s.Models, name) })},
		{"hardware", "devices and nodes of the catalog", reflect.TypeFor[List](),
			[]reflect.Type{reflect.TypeFor[card.Hardware](), reflect.TypeFor[card.Node]()}, s.listed(hardwareRows), s.carded(s.hardware)},
		{"formats", "number formats and quantisations", reflect.TypeFor[List](),
			[]reflect.Type{reflect.TypeFor[card.Format](), reflect.TypeFor[card.Recipe](), reflect.TypeFor[card.Published]()},
			s.listed(formatRows), s.carded(formatCard)},
		{"schema", "the JSON Schema of requests and answers", nil, nil, s.schema(""), s.schemaOf},
	}
}

// formatCard returns a nil error interface on success.
func formatCard(name string) (any, error) {
	c, missing := card.FormatCard(name)
	if missing != nil {
		return nil, missing
	}
	return c, nil
}

// hardware returns the card of a node or device.
func (s *Server) hardware(name string) (any, error) {
	if n := card.NodeOf(name); n != nil {
		return n, nil
	}
	return card.HardwareOf(s.Models, name)
}

// operation describes the list, or the card of one.
func (l *catalog) operation(one bool) *huma.Operation {
	path := "/v1/" + l.name
	op := &huma.Operation{Method: http.MethodGet, Path: path, OperationID: "list-" + l.name, Summary: l.doc,
		Responses: replies(jsonType, refOf(l.row), "304")}
	if !one {
		if l.row != nil {
			op.Parameters = listParameters()
		}
		return op
	}
	op.OperationID, op.Path, op.Summary = "get-"+l.name, path+"/{name}", "one of them: "+l.doc
	op.Parameters = []*huma.Param{{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}}
	op.Responses = replies(jsonType, oneOf(l.cards), "304", "404", "422")
	return op
}

// oneOf returns a schema for any of the types; any object if there are none.
func oneOf(types []reflect.Type) *huma.Schema {
	if len(types) < 2 {
		return refOf(append(types, nil)[0])
	}
	s := &huma.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, refOf(t))
	}
	return s
}

// listParameters select the rows of a list.
func listParameters() []*huma.Param {
	whole := func(least, most float64, usual int) *huma.Schema {
		return &huma.Schema{Type: "integer", Minimum: &least, Maximum: &most, Default: usual}
	}
	return []*huma.Param{
		{Name: "q", In: "query", Description: "words that must be in a name", Schema: &huma.Schema{Type: "string"}},
		{Name: "limit", In: "query", Description: "most rows of the answer", Schema: whole(1, mostRows, usualRows)},
		{Name: "offset", In: "query", Description: "rows to leave out at the beginning", Schema: whole(0, 1<<31-1, 0)},
	}
}

// maxName is the maximum length of a name.
const maxName = 256

// validText replaces invalid UTF-8.
func validText(s string) string { return strings.ToValidUTF8(s, "�") }

// carded handles requests for the card of one.
func (s *Server) carded(find func(name string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if len(name) > maxName {
			s.fail(w, tooLong("name", name))
			return
		}
		c, err := find(validText(name))
		if err != nil {
			s.fail(w, missing(memwall.AsError(err)))
			return
		}
		b, err := newJSON(c)
		s.sendOr(w, r, b, err)
	}
}

func tooLong(field, value string) error {
	return &memwall.Error{Code: memwall.Limit, Field: field, Value: shortened(value), Message: field + " is too long",
		Hint: "at most 256 bytes"}
}

// missing returns the error for a missing card: not found.
func missing(e *memwall.Error) error {
	if e.Code == memwall.UnknownModel || e.Code == memwall.UnknownHardware || e.Field == "format" {
		return problem(http.StatusNotFound, e)
	}
	return e
}

func (s *Server) sendOr(w http.ResponseWriter, r *http.Request, b *body, err error) {
	if err != nil {
		s.fail(w, err)
		return
	}
	s.deliver(w, r, b)
}

// schema handles requests for a schema of the contract.
func (s *Server) schema(which string) http.HandlerFunc {
	text := sync.OnceValues(func() (*body, error) {
		data, err := schema.Of(which)
		return newBody("application/schema+json", data), err
	})
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := text()
		s.sendOr(w, r, b, err)
	}
}

func (s *Server) schemaOf(w http.ResponseWriter, r *http.Request) {
	switch name := r.PathValue("name"); name {
	case "request", "answer":
		s.schema(name)(w, r)
	default:
		s.fail(w, problem(http.StatusNotFound, &memwall.Error{Code: notFound, Field: "name", Value: shortened(name),
			Message: "there is no such schema", Hint: "request or answer"}))
	}
}

// study handles requests for the current state of the study.
func (s *Server) study(w http.ResponseWriter, r *http.Request) {
	got, err := s.Study(r.Context())
	if err != nil {
		s.fail(w, problemOf(err))
		return
	}
	b, err := newJSON(got)
	s.sendOr(w, r, b, err)
}

// health reports that the server is running.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	b, err := newJSON(struct {
		Status  string `json:"status"`
		Version string `json:"version"`
		Schema  string `json:"schema"`
	}{"ok", memwall.Version, memwall.Schema})
	s.sendOr(w, r, b, err)
}
