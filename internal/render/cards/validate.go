package cards

import (
	"fmt"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation"
)

// Show says what of a report is drawn beside the scores.
type Show struct {
	Worst, Refused bool
	By             string
}

// Validate draws the scoreboard.
func Validate(r *validation.Report, show Show, st term.Style) string {
	p := term.NewPage(st)
	total := r.Used + r.Refused
	p.Heading(fmt.Sprintf("Within target on %d of %d measures", r.Met(), len(r.Scores)), unit.Count(int64(r.Used))+" rows used",
		fmt.Sprintf("%s refused (%s)", unit.Count(int64(r.Refused)), validation.Percent(float64(r.Refused)/float64(total))))
	if w := worstScore(r); w != nil {
		c := &w.Worst[0]
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("worst: %s, %s off in %s", w.Measure.Name, w.Measure.Figure(abs(c.Error)), c.Question())))
	}
	p.Blank()
	writeScores(p, r.Scores)
	writeOrders(p, r.Orders)
	writeCalls(p, r.Calls)
	writeDiagnoses(p, r.Diagnoses)
	writePeers(p, r.Besides)
	if show.By != "" {
		writeGroups(p, r.Groups, show.By)
	}
	if show.Worst {
		writeWorst(p, r.Scores)
		writeMisordered(p, r.Orders)
	}
	if show.Refused {
		writeReasons(p, r.Reasons)
	}
	p.Blank()
	p.Para(term.Pad(term.Gap), term.Say("cover: figures inside our 90 % band, or equal to the last printed digit where no band is due. "+
		"Rows that constants were fitted to are left out. More: --worst, --refused, --by source|hardware|model|engine|set", term.Dim))
	return p.String()
}

// writeCalls are verdicts beside what reports say of plans.
func writeCalls(p *term.Page, kinds []validation.Calls) {
	if len(kinds) == 0 {
		return
	}
	all := validation.AllCalls(kinds)
	p.Blank()
	p.Para(term.Pad(term.Gap),
		term.Say(fmt.Sprintf("verdicts: %s right of %s plans that somebody reports: %s of %s that ran, %s of %s that found no room; %s "+
			"are tight, which is right either way",
			validation.Percent(all.RightShare()), unit.Count(int64(all.Used())), unit.Count(int64(all.RanRight)),
			unit.Count(int64(all.Ran)),
			unit.Count(int64(all.FailedRight)), unit.Count(int64(all.Failed)), unit.Count(int64(all.Tight)))))
}

// writeDiagnoses are messages of failures, and logs without any.
func writeDiagnoses(p *term.Page, d *validation.Diagnoses) {
	if d == nil {
		return
	}
	n := func(x int) string { return unit.Count(int64(x)) }
	p.Blank()
	p.Para(term.Pad(term.Gap),
		term.Say(fmt.Sprintf("diagnoses: %s right of %s messages of failures: kind %s, program %s, all figures %s; %s false alarms in %s "+
			"ordinary logs",
			validation.Percent(d.Right()), n(d.Messages), n(d.Kind), n(d.Engine), n(d.Figures), n(d.Alarms), n(d.Ordinary))))
}

// writePeers beside us, over the same rows.
func writePeers(p *term.Page, all []validation.Beside) {
	for i := range all {
		b := &all[i]
		p.Blank()
		p.Para(term.Pad(term.Gap),
			term.Say(fmt.Sprintf("peers: total on devices, %s rows: memwall median %s, p90 %s; %s (%s) median %s, p90 %s",
				unit.Count(int64(b.Rows)),
				validation.Percent(b.Ours.Median), validation.Percent(b.Ours.P90), b.Peer.Name, b.Peer.Version,
				validation.Percent(b.Theirs.Median), validation.Percent(b.Theirs.P90))))
	}
}

func abs(x float64) float64 { return max(x, -x) }

// worstScore is the measure that misses its target by most.
func worstScore(r *validation.Report) (out *validation.Score) {
	far := 0.0
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Met() || s.Used == 0 {
			continue
		}
		if d := 1 - s.EqualShare(); s.Measure.Exact && d > far {
			far, out = d, s
		} else if !s.Measure.Exact && s.Median-s.Measure.Target > far {
			far, out = s.Median-s.Measure.Target, s
		}
	}
	return out
}

func writeScores(p *term.Page, scores []validation.Score) {
	tb := scoreTable()
	for i := range scores {
		writeScore(tb, &scores[i], scores[i].Measure.Name)
	}
	p.Add(tb)
}

func scoreTable() *term.Table {
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Decimal, term.Decimal, term.Decimal, term.Right, term.Right,
		term.Left}, Give: []int{6, 5, 1}}
	tb.Row(term.Say("errors in %", term.Dim), term.Say("figures", term.Dim), term.Say("median", term.Dim), term.Say("p90", term.Dim),
		term.Say("target", term.Dim), term.Say("cover", term.Dim), term.Say("width", term.Dim), term.Say(""))
	return tb
}

func writeScore(tb *term.Table, s *validation.Score, name string) {
	m, f := s.Measure, s.Measure.Number
	target, cover, width := "equal", unit.Fixed(100*s.EqualShare(), 0), ""
	if m.Exact && s.Equal < s.Used {
		cover = fmt.Sprintf("%d/%d", s.Equal, s.Used)
	}
	if !m.Exact {
		target, cover, width = f(m.Target), unit.Fixed(100*s.Coverage(), 0), unit.Fixed(100*s.Width, 0)
	}
	if m.Absolute {
		name += ", GiB"
	}
	mark := term.Say("✓")
	if !s.Met() {
		mark = term.Say("✗", term.InkBad)
	}
	tb.Wrapped(0, 26, term.Say(name), term.Say(unit.Count(int64(s.Used))), term.Say(f(s.Median)), term.Say(f(s.P90)), term.Say(target),
		term.Say(cover), term.Say(width), mark)
}

func writeGroups(p *term.Page, scores []validation.Score, by string) {
	for i := range scores {
		if i == 0 || scores[i].Group != scores[i-1].Group {
			p.Blank()
			p.Line(term.Pad(term.Gap), term.Say(by+" "+scores[i].Group, term.Bold))
			tb := scoreTable()
			for j := i; j < len(scores) && scores[j].Group == scores[i].Group; j++ {
				writeScore(tb, &scores[j], scores[j].Measure.Name)
			}
			p.Add(tb)
		}
	}
}

const worstRows = 3

func writeWorst(p *term.Page, scores []validation.Score) {
	for i := range scores {
		s := &scores[i]
		if s.Max == 0 {
			continue
		}
		p.Blank()
		p.Line(term.Pad(term.Gap), term.Say(s.Measure.Name, term.Bold), term.Say("  "+s.Measure.About, term.Dim))
		for j := 0; j < len(s.Worst) && j < worstRows && s.Worst[j].Error != 0; j++ {
			c := &s.Worst[j]
			p.Para(term.Pad(2*term.Gap),
				term.Join(term.Say(fmt.Sprintf("%s off: %s measured, ours %s", s.Measure.Figure(abs(c.Error)), c.Measured.Text,
					c.OursText())), term.Say("  "+c.Question()+"  "+c.Row.Name(), term.Dim)))
		}
	}
}

func writeReasons(p *term.Page, reasons []validation.Reason) {
	p.Blank()
	p.Line(term.Pad(term.Gap), term.Say("refused", term.Bold))
	tb := &term.Table{Sides: []term.Side{term.Right, term.Left}, Remark: true}
	for _, r := range reasons {
		tb.Row(term.Say(unit.Count(int64(r.Rows))), term.Say(r.Text))
	}
	p.Add(tb)
}
