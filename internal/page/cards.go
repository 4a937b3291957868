package page

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
)

// shelf is a kind of card: a list at its path, and a page below it for each card.
type shelf struct {
	path, name string
	list       func(filter string) any
	card       func(s *Site, name string) (any, error)
	more       func(c *cardPage, of any) // the core's answers about one card, below it
	names      func() []string
	badge      func(c *cardPage, of any) string // "" where there is nothing to say
}

// shelves returns the shelves in the order of the page footer.
func shelves() []shelf {
	return []shelf{
		{"models", "Models", func(filter string) any { return card.Models(filter) },
			func(s *Site, name string) (any, error) { return card.ModelOf(s.Asker.Models, name) }, (*cardPage).model, modelNames,
			(*cardPage).fitsBadge},
		{"hardware", "Hardware", func(filter string) any { return card.ListHardware(filter) }, hardwareCard, (*cardPage).hardware,
			hardwareNames, (*cardPage).runsBadge},
		{"formats", "Formats", func(filter string) any { return card.ListFormats(filter) }, func(_ *Site, name string) (any, error) {
			c, missing := card.FormatCard(name)
			if missing != nil {
				return nil, missing
			}
			return c, nil
		}, func(*cardPage, any) {}, formatNames, nil},
	}
}

// CardPaths returns the paths of lists, and those of cards with {name...} for the name.
func CardPaths() (out []string) {
	for _, sh := range shelves() {
		out = append(out, "/"+sh.path, "/"+sh.path+"/{name...}")
	}
	return out
}

// CardNames returns the paths of all cards.
func CardNames() (out []string) {
	for _, sh := range shelves() {
		for _, name := range sh.names() {
			out = append(out, sh.path+"/"+name)
		}
	}
	return out
}

func modelNames() (out []string) {
	for _, r := range card.Models("") {
		out = append(out, r.ID)
	}
	return out
}

func hardwareNames() (out []string) {
	l := card.ListHardware("")
	for i := range l.Devices {
		out = append(out, l.Devices[i].ID)
	}
	return out
}

func formatNames() (out []string) {
	l := card.ListFormats("")
	for _, f := range slices.Concat(l.Formats, l.Blocks) {
		out = append(out, f.Name)
	}
	for _, r := range l.Recipes {
		if !slices.Contains(out, r.Name) {
			out = append(out, r.Name)
		}
	}
	return out
}

func hardwareCard(s *Site, name string) (any, error) {
	if n := card.NodeOf(name); n != nil {
		return n, nil
	}
	return card.HardwareOf(s.Asker.Models, name)
}

// shelfAt returns the shelf of a path, and the name below it; nil if there is none.
func shelfAt(path string) (sh *shelf, name string) {
	first, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	all := shelves()
	if i := slices.IndexFunc(all, func(sh shelf) bool { return sh.path == first }); i >= 0 {
		return &all[i], name
	}
	return nil, ""
}

// cardPage is a page of a list or card being drawn. Its links are followed by the browser itself.
type cardPage struct {
	*view
	shelf *shelf
	id    string
}

// badgeEnding is appended to a card's path for its badge.
const badgeEnding = ".svg"

// mostOfName bounds the length of a requested name, in bytes.
const mostOfName = 256

// card returns the page of a list, a card, or a card's badge.
func (s *Site) card(v *view, sh *shelf, name, query string) Response {
	v.state, v.question, v.request, v.still = s.state(sh.path), &question{path: sh.path, name: sh.name}, &memwall.Request{}, true
	c := &cardPage{v, sh, name}
	if name == "" {
		return c.listed(query)
	}
	v.state.ask += "/" + name
	base, badge := strings.CutSuffix(name, badgeEnding)
	if len(name) > mostOfName {
		return c.missing(&memwall.Error{Code: memwall.Limit, Field: "name", Message: "the name is too long", Hint: "at most 256 bytes"})
	}
	of, err := sh.card(s, base)
	if err != nil {
		return c.missing(err)
	}
	c.id = base
	if badge {
		return c.badge(of)
	}
	c.one(of)
	return Response{Status: 200, HTML: v.document()}
}

