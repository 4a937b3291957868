package page

import (
	"github.com/memwall/memwall/internal/term"
)

// Document returns a report as a self-contained file: its style is inline, and it makes no requests.
func Document(title string, parts []term.Block) string {
	v := &view{site: &Site{}, question: &question{name: title}, title: title, still: true}
	if len(parts) > 0 {
		v.add(el("div", id("answer"), el("h1", v.runs(parts[0].Lead)), el("p", class("sub"), v.runs(parts[0].Words))))
		v.parts(parts[1:])
	}
	return "<!doctype html>\n" + el("html", attr{"lang", "en"},
		el("head",
			el("meta", attr{"charset", "utf-8"}),
			el("meta", attr{"name", "viewport"}, attr{"content", "width=device-width,initial-scale=1"}),
			el("meta", attr{"http-equiv", "Content-Security-Policy"},
				attr{"content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"}),
			el("title", txt(title+" · memwall")),
			el("link", attr{"rel", "icon"}, attr{"href", "data:,"}),
			el("style", raw(Style()))),
		el("body", el("main", v.main))).String()
}
