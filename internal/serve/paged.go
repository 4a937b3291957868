package serve

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
)

// Default and maximum number of rows per response.
const (
	usualRows = 100
	mostRows  = 1000
)

// List is a page of a catalog, of the same shape for all catalogs.
type List struct {
	Items []Listed `json:"items" doc:"the rows from offset on, at most limit"`
	Total int      `json:"total" doc:"rows that match in all"`
	Next  *int     `json:"next_offset,omitempty" doc:"offset of the rows that follow; absent behind the last"`
}

// Listed is a row: a kind, the name of its card, and its data under its kind.
type Listed struct {
	Kind      string            `json:"kind" enum:"model,device,node,format,recipe,published"`
	Name      string            `json:"name" doc:"what the path of its card ends in"`
	Model     *card.ModelRow    `json:"model,omitempty"`
	Device    *card.HardwareRow `json:"device,omitempty"`
	Node      *card.Node        `json:"node,omitempty"`
	Format    *card.Format      `json:"format,omitempty"`
	Recipe    *card.Recipe      `json:"recipe,omitempty"`
	Published *card.Published   `json:"published,omitempty" doc:"a format that others measured, and no file here is stored in"`
}

func modelRows(filter string) (out []Listed) {
	rows := card.Models(filter)
	for i := range rows {
		out = append(out, Listed{Kind: "model", Name: rows[i].ID, Model: &rows[i]})
	}
	return out
}

func hardwareRows(filter string) (out []Listed) {
	l := card.ListHardware(filter)
	for i := range l.Devices {
		out = append(out, Listed{Kind: "device", Name: l.Devices[i].ID, Device: &l.Devices[i]})
	}
	for i := range l.Nodes {
		out = append(out, Listed{Kind: "node", Name: l.Nodes[i].ID, Node: &l.Nodes[i]})
	}
	return out
}

func formatRows(filter string) (out []Listed) {
	l := card.ListFormats(filter)
	for _, f := range slices.Concat(l.Formats, l.Blocks) {
		out = append(out, Listed{Kind: "format", Name: f.Name, Format: f})
	}
	for _, r := range l.Recipes {
		out = append(out, Listed{Kind: "recipe", Name: r.Name, Recipe: r})
	}
	for _, p := range l.Measured {
		out = append(out, Listed{Kind: "published", Name: p.Name, Published: p})
	}
	return out
}

// part says which rows of a list are requested.
type part struct {
	filter        string
	offset, limit int
}

// page returns a page of the matching rows.
func (p *part) page(rows []Listed) *List {
	from := min(p.offset, len(rows))
	to := min(from+p.limit, len(rows))
	l := &List{Items: append([]Listed{}, rows[from:to]...), Total: len(rows)} // an empty list is [], not null
	if to < len(rows) {
		l.Next = &to
	}
	return l
}

// link returns the link to the following rows (RFC 8288); "" after the last.
func (p *part) link(path string, l *List) string {
	if l.Next == nil {
		return ""
	}
	q := url.Values{"offset": {strconv.Itoa(*l.Next)}, "limit": {strconv.Itoa(p.limit)}}
	if p.filter != "" {
		q.Set("q", p.filter)
	}
	return "<" + path + "?" + q.Encode() + `>; rel="next"`
}

// partOf parses which rows a request asks for.
func partOf(r *http.Request) (*part, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadField, Field: "q", Value: shortened(r.URL.RawQuery),
			Message: "the query cannot be read", Hint: "?q=WORDS, with % and what follows it in two hexadecimal digits"}
	}
	if err := onlyOnce(given, "limit", "offset", "q"); err != nil {
		return nil, err
	}
	p := &part{filter: given.Get("q")}
	if len(p.filter) > maxName {
		return nil, tooLong("q", p.filter)
	}
	if p.limit, err = wholeOf(given, "limit", 1, mostRows); err != nil {
		return nil, err
	}
	p.limit = cmp.Or(p.limit, usualRows)
	p.offset, err = wholeOf(given, "offset", 0, 1<<31-1)
	return p, err
}

// onlyOnce rejects unknown and duplicate parameters.
func onlyOnce(given url.Values, names ...string) error {
	for name, values := range given {
		if !slices.Contains(names, name) || len(values) > 1 {
			return &memwall.Error{Code: memwall.BadField, Field: shortened(name),
				Message: "a list takes q, limit and offset, each once, and nothing else", Hint: "?q=WORDS&limit=100&offset=0"}
		}
	}
	return nil
}

// wholeOf parses an integer parameter; 0 if not given.
func wholeOf(given url.Values, name string, least, most int) (int, error) {
	if !given.Has(name) {
		return 0, nil
	}
	n, err := strconv.Atoi(given.Get(name))
	if err != nil || n < least || n > most {
		return 0, &memwall.Error{Code: memwall.BadField, Field: name, Value: shortened(given.Get(name)),
			Message: name + " is not a whole number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most),
			Hint:    "?" + name + "=" + strconv.Itoa(max(least, 100))}
	}
	return n, nil
}

// listed handles requests for a page of the rows that match a filter. All rows are built once.
func (s *Server) listed(rows func(filter string) []Listed) http.HandlerFunc {
	whole := sync.OnceValue(func() []Listed { return rows("") })
	return func(w http.ResponseWriter, r *http.Request) {
		p, err := partOf(r)
		if err != nil {
			s.fail(w, err)
			return
		}
		matching := whole()
		if p.filter != "" {
			matching = rows(validText(p.filter))
		}
		l := p.page(matching)
		if link := p.link(r.URL.Path, l); link != "" {
			w.Header().Set("Link", link)
		}
		b, err := newJSON(l)
		s.sendOr(w, r, b, err)
	}
}