// CardFiles returns the page of a card at a path of CardNames, and its badge, "" if it has none; both share one set of questions.
func (s *Site) CardFiles(ctx context.Context, path string) (html, badge string) {
	sh, name := shelfAt(path)
	v := &view{site: s, ctx: ctx}
	html = s.card(v, sh, name, "").HTML
	of, err := sh.card(s, name)
	if err != nil || sh.badge == nil {
		return html, ""
	}
	return html, sh.badge(&cardPage{v, sh, name}, of)
}

// missing returns the page for a card that does not exist.
func (c *cardPage) missing(err error) Response {
	c.fail(err)
	c.title = "Not here"
	c.add(el("h1", txt("There is no such page")), c.failure(), el("p",
		el("a", attr{"href", c.asset(c.shelf.path + c.site.folder())}, txt("All "+c.shelf.path))))
	return Response{Status: 404, HTML: c.document()}
}

// listed returns the list, filtered by words that occur in names.
func (c *cardPage) listed(query string) Response {
	values, err := url.ParseQuery(query)
	if words := values.Get("q"); err != nil || len(words) > mostOfName {
		return c.missing(&memwall.Error{Code: memwall.BadField, Field: "q", Message: "the query cannot be read",
			Hint: "?q=WORDS, at most 256 bytes"})
	}
	words := strings.TrimSpace(values.Get("q"))
	c.title = c.shelf.name
	blocks := cards.CardParts(c.shelf.list(words), words)
	c.opening(blocks[0], nil)
	c.add(el("form", class("open filter"), attr{"method", "get"}, attr{"action", c.asset(c.shelf.path + c.site.folder())},
		attr{"role", "search"},
		el("input", attr{"name", "q"}, attr{"value", words}, attr{"type", "search"}, attr{"aria-label", "part of a name"},
			attr{"placeholder", "part of a name"}, set("data-filter")), el("button", attr{"type", "submit"}, class("go"), txt("Find"))))
	c.parts(blocks[1:])
	return Response{Status: 200, HTML: c.document()}
}

// one draws a card's page with the core's answers about it.
func (c *cardPage) one(of any) {
	blocks := cards.CardParts(of, "")
	rest := blocks[1:]
	c.opening(blocks[0], followers(rest))
	rest = rest[len(followers(rest)):]
	c.shelf.more(c, of)
	c.parts(rest)
	if c.shelf.badge != nil {
		c.add(el("h2", txt("Badge")), el("p", el("img", attr{"src", c.asset(c.shelf.path + "/" + c.id + badgeEnding)},
			attr{"alt", "badge of " + c.id}, attr{"height", "20"})))
	}
	c.add(el("p", el("a", attr{"href", c.asset(c.shelf.path + c.site.folder())}, txt("All "+c.shelf.path))))
}

// opening draws the name, a one-line description, and what follows from it.
func (c *cardPage) opening(head term.Block, under []term.Block) {
	c.title, c.describes = head.Lead.String(), strings.TrimPrefix(head.Words.String(), " ")
	out := all{el("h1", class("lesson"), txt(c.title)), when(len(head.Words) > 0, el("p", class("sub"), c.runs(head.Words)))}
	for i := range under {
		c.describes += "; " + under[i].Words.String()
		out = append(out, el("p", class("cap"), c.runs(under[i].Words)))
	}
	c.add(el("div", id("answer"), out))
}

// smaller is the format that most people run models in at home.
const smaller = "q4_k_m"

