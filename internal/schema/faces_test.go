package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// shownToo is one of so many random requests whose answer is drawn by the faces too.
const shownToo = 20

// differences between what the faces show of an answer to a request: the page of its address asks the same, and the page and the
// terminal say its verdict, and every number of the terminal's first words stands on the page.
func (c *consistency) differences(r *memwall.Request, a *memwall.Answer) (out []string) {
	at, ok := page.Address(r)
	if !ok || r.Explain {
		return nil // an address cannot say all of it
	}
	c.shown.Add(1)
	path, query, _ := strings.Cut(at, "?")
	again, err := c.asker.AskContext(c.t.Context(), page.RequestOf(path, query))
	if err != nil {
		return []string{at + ": " + err.Error()}
	}
	was, _ := json.Marshal(a)
	is, _ := json.Marshal(again)
	if !bytes.Equal(was, is) {
		out = append(out, at+": its answer is another: "+firstDifference(was, is))
	}
	drawn := (&page.Site{Asker: c.asker}).Page(c.t.Context(), path, query, "")
	if drawn.Status != 200 {
		return append(out, fmt.Sprintf("%s: status %d", at, drawn.Status))
	}
	text := visible(drawn.HTML)
	for _, n := range numbers.FindAllString(headline(a), -1) {
		if !strings.Contains(text, n) {
			out = append(out, at+": the terminal says "+n+", the page does not: "+headline(a))
		}
	}
	return out
}

// headline is what the terminal says first, behind the title, which says what was asked.
func headline(a *memwall.Answer) string {
	draw := render.Fit
	if a.Ask == "train" {
		draw = render.Train
	}
	first, _, _ := strings.Cut(draw(a, render.FitOptions{}, term.Style{Width: term.MaxWidth}), "\n\n")
	return first[len(title.FindString(first)):]
}

var (
	title   = regexp.MustCompile(`^.*\n( {3,}.*\n)*`)
	numbers = regexp.MustCompile(`\d[\d,.]*\d|\d`)
	tags    = regexp.MustCompile(`<[^>]*>`)
)

// visible is the text of a page.
func visible(page string) string { return html.UnescapeString(tags.ReplaceAllString(page, " ")) }

// firstDifference of two texts, with what stands around it.
func firstDifference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	around := func(s []byte) string { return string(s[max(0, i-60):min(len(s), i+60)]) }
	return around(a) + " | " + around(b)
}
