package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
)

// Pick draws the models that hardware runs: the first in words, then all as a table.
func Pick(a *memwall.Answer, st term.Style) string {
	s := &screen{page: term.NewPage(st), a: a}
	s.picked()
	s.notes()
	return s.page.String()
}

func (s *screen) picked() {
	if len(s.a.Picks) == 0 {
		m := term.MarkOf(memwall.DoesNotFit)
		s.page.Opening(term.Say(string(m.Sign)+" no model"+s.separator(": "), m.Ink),
			term.Say("none of the catalog fits "+s.a.Plan.Hardware+" at "+unit.Length(int64(s.a.Plan.Context)), term.Bold))
	} else {
		s.firstPick()
		s.picks()
	}
	s.searched()
}

// firstPick writes which pick is best, fastest and longest, each once.
func (s *screen) firstPick() {
	k := BestPick(s.a)
	rank := "the " + strings.Replace(strings.Join(k.First, " and "), " and fastest and", ", fastest and", 1)
	if k.Score == nil {
		rank = "the newest"
	}
	s.page.Opening(nil, term.Join(term.Say(k.Name+" "+k.Weights, term.Bold),
		term.Say(s.separator(", ")+rank+" for "+s.a.Plan.Use+" on "+s.a.Plan.Hardware)))
	s.page.Para(term.Pad(term.Gap), term.Say(s.pickFigures(k)))
	fastest, longest := foremost(s.a, "fastest"), foremost(s.a, "longest")
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
			s.page.Para(term.Say("  "+h.says+"  ", term.Dim), term.Say(h.pick.Name+" "+h.pick.Weights+": "+s.pickFigures(h.pick)))
		}
	}
}

// separator returns the gap between an answer and its subject, or the punctuation used where text is not laid out in cells.
func (s *screen) separator(stop string) string {
	if s.page.Style.Endless {
		return stop
	}
	return term.NoBreak + term.NoBreak + " "
}

// BestPick returns the pick named on the first line; nil if there is none.
func BestPick(a *memwall.Answer) *memwall.Pick {
	if len(a.Picks) == 0 {
		return nil
	}
	return cmp.Or(foremost(a, "best"), &a.Picks[0])
}

// foremost returns the pick that leads in something; nil if the list does not show it.
func foremost(a *memwall.Answer, in string) *memwall.Pick {
	for i := range a.Picks {
		if slices.Contains(a.Picks[i].First, in) {
			return &a.Picks[i]
		}
	}
	return nil
}

// pickFigures describes the memory, speed and longest context of a pick.
func (s *screen) pickFigures(k *memwall.Pick) string {
	line := ""
	for _, c := range k.Contexts {
		if c.Context == int64(s.a.Plan.Context) {
			line = term.GiB(c.Needed, 1) + " GiB at " + unit.Length(c.Context)
		}
	}
	if k.Host > 0 && k.Plan.CPUMoE != nil {
		line += " and " + term.GiB(k.Host, 1) + " on the host"
	}
	if band := bandOf(k.Speed); band != "" {
		line += fmt.Sprintf(", %s tok/s (%s)", TokensEach(k.Speed), band)
	}
	if k.MaxContext != nil {
		line += ", up to " + wholeLength(*k.MaxContext)
	}
	return strings.TrimPrefix(line, ", ")
}

// picks writes the table of models. A narrow page drops bands and contexts, then memory, but never speed.
func (s *screen) picks() {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Left, term.Decimal, term.Decimal, term.Right, term.Left, term.Right},
		Give: []int{6, 7, 4, 3}}
	tb.Row(append([]term.Text{term.Say("model", term.Bold)}, dimmed("score", "format", "GiB", "host", "tok/s", "(band)", "longest")...)...)
	for i := range s.a.Picks {
		k := &s.a.Picks[i]
		to := &term.Place{Ask: "fit", Patch: PickPatch(k)}
		tb.Wrapped(0, nameCells(s.page.Style.Cells()), term.Say(k.Name).LinkTo(to), ScoreCell(k.Score), term.Say(k.Weights),
			PickedNeed(k, int64(s.a.Plan.Context)), hostCell(k), term.Say(TokensEach(k.Speed)).LinkTo(to),
			term.Say(bandOf(k.Speed), term.Dim), term.Say(LongestOf(k)))
	}
	s.page.Blank()
	s.page.Add(tb)
	s.page.Para(term.Pad(term.Gap), term.Say(scoreLegend(s.a.Picks), term.Dim))
}

// PickPatch returns the patch that turns a pick into a fit question.
func PickPatch(k *memwall.Pick) map[string]any {
	out := map[string]any{"model": k.Model, "weights": k.Weights}
	if n := k.Plan.CPUMoE; n != nil {
		out["cpu_moe"] = int64(*n)
	}
	return out
}

// ScoreCell formats a published score, or an estimate with its mark.
func ScoreCell(s *memwall.PickScore) term.Text {
	switch {
	case s == nil:
		return term.Say("—", term.Dim)
	case s.Published:
		return term.Say(term.Significant(s.Value, 2))
	}
	return term.Say("~" + term.Significant(s.Value, 2))
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

// PickedNeed formats the memory that the requested context needs.
func PickedNeed(k *memwall.Pick, context int64) term.Text {
	for _, c := range k.Contexts {
		if c.Context == context {
			return term.Say(term.GiB(c.Needed, 1)).LinkTo(&term.Place{Ask: "fit", Patch: PickPatch(k)})
		}
	}
	return term.Say("—", term.Dim)
}

// hostCell formats the weights on the host, if experts were placed there.
func hostCell(k *memwall.Pick) term.Text {
	if k.Host == 0 || k.Plan.CPUMoE == nil {
		return term.Say("")
	}
	return term.Say(term.GiB(k.Host, 1))
}

// nameCells returns the width left for the column of names.
func nameCells(width int) int {
	switch {
	case width < term.Narrow:
		return width - 27
	case width < term.DefaultWidth:
		return width - 44
	}
	return width - 60
}

// LongestOf formats the longest context that a pick has room for.
func LongestOf(k *memwall.Pick) string {
	if k.MaxContext == nil {
		return "any"
	}
	return wholeLength(*k.MaxContext)
}

// wholeLength rounds a length down to thousands, leaving short ones as they are.
func wholeLength(tokens int64) string {
	if tokens >= 1024 {
		tokens = tokens / 1024 * 1024
	}
	return unit.Length(tokens)
}

func bandOf(v *memwall.Speed) string {
	mid, low, high := rate(v)
	if mid == nil {
		return ""
	}
	return term.Significant(*low, 2) + "–" + term.Significant(*high, 2)
}