// model draws which hardware holds a model, as published and in a smaller format.
func (c *cardPage) model(of any) {
	c.state.query.Set(modelKey, c.id)
	c.title += ": memory, and which GPUs run it"
	first := true
	for _, weights := range formatsOf(of) {
		of := c.plan(weights)
		a := c.fitted(of)
		if a == nil || len(a.Candidates) == 0 || a.Plan == nil {
			continue
		}
		if first {
			c.drawn(of, svg.Smallest(a.Candidates).Patch)
		}
		first = false
		c.add(el("h2", txt("In "+a.Plan.Weights+" it fits on")), el("p", class("cap"),
			txt("the smallest of each kind of hardware, for one user at 8k; a name leads to the ledger")))
		c.tables(of, a)
	}
}

// formatsOf returns the formats that a model's page asks about: the usual one at home if smaller, and the published one.
func formatsOf(of any) (out []string) {
	m, ok := of.(*card.Model)
	if !ok {
		return nil
	}
	for _, w := range slices.Backward(m.Weights) { // smallest first
		if w.Published || w.Recipe == smaller && !slices.ContainsFunc(m.Weights,
			func(o card.StoredIn) bool { return o.Published && o.Bytes < w.Bytes }) {
			out = append(out, w.Recipe)
		}
	}
	return out
}

// plan returns the question which hardware holds the page's model in a format.
func (c *cardPage) plan(weights string) *state {
	s := c.site.state("plan")
	s.query.Set(modelKey, c.id)
	s.query.Set("weights", weights)
	return s
}

// hardware draws the best models that hardware runs.
func (c *cardPage) hardware(any) {
	c.state.query.Set("on", c.id)
	c.title += ": which models it runs"
	of := c.pick()
	a := c.fitted(of)
	if a == nil || len(a.Picks) == 0 {
		return
	}
	k := &a.Picks[0]
	c.drawn(of, map[string]any{"model": k.Model, "weights": k.Weights, "hardware": c.id})
	c.add(el("h2", txt("Its best models")))
	c.tables(of, a)
}

func (c *cardPage) pick() *state {
	s := c.site.state("pick")
	s.query.Set("on", c.id)
	return s
}

// tables draws the tables of an answer, with the words below them.
func (c *cardPage) tables(of *state, a *memwall.Answer) {
	page := c.state
	c.state = of
	defer func() { c.state = page }()
	blocks := render.Parts(a)
	if i := slices.IndexFunc(blocks, func(b term.Block) bool { return b.Kind == term.Grid }); i >= 0 {
		c.parts(blocks[i : i+1+len(followers(blocks[i+1:]))])
	}
}

// drawn draws the ledger of a plan, with a link to it in its head.
func (c *cardPage) drawn(of *state, patch map[string]any) {
	s, ok := of.asking("fit").patched(patch)
	if !ok {
		return
	}
	a := c.fitted(s)
	if a == nil || len(a.Devices) == 0 {
		return
	}
	h := render.HeadOf(a)
	model, machine, _ := render.Names(a)
	c.add(el("h2", el("a", attr{"href", s.href()}, txt(model+" "+a.Plan.Weights+" on "+machine))),
		el("p", class("cap"), txt(h.Sign+" "+h.Word+". "+h.Answer+". "+h.Under+".")))
	kept := c.answer
	c.answer = a
	c.picture()
	c.answer = kept
}

// badge returns the card as one small picture.
func (c *cardPage) badge(of any) Response {
	if c.shelf.badge != nil {
		if svg := c.shelf.badge(c, of); svg != "" {
			return Response{Status: 200, Type: "image/svg+xml", HTML: svg}
		}
	}
	return c.missing(&memwall.Error{Code: memwall.Unsupported, Field: "name", Message: "there is no badge for " + c.id})
}

func (c *cardPage) fitsBadge(of any) string {
	for _, weights := range formatsOf(of) {
		if a := c.fitted(c.plan(weights)); a != nil {
			return svg.FitsBadge(a)
		}
	}
	return ""
}

func (c *cardPage) runsBadge(any) string {
	a := c.fitted(c.pick())
	if a == nil {
		return ""
	}
	return svg.RunsBadge(a)
}
