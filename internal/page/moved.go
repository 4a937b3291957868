package page

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

// A shared link carries the answer's memwall version, a checksum of all figures, and its first words. If the same question now has
// another answer, the page says what changed.
const (
	wasKey    = "was"
	mostWords = 120 // characters of an answer in a link
)

// was is the answer recorded in a link.
type was struct{ version, sum, words string }

// readWas parses it; anything else yields nil.
func readWas(text string) *was {
	parts := strings.SplitN(text, "~", 3)
	if len(parts) < 3 || len(text) > 4*mostWords {
		return nil
	}
	return &was{parts[0], parts[1], parts[2]}
}

func (w *was) String() string { return w.version + "~" + w.sum + "~" + w.words }

// now returns the same for the page's current answer.
func (v *view) now(words string) *was {
	if list := []rune(words); len(list) > mostWords {
		words = string(list[:mostWords])
	}
	return &was{memwall.Version, sumOf(v.answer), words}
}

// sumOf returns a checksum of the figures that pages show of an answer.
func sumOf(a *memwall.Answer) string {
	h := fnv.New32a()
	if len(a.Devices) > 0 {
		for _, r := range render.LedgerRows(a, 0) {
			fmt.Fprintln(h, r.Name, r.Figure, r.Band)
		}
	}
	list, _ := render.SpeedRows(a)
	for _, r := range list {
		fmt.Fprintln(h, r.Name, r.Value, r.Band)
	}
	for _, b := range render.Parts(a) {
		fmt.Fprintln(h, b.Lead, b.Words)
		for _, r := range b.Rows {
			for _, c := range r.Cells {
				fmt.Fprintln(h, c.Runs)
			}
		}
	}
	return fmt.Sprintf("%08x", h.Sum32())
}

// moved draws what has changed since the link was made.
func (v *view) moved(words string) part {
	if v.state.drag {
		return all(nil)
	}
	now := v.now(words)
	v.says = now.String()
	old := v.state.was
	if old == nil || old.sum == now.sum && old.words == now.words {
		return all(nil)
	}
	by := "memwall " + old.version
	if old.version == now.version {
		by += " with other tables"
	}
	if old.words == now.words {
		return el("p", class("moved"), attr{"role", "status"}, txt("This link was made by "+by+": the answer is the same, figures below it are not."))
	}
	return el("p", class("moved"), attr{"role", "status"}, txt("The answer has moved. When this link was made, by "+by+", it was: "),
		el("q", txt(old.words)))
}
