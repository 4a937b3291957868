// Package page renders the web page: a URL holds a question, and the answer follows as HTML. It does no I/O and asks
// through a function, so that a server, and a browser with the core compiled in, render the same page.
//
// See site.go for the way from a URL to a page, fit.go for the most common question, state.go for URLs, html.go for
// building elements.
package page

import (
	"context"
	_ "embed"
	"net/url"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
)

// Site renders pages that answer questions.
type Site struct {
	Asker *memwall.Asker
	// OnePage selects URLs of a single file: "?ask=fit&m=…" in place of "/fit?m=…".
	OnePage bool
	// Up is the relative path from a card's page to the site's folder; "" for a server.
	Up string
	// Base is the site's public URL, ending in a slash; "" if unknown.
	Base string
	// API reports whether programs can ask here too, which pages mention.
	API bool
	// Study returns a study's current state; nil if there is none to show.
	Study func(context.Context) (*card.Study, error)
}

// Response is the response to a path and a query.
type Response struct {
	Status int
	Type   string // "" is a page
	HTML   string
}

// question is a kind of page.
type question struct {
	path, name string
	ask        string // of its requests
	loads      bool   // has a load, and a goal for it
	draw       func(*view)
	says       []string // keys in its sentence
	needs      []string // required keys; one of several in a string suffices
	example    string   // the query that supplies missing required keys
	own        []string // keys that are not request fields; such a page asks its own questions
}

// questions returns the questions in the order of the heading.
func questions() []question {
	return []question{
		{path: "fit", name: "Fit", ask: "fit", draw: (*view).fit, says: []string{modelKey, "weights", "on", "engine", "users", "ctx"},
			needs: []string{modelKey}, example: "m=llama-3.1-8b&on=rtx-4090"},
		{path: "plan", name: "Plan", ask: "plan", draw: (*view).plan, says: []string{modelKey, "on", "users", "ctx"},
			needs: []string{modelKey}, example: "m=qwen3-32b&on=rtx-4090&ctx=32k&weights=q4_k_m"},
		{path: "serve", name: "Serve", ask: "plan", loads: true, draw: (*view).serve, says: []string{modelKey, "users", "ttft", "tpot", "on"},
			needs: []string{modelKey, "users rate trace"}, example: "m=llama-3.1-8b&users=50&ttft=2s&tpot=50ms&on=l40s,h100"},
		{path: "pick", name: "Pick", ask: "pick", draw: (*view).pick, says: []string{"for", "on", "users", "ctx"}, needs: []string{"on"},
			example: "on=rtx-4090"},
		{path: "pack", name: "Pack", ask: "fit", draw: drawPool, says: []string{"on", modelsKey}, needs: []string{"on", modelsKey},
			own: packWords, example: "on=4xh100&models=llama-3.1-70b --weights fp8 --tp 2%3B 3x qwen3-8b --ctx 16k%3B llama-3.1-8b"},
		{path: "train", name: "Train", ask: "train", draw: (*view).train,
			says: []string{modelKey, "on", "method", "seq", "micro-batch", "tokens"}, needs: []string{modelKey},
			example: "m=llama-3.1-8b&on=rtx-4090&method=qlora&seq=4k&tokens=10M"},
		{path: "sim", name: "Simulate", ask: "sim", loads: true, draw: (*view).sim, says: []string{modelKey, "on", "rate", "prompt", "output"},
			needs: []string{modelKey, "rate users trace"}, example: "m=llama-3.1-8b&on=l40s&rate=1&prompt=1500&output=300"},
		{path: "autoscale", name: "Autoscale", ask: "sim", loads: true, draw: drawDay,
			says: []string{modelKey, "on", dayKey, "prompt", "output", "ttft"}, needs: []string{modelKey, dayKey, "ttft tpot"}, own: scalingWords(),
			example: "m=llama-3.1-8b&on=l40s&load=2,1,1,3,8,15,18,17,15,18,14,6&prompt=500&output=100&ttft=1s"},
		{path: "diagnose", name: "Diagnose", ask: "diagnose", draw: (*view).diagnose, says: []string{modelKey, "on"}},
		{path: "learn", name: "Learn", ask: "learn", draw: (*view).learn, says: []string{topicKey, modelKey, "on"}, own: []string{topicKey}},
	}
}

// Pasted is the path that accepts pasted text.
const Pasted = "/diagnose"

// Paths returns the paths of all pages.
func Paths() []string {
	out := []string{"/{$}"}
	for _, q := range questions() {
		out = append(out, "/"+q.path)
		for _, ending := range q.endings() {
			out = append(out, "/"+q.path+"."+ending)
		}
	}
	return out
}

// AskOf returns the question asked by the page of a path; "" if there is no such page.
func AskOf(path string) string {
	path, _, _ = strings.Cut(strings.Trim(path, "/"), ".")
	if q := questionAt(path); q != nil {
		return q.ask
	}
	return ""
}

// AskedAt returns the name of a path's page, without a download's ending.
func AskedAt(path string) string {
	path, _, _ = strings.Cut(strings.Trim(path, "/"), ".")
	return path
}

// Searches reports whether the page of a path asks several questions of its own, as lessons, days, pools and cards do.
func Searches(path string) bool {
	_, name := shelfAt(path)
	q := questionAt(AskedAt(path))
	return name != "" || q != nil && q.own != nil
}

// RequestOf returns the request of a URL as far as it can be parsed; nil if the URL is of no page that asks.
func RequestOf(path, query string) *memwall.Request {
	path, _, _ = strings.Cut(strings.Trim(path, "/"), ".")
	if questionAt(path) == nil {
		return nil
	}
	s, err := readState(path, query)
	if err != nil {
		return nil
	}
	s.filled()
	r, _ := s.request() // the page reports errors
	for range s.beside {
		r.Also = append(r.Also, memwall.Request{})
	}
	return r
}

