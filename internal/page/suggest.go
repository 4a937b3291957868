package page

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/memwall/memwall/internal/card"
)

// SuggestPath is the path of name completions.
const SuggestPath = "/suggest"

// offers are the fields whose names the core ranks.
var offers = map[string]func(letters string) []card.Suggestion{modelKey: card.SuggestModels, "on": card.SuggestHardware}

// mostTyped is the most bytes of input considered.
const mostTyped = 100

// suggest returns a list of names for a field, as a page fragment.
func (s *Site) suggest(query string) Response {
	values, err := url.ParseQuery(query)
	of, typed := offers[values.Get("key")], strings.TrimSpace(values.Get("q"))
	if err != nil || of == nil || len(typed) > mostTyped {
		return Response{Status: 422, HTML: el("p", txt("no suggestions for that")).String()}
	}
	list := all{}
	for i, o := range of(typed) {
		list = append(list, el("li", id(fmt.Sprintf("offer-%d", i)), attr{"role", "option"}, attr{"data-value", o.ID}, el("b", txt(o.ID)),
			txt(" "), el("span", class("m"), txt(particulars(&o)))))
	}
	return Response{Status: 200, HTML: el("ul", id("offers"), attr{"role", "listbox"}, attr{"aria-label", "names"}, list).String()}
}

// particulars returns what distinguishes a name: format, size, date.
func particulars(o *card.Suggestion) string {
	var out []string
	if o.Bytes > 0 {
		out = append(out, strings.TrimSpace(o.Format+" "+o.Bytes.String()))
	}
	if o.Date != "" {
		out = append(out, o.Date)
	}
	return strings.Join(out, " · ")
}

// offered returns the attributes of a field with completions, or with a list on the page.
func (s *Site) offered(key string) all {
	if offers[key] == nil {
		return all{attr{"list", "list-" + key}}
	}
	at := SuggestPath + "?key=" + key
	if s.OnePage {
		at = "?" + askKey + "=" + strings.Trim(SuggestPath, "/") + "&key=" + key
	}
	return all{attr{"role", "combobox"}, attr{"aria-expanded", "false"}, attr{"aria-autocomplete", "list"}, attr{"data-offers", at}}
}

// suggests reports whether a URL requests completions.
func suggests(path, query string, onePage bool) bool {
	return path == SuggestPath || onePage && strings.HasPrefix(query, askKey+"="+strings.Trim(SuggestPath, "/")+"&")
}
