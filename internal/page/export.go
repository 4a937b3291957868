package page

import (
	"encoding/json"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

// Types of what a page may be taken away as, by the ending of its path: /fit.svg is the picture of /fit.
var exports = map[string]struct {
	kind string
	text func(*memwall.Answer) (string, error)
}{
	"svg":  {"image/svg+xml", func(a *memwall.Answer) (string, error) { return string(render.SVG(a)), nil }},
	"json": {"application/json", whole},
	"csv":  {"text/csv; charset=utf-8", func(a *memwall.Answer) (string, error) { return separated(a, "", ",", "\r\n", ""), nil }},
	"md": {"text/markdown; charset=utf-8", func(a *memwall.Answer) (string, error) {
		return separated(a, "| ", " | ", " |\n", "|---|---:|---:|---|---|\n"), nil
	}},
}

// exported is the answer of a page in another form.
func (s *Site) exported(v *view, ending string) Response {
	x := exports[ending]
	if v.err != nil || v.answer == nil || len(v.answer.Devices) == 0 {
		v.fit()
		return Response{Status: max(v.status(), 422), HTML: v.document()}
	}
	v.answer.Explain = nil
	text, err := x.text(v.answer)
	if err != nil {
		v.fail(err)
		return Response{Status: 500, HTML: v.document()}
	}
	return Response{Status: 200, Type: x.kind, HTML: text}
}

// whole is the answer as the command line gives it with --json.
func whole(a *memwall.Answer) (string, error) {
	data, err := json.MarshalIndent(a, "", "  ")
	return string(data) + "\n", err
}

// separated is the ledger as a table of texts.
func separated(a *memwall.Answer, before, between, after, rule string) string {
	var b strings.Builder
	line := func(words ...string) {
		for i, w := range words {
			if rule == "" {
				w = cell(w)
			} else {
				w = strings.ReplaceAll(w, "|", `\|`)
			}
			words[i] = w
		}
		b.WriteString(before + strings.Join(words, between) + after)
	}
	line("item", "GiB", "band", "basis", "remark")
	b.WriteString(rule)
	for _, r := range render.LedgerRows(a, 0) {
		line(r.Name, strings.ReplaceAll(r.Figure, ",", ""), r.Band, r.Basis, r.Remark)
	}
	return b.String()
}

// cell is a text as a cell of CSV; what a spreadsheet would take for a formula is not.
func cell(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// takeAway are links to the other forms.
func (v *view) takeAway() part {
	out := all{txt("save as: ")}
	for _, ending := range []string{"svg", "csv", "md", "json"} {
		to := v.state.with()
		to.beside = nil
		to.ask += "." + ending
		out = append(out, el("a", attr{"href", to.href()}, attr{"download", "memwall." + ending}, txt(strings.ToUpper(ending))), txt(" · "))
	}
	return el("p", class("cap takeaway"), out, el("button", id("png"), attr{"type", "button"}, set("hidden"), txt("PNG")))
}
