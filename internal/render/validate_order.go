package render

import (
	"fmt"

	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation"
)

// orders are how well plans are put in order.
func (p *page) orders(all []validation.Order) {
	if len(all) == 0 {
		return
	}
	p.blank()
	tb := &table{sides: []side{left, right, right, decimal, decimal, right, right, right, right, left}}
	tb.row(say("plans in order, in %", dim), say("groups", dim), say("right", dim), say("tau", dim), say("regret", dim), say("p90", dim), say("best", dim), say("thumb", dim), say("blind", dim), say(""))
	for i := range all {
		tb.order(&all[i])
	}
	p.add(tb)
	p.para(pad(gap), say(fmt.Sprintf("medians over groups of plans for one model on the same hardware. tau: 1 where all come in the order measured, %s is aimed at. regret: what our first plan loses of the best measured speed, %s %% is aimed at; thumb: that of a rule of thumb; blind: of any plan. right: pairs in the order measured; best: groups whose best plan we have first",
		unit.Fixed(validation.TauTarget, 1), unit.Fixed(100*validation.RegretTarget, 0)), dim))
}

func (tb *table) order(o *validation.Order) {
	mark := say("✓")
	if !o.Met() {
		mark = say("✗", inkBad)
	}
	percent := func(x float64) text { return say(unit.Fixed(100*x, 0)) }
	thumb := say("—")
	if o.Thumb != nil {
		thumb = percent(o.Thumb.Regret)
	}
	tb.row(say(o.Kind.Name), say(unit.Count(int64(len(o.Choices)))), percent(o.RightShare()), say(unit.Fixed(o.Tau, 2)), say(unit.Fixed(100*o.Regret, 1)), percent(o.RegretP90), percent(o.BestShare()), thumb, percent(o.Random), mark)
}

// misordered are the groups of plans furthest from the order measured.
func (p *page) misordered(all []validation.Order) {
	for i := range all {
		o := &all[i]
		p.blank()
		p.line(pad(gap), say(o.Kind.Name, bold), say("  "+o.Kind.About, dim))
		for j := range min(worstRows, len(o.Choices)) {
			c := &o.Choices[j]
			p.para(pad(2*gap), join(say(fmt.Sprintf("tau %s of %d plans, regret %s", validation.Tau(c.Tau), len(c.Options), validation.Percent(c.Regret))), say("  "+c.Group, dim)))
			if x, ok := c.Misordered(); ok {
				p.para(pad(3*gap), say(fmt.Sprintf("%s before %s: %s times as fast, ours %s", x.Fast, x.Slow, unit.Fixed(x.Measured, 2), unit.Fixed(x.Ours, 2))))
			}
		}
	}
}
