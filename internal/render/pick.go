package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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

// firstPick says which is best, fastest and longest, each once.
func (s *screen) firstPick() {
	k := cmp.Or(s.foremost("best"), &s.a.Picks[0])
	rank := "the best"
	if k.Score == nil {
		rank = "the newest"
	}
	s.page.opening(nil, join(say(k.Name+" "+k.Weights, bold), say(hard+hard), say(" "+rank+" for "+s.a.Plan.Use+" on "+s.a.Plan.Hardware)))
	s.page.para(pad(gap), say(s.pickFigures(k)))
	fastest, longest := s.foremost("fastest"), s.foremost("longest")
	heads := []struct {
		says string
		pick *memwall.Pick
	}{{"fastest", fastest}, {"longest", longest}}
	if fastest == longest {
		heads = heads[:1]
		heads[0].says = "fastest, longest"
	}
	for _, h := range heads {
		if h.pick != nil && h.pick != k {
			s.page.para(say("  "+h.says+"  ", dim), say(h.pick.Name+" "+h.pick.Weights+": "+s.pickFigures(h.pick)))
		}
	}
}

// foremost is the pick that is first in something; nil where the list does not show it.
func (s *screen) foremost(in string) *memwall.Pick {
	for i := range s.a.Picks {
		if slices.Contains(s.a.Picks[i].First, in) {
			return &s.a.Picks[i]
		}
	}
	return nil
}

// pickFigures are the bytes, the speed and the longest context of a pick.
func (s *screen) pickFigures(k *memwall.Pick) string {
	line := ""
	for _, c := range k.Contexts {
		if c.Context == int64(s.a.Plan.Context) {
			line = gib(c.Needed, 1) + " GiB at " + unit.Length(c.Context)
		}
	}
	if k.Host > 0 && k.Plan.CPUMoE != nil {
		line += " and " + gib(k.Host, 1) + " on the host"
	}
	if v := k.Speed; v != nil && v.Decode != nil {
		line += fmt.Sprintf(", %s tok/s (%s)", significant(*v.Decode, 2), bandOf(v))
	}
	if k.MaxContext != nil {
		line += ", up to " + wholeLength(*k.MaxContext)
	}
	return strings.TrimPrefix(line, ", ")
}

// picks is the table of models, with the columns that the width has room for.
func (s *screen) picks() {
	width, all := s.page.st.width(), s.a.Picks
	tb := &table{sides: []side{left, left, right}}
	tb.row(say("model", bold), say("format", dim), say("tok/s", dim))
	for i := range all {
		to := &Place{Ask: "fit", Patch: pickPatch(&all[i])}
		tb.wrapped(0, nameCells(width), say(all[i].Name).leads(to), say(all[i].Weights), say(tokensEach(all[i].Speed)).leads(to))
	}
	tb.column(1, right, say("score", dim), func(i int) text { return scoreCell(all[i].Score) })
	if width >= narrow {
		tb.column(3, decimal, say("GiB", dim), func(i int) text { return pickedNeed(&all[i], int64(s.a.Plan.Context)) })
		tb.column(4, decimal, say("host", dim), func(i int) text { return hostCell(&all[i]) })
	}
	if width >= defaultWidth {
		tb.column(5, right, say("longest", dim), func(i int) text { return say(longestOf(&all[i])) })
		tb.column(7, left, say("(band)", dim), func(i int) text { return say(bandOf(all[i].Speed), dim) })
	}
	s.page.blank()
	s.page.add(tb)
	s.page.para(pad(gap), say(scoreLegend(all), dim))
}

// pickPatch is what makes a question of fit of a pick.
func pickPatch(k *memwall.Pick) map[string]any {
	out := map[string]any{"model": k.Model, "weights": k.Weights}
	if n := k.Plan.CPUMoE; n != nil {
		out["cpu_moe"] = int64(*n)
	}
	return out
}

// scoreCell is a published score, or an estimate with its mark.
func scoreCell(s *memwall.PickScore) text {
	switch {
	case s == nil:
		return say("—", dim)
	case s.Published:
		return say(significant(s.Value, 2))
	}
	return say("~" + significant(s.Value, 2))
}

func scoreLegend(all []memwall.Pick) string {
	newest, name, estimated := "", "", false
	for i := range all {
		if s := all[i].Score; s != nil {
			name, newest, estimated = s.Name, max(newest, s.Date), estimated || !s.Published
		}
	}
	if name == "" {
		return "no benchmark that is asked for this use has scores of these models"
	}
	out := "score: " + name
	if newest != "" {
		out += ", as of " + newest
	}
	if estimated {
		out += "; ~ is estimated from other benchmarks and the release before"
	}
	return out
}

// pickedNeed is what the context asked for needs.
func pickedNeed(k *memwall.Pick, context int64) text {
	for _, c := range k.Contexts {
		if c.Context == context {
			return say(gib(c.Needed, 1)).leads(&Place{Ask: "fit", Patch: pickPatch(k)})
		}
	}
	return say("—", dim)
}

// hostCell is what of the weights the host holds, where experts were put there.
func hostCell(k *memwall.Pick) text {
	if k.Host == 0 || k.Plan.CPUMoE == nil {
		return say("")
	}
	return say(gib(k.Host, 1))
}

// nameCells is the width of the column of names: what the others leave.
func nameCells(width int) int {
	switch {
	case width < narrow:
		return width - 27
	case width < defaultWidth:
		return width - 44
	}
	return width - 60
}

// longestOf is the longest context that a pick has room for.
func longestOf(k *memwall.Pick) string {
	if k.MaxContext == nil {
		return "any"
	}
	return wholeLength(*k.MaxContext)
}

// wholeLength rounds a length down to thousands, and leaves a short one as it is.
func wholeLength(tokens int64) string {
	if tokens >= 1024 {
		tokens = tokens / 1024 * 1024
	}
	return unit.Length(tokens)
}

func bandOf(v *memwall.Speed) string {
	if v == nil || v.Decode == nil {
		return ""
	}
	return significant(*v.DecodeLow, 2) + "–" + significant(*v.DecodeHigh, 2)
}
