package render

import (
	"github.com/memwall/memwall/internal/check"
	"github.com/memwall/memwall/internal/term"
)

// checkMarks are the marks of outcomes.
var checkMarks = map[check.Outcome]term.Mark{
	check.Holds: {Sign: '✓', Word: "", Ink: term.Bold}, check.Fails: {Sign: '✗', Word: "", Ink: term.InkBad},
	check.Unknown: {Sign: '?', Word: "", Ink: term.InkUnknown}, check.Unanswered: {Sign: '✗', Word: "", Ink: term.InkBad},
}

// Check draws a run over a repository's plans, and what changed since its base.
func Check(r *check.Run, st term.Style) string {
	p := term.NewPage(st)
	m := checkMarks[r.Outcome]
	p.Dotted(term.Say(string(m.Sign)+" ", m.Ink), []string{r.Summary(), r.File})
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Left}, Remark: true, Most: map[int]int{1: 24, 2: 20}}
	for i := range r.Plans {
		q := &r.Plans[i]
		m := checkMarks[q.Outcome]
		tb.Row(term.Say(string(m.Sign), m.Ink), term.Say(q.Name), term.Say(q.On, term.Dim), term.Say(q.Why()))
	}
	p.Add(tb)
	for i := range r.Plans {
		if q := &r.Plans[i]; q.Error != nil && q.Error.Hint != "" {
			p.Blank()
			p.Para(term.Join(term.Pad(term.Gap), term.Say(q.Name+"  ")), term.Say("fix: "+q.Error.Hint, term.Dim))
		}
	}
	writeSinceBase(p, r)
	return p.String()
}

// writeSinceBase lists the differences from the base.
func writeSinceBase(p *term.Page, r *check.Run) {
	if r.Base == "" {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Left, term.Left, term.Right, term.Left, term.Left},
		Most: map[int]int{0: 20, 3: 16, 5: 16}}
	for i := range r.Plans {
		q := &r.Plans[i]
		name := q.Name
		if q.New {
			tb.Row(term.Say(name), term.Say("new"))
		}
		for j := range q.Changes {
			c := &q.Changes[j]
			tb.Row(term.Say(name), term.Say(c.Name, term.Dim), term.Say(c.By), term.Say(c.Was), term.Say("→"), term.Say(c.Now))
			name = ""
		}
	}
	for _, name := range r.Gone {
		tb.Row(term.Say(name), term.Say("gone"))
	}
	if len(tb.Rows) == 0 {
		p.Line(term.Say("as in "+r.Base, term.Dim))
		return
	}
	p.Line(term.Say("since "+r.Base, term.Dim))
	p.Add(tb)
}
