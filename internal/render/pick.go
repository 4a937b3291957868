package render

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// Pick draws the models that hardware runs: the first in words, then all as a table.
func Pick(a *memwall.Answer, st Style) string {
	s := &screen{page: newPage(st), a: a}
	if len(a.Picks) == 0 {
		s.page.title(memwall.DoesNotFit, []string{"no model of the catalog fits " + a.Plan.Hardware + " at " + unit.Length(int64(a.Plan.Context))})
	} else {
		s.firstPick()
		s.picks()
	}
	s.searched()
	s.notes()
	return s.page.String()
}

func (s *screen) firstPick() {
	k := &s.a.Picks[0]
	what := "the largest that stays on "
	if s.a.Plan.Goal != nil {
		what = "the largest of those that nothing larger outruns, on "
	}
	s.page.dotted(join(say(k.Name+" "+k.Weights, bold), say("   ")), []string{what + s.a.Plan.Hardware})
	line := gib(k.Contexts[0].Needed, 1) + " GiB at " + unit.Length(k.Contexts[0].Context)
	if v := k.Speed; v != nil && v.Decode != nil {
		line += fmt.Sprintf(", %s tok/s (%s–%s)", significant(*v.Decode, 2), significant(*v.DecodeLow, 2), significant(*v.DecodeHigh, 2))
	}
	if k.MaxContext != nil {
		line += ", up to " + tokens(*k.MaxContext)
	}
	s.page.para(pad(gap), say(line))
}

func (s *screen) picks() {
	tb := &table{sides: []side{left, left, decimal, decimal, decimal, right, right, left}, most: map[int]int{0: s.page.st.width() * 3 / 10}}
	head := []text{say("model", bold), say("format", dim)}
	for _, c := range pickedContexts(s.a.Picks) {
		head = append(head, say(unit.Length(c), dim))
	}
	tb.row(append(head, say("longest", dim), say("tok/s", dim), say("(band)", dim))...)
	for i := range s.a.Picks {
		tb.row(pickCells(&s.a.Picks[i], pickedContexts(s.a.Picks))...)
	}
	tb.sides = append([]side{left, left}, tb.sides[2:]...)
	s.page.blank()
	s.page.add(tb)
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

func pickCells(k *memwall.Pick, contexts []int64) []text {
	cells := []text{say(k.Name), say(k.Weights)}
	for i := range contexts {
		cells = append(cells, pickedAt(k, i))
	}
	longest := "any"
	if k.MaxContext != nil {
		longest = unit.Length(*k.MaxContext / 1024 * 1024)
	}
	cells = append(cells, say(longest), say(tokensEach(k.Speed)))
	if v := k.Speed; v != nil && v.Decode != nil {
		cells = append(cells, say(significant(*v.DecodeLow, 2)+"–"+significant(*v.DecodeHigh, 2), dim))
	}
	return cells
}

// pickedAt is what a context needs, a cross where it does not fit, a dash where the model was not trained for it.
func pickedAt(k *memwall.Pick, i int) text {
	if i >= len(k.Contexts) {
		return say("—", dim)
	}
	if c := k.Contexts[i]; c.Verdict == memwall.Fits || c.Verdict == memwall.Tight {
		return say(gib(c.Needed, 1))
	}
	return say("✗", inkBad)
}
