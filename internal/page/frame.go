package page

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/term"
)

//go:embed page.css
var styles string

//go:embed page.js
var script string

// Style returns the page's style sheet.
func Style() string {
	return ":root{" + render.Palette(false) + "}" + "\n:root[data-theme=dark]{" + render.Palette(true) +
		"}\n@media(prefers-color-scheme:dark){:root:not([data-theme=light]){" + render.Palette(true) + "}}\n" + svg.PartStyles() + styles
}

// Script returns the page's script.
func Script() string { return script }

const logo = `<svg viewBox="0 0 18 18" width="18" height="18" aria-hidden="true"><rect class="f0" y="10" width="18" height="8"/><rect class="f4" y="5" width="18" height="4"/><rect class="f2" y="1" width="18" height="3"/></svg>`

// document returns the whole page.
func (v *view) document() string {
	return "<!doctype html>\n" + el("html", attr{"lang", "en"},
		el("head",
			el("meta", attr{"charset", "utf-8"}),
			el("meta", attr{"name", "viewport"}, attr{"content", "width=device-width,initial-scale=1"}),
			when(v.site.OnePage, el("meta", attr{"http-equiv", "Content-Security-Policy"},
				attr{"content", "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'"})),
			el("title", txt(v.title+" · memwall")),
			met(v),
			el("link", attr{"rel", "stylesheet"}, attr{"href", v.asset("page.css")}),
			when(v.live, el("noscript", el("meta", attr{"http-equiv", "refresh"}, attr{"content", "5"}))),
			el("link", attr{"rel", "icon"}, attr{"href", "data:,"}),
			el("script", attr{"src", v.asset(scriptOf(v))}, set("defer"))),
		el("body",
			raw(`<svg width="0" height="0" class="defs" aria-hidden="true">`+svg.Hatching()+`</svg>`),
			el("a", class("skip"), attr{"href", "#answer"}, txt("To the answer")),
			v.header(),
			el("main", attr{"data-at", addressOf(v)}, when(v.live, set("data-live")), when(v.site.OnePage && !v.still, set("data-one")),
				when(v.says != "", attr{"data-was", v.says}), v.main),
			v.footer())).String()
}

// asset returns the URL of a file of the site.
func (v *view) asset(name string) string {
	if v.site.OnePage {
		return "./" + v.site.Up + name
	}
	return "/" + name
}

func (v *view) header() part {
	links := all{}
	for _, q := range questions() {
		to := v.site.state(q.path)
		to.query = v.state.carried(q.path)
		href := to.href()
		links = append(links, el("a", attr{"href", href}, when("/"+q.path == Pasted, set("data-paste")),
			when(q.path == v.state.ask, attr{"aria-current", "page"}), txt(q.name)))
	}
	if v.site.Study != nil {
		links = append(links, el("a", attr{"href", StudyPath}, when(v.state.ask == "study", attr{"aria-current", "page"}), txt("Study")))
	}
	return el("header", el("a", class("home"), attr{"href", v.asset("")}, raw(logo), txt("memwall")),
		el("nav", attr{"aria-label", "Questions"}, links),
		el("button", id("share"), attr{"type", "button"}, set("hidden"), txt("Share")),
		el("button", id("theme"), attr{"type", "button"}, attr{"aria-label", "Light or dark"}, set("hidden"), txt("◐")))
}

