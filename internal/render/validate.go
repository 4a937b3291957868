package render

import (
	"fmt"

	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation"
)

// Show says what of a report is drawn beside the scores.
type Show struct {
	Worst, Refused bool
	By             string
}

// Validate draws the scoreboard.
func Validate(r *validation.Report, show Show, st Style) string {
	p := newPage(st)
	total := r.Used + r.Refused
	p.heading(fmt.Sprintf("Within target on %d of %d measures", r.Met(), len(r.Scores)), unit.Count(int64(r.Used))+" rows used",
		fmt.Sprintf("%s refused (%s)", unit.Count(int64(r.Refused)), validation.Percent(float64(r.Refused)/float64(total))))
	if w := worstScore(r); w != nil {
		c := &w.Worst[0]
		p.para(pad(gap), say(fmt.Sprintf("worst: %s, %s off in %s", w.Measure.Name, w.Measure.Figure(abs(c.Error)), c.Question())))
	}
	p.blank()
	p.scores(r.Scores)
	p.orders(r.Orders)
	p.calls(r.Calls)
	p.diagnoses(r.Diagnoses)
	p.peers(r.Besides)
	if show.By != "" {
		p.groups(r.Groups, show.By)
	}
	if show.Worst {
		p.worst(r.Scores)
		p.misordered(r.Orders)
	}
	if show.Refused {
		p.reasons(r.Reasons)
	}
	p.blank()
	p.para(pad(gap), say("cover: figures inside our 90 % band, or equal to the last printed digit where no band is due. Rows that constants were fitted to are left out. More: --worst, --refused, --by source|hardware|model|engine|set", dim))
	return p.String()
}

// calls are verdicts beside what reports say of plans.
func (p *page) calls(kinds []validation.Calls) {
	if len(kinds) == 0 {
		return
	}
	all := validation.AllCalls(kinds)
	p.blank()
	p.para(pad(gap), say(fmt.Sprintf("verdicts: %s right of %s plans that somebody reports: %s of %s that ran, %s of %s that found no room; %s are tight, which is right either way",
		validation.Percent(all.RightShare()), unit.Count(int64(all.Used())), unit.Count(int64(all.RanRight)), unit.Count(int64(all.Ran)), unit.Count(int64(all.FailedRight)), unit.Count(int64(all.Failed)), unit.Count(int64(all.Tight)))))
}

// diagnoses are messages of failures, and logs without any.
func (p *page) diagnoses(d *validation.Diagnoses) {
	if d == nil {
		return
	}
	n := func(x int) string { return unit.Count(int64(x)) }
	p.blank()
	p.para(pad(gap), say(fmt.Sprintf("diagnoses: %s right of %s messages of failures: kind %s, program %s, all figures %s; %s false alarms in %s ordinary logs",
		validation.Percent(d.Right()), n(d.Messages), n(d.Kind), n(d.Engine), n(d.Figures), n(d.Alarms), n(d.Ordinary))))
}

// peers beside us, over the same rows.
func (p *page) peers(all []validation.Beside) {
	for i := range all {
		b := &all[i]
		p.blank()
		p.para(pad(gap), say(fmt.Sprintf("peers: total on devices, %s rows: memwall median %s, p90 %s; %s (%s) median %s, p90 %s", unit.Count(int64(b.Rows)),
			validation.Percent(b.Ours.Median), validation.Percent(b.Ours.P90), b.Peer.Name, b.Peer.Version, validation.Percent(b.Theirs.Median), validation.Percent(b.Theirs.P90))))
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

func (p *page) scores(scores []validation.Score) {
	tb := scoreTable()
	for i := range scores {
		tb.score(&scores[i], scores[i].Measure.Name)
	}
	p.add(tb)
}

func scoreTable() *table {
	tb := &table{sides: []side{left, right, decimal, decimal, decimal, right, right, left}, most: map[int]int{0: 26}}
	tb.row(say("errors in %", dim), say("figures", dim), say("median", dim), say("p90", dim), say("target", dim), say("cover", dim), say("width", dim), say(""))
	return tb
}

func (tb *table) score(s *validation.Score, name string) {
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
	mark := say("✓")
	if !s.Met() {
		mark = say("✗", inkBad)
	}
	tb.row(say(name), say(unit.Count(int64(s.Used))), say(f(s.Median)), say(f(s.P90)), say(target), say(cover), say(width), mark)
}

func (p *page) groups(scores []validation.Score, by string) {
	for i := range scores {
		if i == 0 || scores[i].Group != scores[i-1].Group {
			p.blank()
			p.line(pad(gap), say(by+" "+scores[i].Group, bold))
			tb := scoreTable()
			for j := i; j < len(scores) && scores[j].Group == scores[i].Group; j++ {
				tb.score(&scores[j], scores[j].Measure.Name)
			}
			p.add(tb)
		}
	}
}

const worstRows = 3

func (p *page) worst(scores []validation.Score) {
	for i := range scores {
		s := &scores[i]
		if s.Max == 0 {
			continue
		}
		p.blank()
		p.line(pad(gap), say(s.Measure.Name, bold), say("  "+s.Measure.About, dim))
		for j := 0; j < len(s.Worst) && j < worstRows && s.Worst[j].Error != 0; j++ {
			c := &s.Worst[j]
			p.para(pad(2*gap), join(say(fmt.Sprintf("%s off: %s measured, ours %s", s.Measure.Figure(abs(c.Error)), c.Measured.Text, c.OursText())), say("  "+c.Question()+"  "+c.Row.Name(), dim)))
		}
	}
}

func (p *page) reasons(reasons []validation.Reason) {
	p.blank()
	p.line(pad(gap), say("refused", bold))
	tb := &table{sides: []side{right, left}, remark: true}
	for _, r := range reasons {
		tb.row(say(unit.Count(int64(r.Rows))), say(r.Text))
	}
	p.add(tb)
}
