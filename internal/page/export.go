package page

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/safe"
)

// exports are the media types of downloads, by the ending of the path: /fit.svg is the picture of /fit.
var exports = map[string]struct {
	kind string
	text func(*memwall.Answer) (string, error)
}{
	"svg":  {"image/svg+xml", func(a *memwall.Answer) (string, error) { picture, err := svg.Answer(a); return string(picture), err }},
	"json": {"application/json", answerJSON},
	"csv":  {"text/csv; charset=utf-8", func(a *memwall.Answer) (string, error) { return separated(a, "", ",", "\r\n", ""), nil }},
	"md": {"text/markdown; charset=utf-8", func(a *memwall.Answer) (string, error) {
		return separated(a, "| ", " | ", " |\n", "---"), nil
	}},
}

// endings returns the endings of a question's downloads, in the order of their links.
func (q *question) endings() []string {
	switch {
	case q.own != nil || q.path == "diagnose":
		return nil
	case q.path == "pick":
		return []string{"csv", "md", "json"}
	}
	return []string{"svg", "csv", "md", "json"}
}

// exported returns the answer of a page in another form.
func (s *Site) exported(v *view, ending string) Response {
	if v.err == nil && v.answer != nil {
		v.answer.Explain = nil
		text, err := exports[ending].text(v.answer)
		if err == nil {
			return Response{Status: 200, Type: exports[ending].kind, HTML: text}
		}
		v.fail(err)
	}
	v.question.draw(v)
	return Response{Status: max(v.status(), 422), HTML: v.document()}
}

// answerJSON returns the answer as printed by the command line with --json.
func answerJSON(a *memwall.Answer) (string, error) {
	data, err := json.MarshalIndent(a, "", "  ")
	return string(safe.JSON(data)) + "\n", err
}

// separated formats an answer's ledger, or else its page's tables, with the given separators. rule goes below each cell of a head.
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
	for n, t := range tablesOf(a) {
		if n > 0 {
			b.WriteString(strings.TrimLeft(after, " |"))
		}
		for i, row := range t {
			line(row...)
			if i == 0 && rule != "" {
				line(slices.Repeat([]string{rule}, len(row))...)
			}
		}
	}
	return b.String()
}

// tablesOf returns the tables of an answer, each with its head.
func tablesOf(a *memwall.Answer) (out [][][]string) {
	for _, block := range render.Parts(a) {
		var t [][]string
		for i := range block.Rows {
			row := make([]string, len(block.Rows[0].Cells))
			for c := range block.Rows[i].Cells {
				row[c] = block.Rows[i].Cells[c].String()
			}
			t = append(t, row)
		}
		if t != nil {
			out = append(out, t)
		}
	}
	if out != nil || len(a.Devices) == 0 {
		return out
	}
	t := [][]string{{"item", "GiB", "band", "basis", "remark"}}
	for _, r := range render.LedgerRows(a, 0) {
		t = append(t, []string{r.Name, strings.ReplaceAll(r.Figure, ",", ""), r.Band, r.Basis, r.Remark})
	}
	return append(out, t)
}

// cell escapes a text as a CSV cell, so that spreadsheets do not take it for a formula.
func cell(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// takeAway draws links to the other forms.
func (v *view) takeAway() part {
	out := all{txt("save as: ")}
	for i, ending := range v.question.endings() {
		to := v.state.with()
		to.beside = nil
		to.ask += "." + ending
		out = append(out, when(i > 0, txt(" · ")), el("a", attr{"href", to.href()}, attr{"download", "memwall." + ending},
			txt(strings.ToUpper(ending))))
	}
	return el("p", class("cap takeaway"), out, when(v.question.path != "pick", txt(" · "),
		el("button", id("png"), attr{"type", "button"}, set("hidden"), txt("PNG"))))
}
