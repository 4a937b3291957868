package render

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Pick draws the models that hardware runs: the first in words, then all as a table.
func Pick(a *memwall.Answer, st Style) string {
	s := &screen{page: newPage(st), a: a}
	s.picked()
	s.notes()
	return s.page.String()
}

func (s *screen) picked() {
	if len(s.a.Picks) == 0 {
		m := markOf(memwall.DoesNotFit)
		s.page.opening(say(string(m.sign)+" no model   ", m.ink), say("none of the catalog fits "+s.a.Plan.Hardware+" at "+unit.Length(int64(s.a.Plan.Context)), bold))
	} else {
		s.firstPick()
		s.picks()
	}
	s.searched()
}

func (s *screen) firstPick() {
	k := &s.a.Picks[0]
	what := "the largest that stays on "
	if s.a.Plan.Goal != nil {
		what = "the largest of those that nothing larger outruns, on "
	}
	s.page.opening(nil, join(say(k.Name+" "+k.Weights, bold), say(hard+hard), say(" "+what+s.a.Plan.Hardware)))
	at := k.Contexts[0]
	for _, c := range k.Contexts {
		if c.Context == int64(s.a.Plan.Context) {
			at = c
		}
	}
	line := gib(at.Needed, 1) + " GiB at " + unit.Length(at.Context)
	if v := k.Speed; v != nil && v.Decode != nil {
		line += fmt.Sprintf(", %s tok/s (%s)", significant(*v.Decode, 2), bandOf(v))
	}
	if k.MaxContext != nil {
		line += ", up to " + tokens(*k.MaxContext)
	}
	s.page.para(pad(gap), say(line))
}

// picks is the table of models, with the columns that the width has room for.
func (s *screen) picks() {
	width, all := s.page.st.width(), s.a.Picks
	contexts := pickedContexts(all)
	if width < narrow {
		contexts = contexts[:min(1, len(contexts))]
	}
	tb := &table{sides: []side{left, left, right}}
	tb.row(say("model", bold), say("format", dim), say("tok/s", dim))
	for i := range all {
		to := &Place{Ask: "fit", Patch: map[string]any{"model": all[i].Model, "weights": all[i].Weights}}
		tb.wrapped(0, nameCells(width), say(all[i].Name).leads(to), say(all[i].Weights), say(tokensEach(all[i].Speed)).leads(to))
	}
	for n, c := range contexts {
		tb.column(2+n, decimal, say(unit.Length(c), dim), func(i int) text { return pickedAt(&all[i], n) })
	}
	if width >= defaultWidth {
		tb.column(2+len(contexts), right, say("longest", dim), func(i int) text { return say(longestOf(&all[i])) })
		tb.column(4+len(contexts), left, say("(band)", dim), func(i int) text { return say(bandOf(all[i].Speed), dim) })
	}
	s.page.blank()
	s.page.add(tb)
}

// nameCells is the width of the column of names: what the others leave.
func nameCells(width int) int {
	switch {
	case width < narrow:
		return width - 27
	case width < defaultWidth:
		return width - 42
	}
	return width - 60
}

// pickedContexts are the contexts of the pick that has most.
func pickedContexts(picks []memwall.Pick) (out []int64) {
	for i := range picks {
		if len(picks[i].Contexts) > len(out) {
			out = nil
			for _, c := range picks[i].Contexts {
				out = append(out, c.Context)
			}
		}
	}
	return out
}

// longestOf is the longest context that a pick has room for.
func longestOf(k *memwall.Pick) string {
	if k.MaxContext == nil {
		return "any"
	}
	return unit.Length(*k.MaxContext / 1024 * 1024)
}

func bandOf(v *memwall.Speed) string {
	if v == nil || v.Decode == nil {
		return ""
	}
	return significant(*v.DecodeLow, 2) + "–" + significant(*v.DecodeHigh, 2)
}

// pickedAt is what a context needs, a cross where it does not fit, a dash where the model was not trained for it.
func pickedAt(k *memwall.Pick, i int) text {
	if i >= len(k.Contexts) {
		return say("—", dim)
	}
	c := k.Contexts[i]
	x := say("✗", inkBad)
	if c.Verdict == memwall.Fits || c.Verdict == memwall.Tight {
		x = say(gib(c.Needed, 1))
	}
	return x.leads(&Place{Ask: "fit", Patch: map[string]any{"model": k.Model, "weights": k.Weights, "context": c.Context}})
}
