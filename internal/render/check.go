package render

import (
	"github.com/memwall/memwall/internal/check"
)

// checkMarks are the marks of outcomes.
var checkMarks = map[check.Outcome]mark{
	check.Holds: {'✓', "", bold}, check.Fails: {'✗', "", inkBad}, check.Unknown: {'?', "", inkUnknown}, check.Unanswered: {'✗', "", inkBad},
}

// Check draws a run over a repository's plans, and what changed since its base.
func Check(r *check.Run, st Style) string {
	p := newPage(st)
	m := checkMarks[r.Outcome]
	p.dotted(say(string(m.sign)+" ", m.ink), []string{r.Summary(), r.File})
	p.blank()
	tb := &table{sides: []side{left, left, left, left}, remark: true, most: map[int]int{1: 24, 2: 20}}
	for i := range r.Plans {
		q := &r.Plans[i]
		m := checkMarks[q.Outcome]
		tb.row(say(string(m.sign), m.ink), say(q.Name), say(q.On, dim), say(q.Why()))
	}
	p.add(tb)
	for i := range r.Plans {
		if q := &r.Plans[i]; q.Error != nil && q.Error.Hint != "" {
			p.blank()
			p.para(join(pad(gap), say(q.Name+"  ")), say("fix: "+q.Error.Hint, dim))
		}
	}
	p.sinceBase(r)
	return p.String()
}

// sinceBase lists what is otherwise than in the base.
func (p *page) sinceBase(r *check.Run) {
	if r.Base == "" {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, left, left, right, left, left}, most: map[int]int{0: 20, 3: 16, 5: 16}}
	for i := range r.Plans {
		q := &r.Plans[i]
		name := q.Name
		if q.New {
			tb.row(say(name), say("new"))
		}
		for j := range q.Changes {
			c := &q.Changes[j]
			tb.row(say(name), say(c.Name, dim), say(c.By), say(c.Was), say("→"), say(c.Now))
			name = ""
		}
	}
	for _, name := range r.Gone {
		tb.row(say(name), say("gone"))
	}
	if len(tb.rows) == 0 {
		p.line(say("as in "+r.Base, dim))
		return
	}
	p.line(say("since "+r.Base, dim))
	p.add(tb)
}
