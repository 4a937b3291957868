package serve

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/schema"
)

// catalog is something to look up: all of it, and the card of one.
type catalog struct {
	name, doc string
	row       reflect.Type
	all, one  http.HandlerFunc
}

func (s *Server) lists() []catalog {
	return []catalog{
		{"models", "models of the catalog", reflect.TypeFor[[]card.ModelRow](), s.listed(func(filter string) any { return card.Models(filter) }),
			s.carded(func(name string) (any, error) { return card.ModelOf(s.Models, name) })},
		{"hardware", "devices and nodes of the catalog", reflect.TypeFor[card.HardwareList](), s.listed(func(filter string) any { return card.ListHardware(filter) }), s.carded(s.hardware)},
		{"formats", "number formats and quantisations", reflect.TypeFor[card.FormatList](), s.listed(func(filter string) any { return card.ListFormats(filter) }), s.carded(formatCard)},
		{"schema", "the JSON Schema of requests and answers", nil, s.schema(""), s.schemaOf},
	}
}

// formatCard keeps an error that is none from being one.
func formatCard(name string) (any, error) {
	c, missing := card.FormatCard(name)
	if missing != nil {
		return nil, missing
	}
	return c, nil
}

// hardware is the card of a node or a device.
func (s *Server) hardware(name string) (any, error) {
	if n := card.NodeOf(name); n != nil {
		return n, nil
	}
	return card.HardwareOf(s.Models, name)
}

// operation describes the list, or the card of one.
func (l *catalog) operation(one bool) *huma.Operation {
	path := "/v1/" + l.name
	op := &huma.Operation{Method: http.MethodGet, Path: path, OperationID: "list-" + l.name, Summary: l.doc, Responses: replies(jsonType, refOf(l.row), "304")}
	if !one {
		op.Parameters = []*huma.Param{{Name: "q", In: "query", Description: "words that must be in a name", Schema: &huma.Schema{Type: "string"}}}
		return op
	}
	op.OperationID, op.Path, op.Summary = "get-"+l.name, path+"/{name}", "one of them: "+l.doc
	op.Parameters = []*huma.Param{{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: "string"}}}
	op.Responses = replies(jsonType, &huma.Schema{Type: "object"}, "304", "404", "422")
	return op
}

// maxName bounds what is looked up.
const maxName = 256

// listed answers with the rows that a filter leaves. The whole list is written once.
func (s *Server) listed(rows func(filter string) any) http.HandlerFunc {
	whole := sync.OnceValues(func() (*body, error) { return newJSON(rows("")) })
	return func(w http.ResponseWriter, r *http.Request) {
		filter, err := filterOf(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		b, err := whole()
		if filter != "" {
			b, err = newJSON(rows(strings.ToValidUTF8(filter, "�")))
		}
		s.sendOr(w, r, b, err)
	}
}

// filterOf a list: the one parameter that there is.
func filterOf(r *http.Request) (string, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", &memwall.Error{Code: memwall.BadField, Field: "q", Value: shortened(r.URL.RawQuery), Message: "the query cannot be read", Hint: "?q=WORDS, with % and what follows it in two hexadecimal digits"}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name != "q" || len(given[name]) > 1 {
			return "", &memwall.Error{Code: memwall.BadField, Field: shortened(name), Message: "a list takes q, once, and nothing else", Hint: "?q=WORDS"}
		}
	}
	if filter := given.Get("q"); len(filter) > maxName {
		return "", tooLong("q", filter)
	}
	return given.Get("q"), nil
}

// carded answers with the card of one.
func (s *Server) carded(find func(name string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if len(name) > maxName {
			s.fail(w, tooLong("name", name))
			return
		}
		c, err := find(strings.ToValidUTF8(name, "�"))
		if err != nil {
			s.fail(w, missing(memwall.AsError(err)))
			return
		}
		b, err := newJSON(c)
		s.sendOr(w, r, b, err)
	}
}

func tooLong(field, value string) error {
	return &memwall.Error{Code: memwall.Limit, Field: field, Value: shortened(value), Message: field + " is too long", Hint: "at most 256 bytes"}
}

// missing: a card that is not there is a page that is not there.
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

// schema answers with a schema of the contract.
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
		s.fail(w, problem(http.StatusNotFound, &memwall.Error{Code: notFound, Field: "name", Value: shortened(name), Message: "there is no such schema", Hint: "request or answer"}))
	}
}

// study as far as it is.
func (s *Server) study(w http.ResponseWriter, r *http.Request) {
	got, err := s.Study(r.Context())
	if err != nil {
		s.fail(w, problemOf(err))
		return
	}
	b, err := newJSON(got)
	s.sendOr(w, r, b, err)
}

// health says that the server answers.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	b, err := newJSON(struct {
		Status  string `json:"status"`
		Version string `json:"version"`
		Schema  string `json:"schema"`
	}{"ok", memwall.Version, memwall.Schema})
	s.sendOr(w, r, b, err)
}