func (v *view) footer() part {
	catalog := all{}
	for _, sh := range shelves() {
		catalog = append(catalog, el("a", attr{"href", v.asset(sh.path + v.site.folder())},
			when(strings.HasPrefix(v.state.ask, sh.path), attr{"aria-current", "page"}), txt(sh.name)))
	}
	if v.site.API {
		catalog = append(catalog, el("a", attr{"href", ReferencePath}, when(v.state.ask == ReferencePath[1:], attr{"aria-current", "page"}),
			txt("API")))
	}
	return el("footer",
		el("nav", attr{"aria-label", "Catalog"}, catalog),
		el("p", txt("memwall "+memwall.Version+" · "+v.site.privacy())),
		el("button", id("help"), attr{"type", "button"}, set("hidden"), txt("Keys")),
		el("dialog", id("keys"), attr{"aria-label", "Keys"},
			el("p", keys("m", "model"), keys("h", "hardware"), keys("c", "context"), keys("u", "users"), keys("1–9", "take a change"),
				keys("e", "explain a number"),
				keys("x", "compare"), keys("s", "share"), keys("t", "theme"), keys("Backspace", "undo"), keys("Escape", "close or cancel"),
				keys("?", "this")),
			el("p", el("label", el("input", id("letters"), attr{"type", "checkbox"}, set("checked")), txt(" single-letter keys"))),
			el("form", attr{"method", "dialog"}, el("button", txt("Close")))))
}

// met returns the metadata of the page for search engines and link previews.
func met(v *view) part {
	property := func(name, content string) part {
		return when(content != "", el("meta", attr{"property", "og:" + name}, attr{"content", content}))
	}
	out := all{when(v.describes != "", el("meta", attr{"name", "description"}, attr{"content", v.describes}))}
	if v.site.Base == "" {
		return out
	}
	at := v.site.Base + strings.TrimPrefix(pathOf(v), "/")
	return append(out, el("link", attr{"rel", "canonical"}, attr{"href", at}), property("title", v.title),
		property("description", v.describes), property("type", "website"), property("url", at), property("image", v.site.Base+"og.png"))
}

// scriptOf returns the page's script element; cards do not need the core.
func scriptOf(v *view) string {
	if v.still && v.site.OnePage {
		return "card.js"
	}
	return "page.js"
}

// pathOf returns the path of a page that the site keeps as a file; "" for its first page.
func pathOf(v *view) string {
	if v.state.ask == "" {
		return ""
	}
	return "/" + v.state.ask + v.site.folder()
}

// folder returns the slash that ends a card's path on sites made of files.
func (s *Site) folder() string { return map[bool]string{true: "/"}[s.OnePage] }

// addressOf returns the URL of the page.
func addressOf(v *view) string {
	if v.still {
		return pathOf(v)
	}
	return v.state.href()
}

// privacy returns the statement of where a question is answered.
func (s *Site) privacy() string {
	if s.OnePage {
		return "Computed in this browser: nothing that you type leaves it."
	}
	return "Computed by the memwall server behind this page, which contacts no one else for models in its catalog."
}

func keys(key, does string) part {
	return el("span", el("kbd", txt(key)), txt(" "+does+" "))
}

// likeCount gives a suggested name the count of the wrong one: 2xrtx-4090 for 2xrtx-409.
func (v *view) likeCount(key, word string) string {
	if n, _, ok := hardware.CountOf(v.state.query.Get(key)); key == "on" && ok && n > 1 {
		if _, _, has := hardware.CountOf(word); !has {
			return fmt.Sprint(n) + "x" + word
		}
	}
	return word
}

// failure draws what is wrong and how to fix it.
func (v *view) failure() part {
	e := v.err
	box := el("div", id("answer"), class("failure"), attr{"role", "alert"},
		el("p", class("ans"), el("span", class("bad"), txt("✗ ")), txt(term.Capital(e.Message))))
	if key := v.keyOfField(e.Field); v.state.query.Has(key) && !v.question.needed(key) {
		all{el("p", class("sub"), el("a", attr{"href", v.state.with(key, "").href()}, set("data-live"),
			txt("leave out "+v.state.chip(key))))}.into(box)
	}
	if e.Hint == "" {
		return box
	}
	if words, key := render.Instead(e), v.keyOfField(e.Field); words != nil && v.state.query.Has(key) {
		out := all{txt("did you mean: ")}
		for i, w := range words {
			out = append(out, when(i > 0, txt(", ")), el("a", attr{"href", v.state.with(key, v.likeCount(key, w)).href()}, set("data-live"),
				txt(w)))
		}
		all{el("p", class("sub"), out)}.into(box)
		return box
	}
	all{el("p", class("sub"), txt("fix: "+e.Hint))}.into(box)
	return box
}
