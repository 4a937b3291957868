package serve

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
)

// Paths outside /v1.
const (
	healthPath  = "/health"
	metricsPath = "/metrics"
	openAPIPath = "/openapi.json"
	agentsPath  = "/mcp"
	studyPath   = "/v1/study"
)

// Content types.
const (
	jsonType   = "application/json"
	linesType  = "application/x-ndjson"
	eventsType = "text/event-stream"
)

// route describes what a path accepts.
type route struct {
	methods []string
	takes   string // content type; "" for none
	most    int64  // maximum bytes
}

// routes by path, except those with a name in them.
type routes map[string]*route

func (r routes) takes(path string) string {
	if t := r[path]; t != nil {
		return t.takes
	}
	return ""
}

func (r routes) most(path string) int64 {
	if t := r[path]; t != nil {
		return t.most
	}
	return smallBody
}

// add records a path.
func (r routes) add(method, path, takes string, most int64) {
	t := r[path]
	if t == nil {
		t = &route{}
		r[path] = t
	}
	t.methods = append(t.methods, method)
	if takes != "" {
		t.takes, t.most = takes, most
	}
}

// asks returns the questions with an endpoint of their own.
func asks() []string { return memwall.FieldByName("ask").Enum }

// register registers every path with its handler and its description.
func (s *Server) register() error {
	s.routes = routes{}
	doc := describe(s.Token != "")
	adapter := humago.NewAdapter(s.mux, "")
	handle := func(op *huma.Operation, takes string, most int64, h http.HandlerFunc) {
		doc.AddOperation(op)
		s.routes.add(op.Method, op.Path, takes, most)
		at := *op
		at.Path = strings.Replace(op.Path, "{name}", "{name...}", 1) // hub names contain a slash
		adapter.Handle(&at, func(c huma.Context) {
			r, w := humago.Unwrap(c)
			h(w, r)
		})
	}
	for _, ask := range asks() {
		handle(question(ask), jsonType, maxBody, func(w http.ResponseWriter, r *http.Request) { s.ask(w, r, ask) })
	}
	handle(batchOperation(), linesType, maxBatch, s.batch)
	var cards, own []reflect.Type
	for _, p := range operations() {
		own = append(own, p.in, p.out)
		handle(p.operation(), jsonType, maxBody, func(w http.ResponseWriter, r *http.Request) { s.post(w, r, &p) })
	}
	for _, l := range s.lists() {
		cards = append(cards, l.cards...)
		handle(l.operation(false), "", 0, l.all)
		if l.one != nil {
			handle(l.operation(true), "", 0, l.one)
		}
	}
	handle(textOperation("health", healthPath, "whether the server answers", jsonType), "", 0, s.health)
	handle(textOperation("metrics", metricsPath, "counters, as Prometheus reads them", metricsType), "", 0, s.writeMetrics)
	if s.Study != nil {
		handle(textOperation("study", studyPath, "the study that this server shows, as far as it is", jsonType), "", 0, s.study)
	}
	text, err := openAPI(doc, cards, own)
	if err != nil {
		return err
	}
	s.file(openAPIPath, "application/openapi+json", text)
	reference, err := (&page.Site{Study: s.Study, API: true}).Reference(context.Background(), text)
	if err != nil {
		return err
	}
	s.file(page.ReferencePath, pageType, []byte(reference))
	s.rest()
	return nil
}

// rest registers what is not part of the API.
func (s *Server) rest() {
	if s.Agents != nil {
		s.routes.add(http.MethodPost, agentsPath, jsonType, maxBody)
		s.mux.HandleFunc(agentsPath, s.agents)
	}
	s.pages()
	s.mux.HandleFunc("/", s.nothing)
}

// nothing reports that a path does not exist, or not for this method.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	if t := s.routes[r.URL.Path]; t != nil && !slices.Contains(t.methods, r.Method) {
		allowed := strings.Join(t.methods, ", ")
		w.Header().Set("Allow", allowed)
		s.fail(w, problem(http.StatusMethodNotAllowed, &memwall.Error{Code: refused, Field: "method", Value: shortened(r.Method),
			Message: "this path does not take that method", Hint: allowed}))
		return
	}
	s.refuse(w, r, problem(http.StatusNotFound, &memwall.Error{Code: notFound, Field: "path", Value: shortened(r.URL.Path),
		Message: "there is nothing at this path", Hint: page.ReferencePath + " lists what there is"}))
}

// file registers a static text.
func (s *Server) file(path, kind string, text []byte) {
	s.routes.add(http.MethodGet, path, "", 0)
	b := newBody(kind, text)
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.deliver(w, r, b) })
}