// questionAt returns the question at a path; nil if there is none.
func questionAt(path string) *question {
	all := questions()
	if i := slices.IndexFunc(all, func(q question) bool { return q.path == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Page renders the page of a path, such as /fit, and a query. Pasted text is passed separately, since it is not in the URL.
func (s *Site) Page(ctx context.Context, path, query, pasted string) Response {
	if suggests(path, query, s.OnePage) {
		return s.suggest(query)
	}
	ask := strings.Trim(path, "/")
	if sh, name := shelfAt(ask); sh != nil {
		return s.card(&view{site: s, ctx: ctx}, sh, name, query)
	}
	if s.Study != nil && (path == StudyPath || ask == "" && query == "") {
		return s.study(ctx) // a site that follows a study opens on it
	}
	if s.OnePage {
		ask, query = questionOf(query)
	}
	if ask == "" {
		return s.start(&view{site: s, ctx: ctx})
	}
	ask, ending, exported := strings.Cut(ask, ".")
	q := questionAt(ask)
	if exported && q != nil && !slices.Contains(q.endings(), ending) {
		q = nil
	}
	if q != nil {
		v := &view{site: s, ctx: ctx, question: q, title: q.name}
		if ask, query, err := sorted(ask, query, pasted); err == nil {
			v.question = questionAt(ask)
			v.read(ask, query, pasted)
		} else {
			v.state, v.request = s.state(ask), &memwall.Request{Ask: ask}
			v.state.paste = pasted
			v.fail(err)
		}
		if exported {
			return s.exported(v, ending)
		}
		v.question.draw(v)
		return Response{Status: v.status(), HTML: v.document()}
	}
	return Response{Status: 404, HTML: s.Failure(ctx, "Not here", "There is no such page.", "")}
}

// state returns an empty state of a question.
func (s *Site) state(ask string) *state {
	return &state{ask: ask, query: url.Values{}, one: s.OnePage, up: s.Up}
}

// Failure returns an error page with a suggested fix.
func (s *Site) Failure(ctx context.Context, title, message, fix string) string {
	v := &view{site: s, ctx: ctx, state: s.state(""), title: title}
	v.add(el("h1", id("answer"), txt(term.Capital(message))), when(fix != "", el("p", class("sub"), txt("fix: "+fix))),
		el("p", el("a", attr{"href", v.asset("")}, txt("Back to the start page"))))
	return v.document()
}

// questionOf returns the question and the remaining query on a single-page site; ask is "" if there is none.
func questionOf(query string) (ask, rest string) {
	if values, err := url.ParseQuery(query); err == nil && values.Get(askKey) != "" {
		return values.Get(askKey), query
	}
	return "", ""
}

// view is a page being drawn.
type view struct {
	site      *Site
	ctx       context.Context
	question  *question
	state     *state
	request   *memwall.Request
	answer    *memwall.Answer
	err       *memwall.Error
	others    map[string]*memwall.Answer // answers to other pages' questions, by URL; nil if there is none
	title     string
	main      all
	unread    []string // of a pasted command
	dropped   []string // settings that the engine does not support
	says      string   // the answer in words, for shared links
	pictures  int      // counts pictures, for their names
	tabled    int      // counts tables, for their names
	live      bool     // updates by itself
	still     bool     // links are followed by the browser itself
	describes string   // one-line description for search engines
}

// read parses the question and asks it.
func (v *view) read(ask, query, pasted string) {
	var err error
	if v.state, err = readState(ask, query); err != nil {
		v.state, v.request = v.site.state(ask), &memwall.Request{Ask: v.question.ask}
		v.fail(err)
		return
	}
	v.state.paste, v.state.one, v.state.up = pasted, v.site.OnePage, v.site.Up
	if err = v.unpacked(); err == nil {
		v.state.filled()
		v.dropped = v.state.dropped()
		v.request, err = v.state.request()
	}
	if err != nil {
		v.fail(err)
		return
	}
	v.request.Explain = true
	if v.question.ask == "diagnose" {
		v.failed()
	}
	if !v.asked() {
		return
	}
	answer := v.site.Asker.AskContext
	if v.state.drag && ask == "fit" {
		answer = func(_ context.Context, r *memwall.Request) (*memwall.Answer, error) { return v.site.Asker.Size(r) }
	}
	if v.answer, err = answer(v.ctx, v.request); err != nil {
		v.fail(err)
		v.answer = nil
	}
}

// asked reports whether there is a question to answer here. Lessons, days and pools ask their own.
func (v *view) asked() bool { return v.question.own == nil }

// failed diagnoses a program's output; until one is pasted, an example.
func (v *view) failed() {
	if v.state.paste == "" {
		v.state.paste, v.request = exampleLog, &memwall.Request{Ask: "diagnose", Explain: true}
	}
	v.request.Text = v.state.paste
}

// fail records why there is no answer.
func (v *view) fail(err error) { v.err = memwall.AsError(err) }

func (v *view) status() int {
	switch {
	case v.err == nil:
		return 200
	case v.err.Code == memwall.Internal:
		return 500
	}
	return 422
}

// add appends parts to the page.
func (v *view) add(parts ...part) { v.main = append(v.main, parts...) }

// judged returns an answer with a verdict; training is not sized alone.
func judged(v *view, s *state) *memwall.Answer {
	if v.question.ask == "train" {
		return v.fitted(s)
	}
	return v.sized(s)
}

// sized returns the ledger of another page's question; nil if it has no answer.
func (v *view) sized(s *state) *memwall.Answer {
	r, err := s.request()
	if err != nil {
		return nil
	}
	a, err := v.site.Asker.Size(r)
	if err != nil {
		return nil
	}
	return a
}
