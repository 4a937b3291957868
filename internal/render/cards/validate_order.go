package cards

import (
	"fmt"

	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation"
)

// writeOrders are how well plans are put in order.
func writeOrders(p *term.Page, all []validation.Order) {
	if len(all) == 0 {
		return
	}
	p.Blank()
	tb := &term.Table{Sides: []term.Side{term.Left, term.Right, term.Right, term.Decimal, term.Decimal, term.Right, term.Right, term.Right,
		term.Right, term.Left}}
	tb.Row(term.Say("plans in order, in %", term.Dim), term.Say("groups", term.Dim), term.Say("right", term.Dim), term.Say("tau", term.Dim),
		term.Say("regret", term.Dim), term.Say("p90", term.Dim), term.Say("best", term.Dim), term.Say("thumb", term.Dim),
		term.Say("blind", term.Dim), term.Say(""))
	for i := range all {
		writeOrder(tb, &all[i])
	}
	p.Add(tb)
	p.Para(term.Pad(term.Gap),
		term.Say(fmt.Sprintf("medians over groups of plans for one model on the same hardware. tau: 1 where all come in the order "+
			"measured, %s is aimed at. regret: what our first plan loses of the best measured speed, %s %% is aimed at; thumb: that of a "+
			"rule of thumb; blind: of any plan. right: pairs in the order measured; best: groups whose best plan we have first",
			unit.Fixed(validation.TauTarget, 1), unit.Fixed(100*validation.RegretTarget, 0)), term.Dim))
}

func writeOrder(tb *term.Table, o *validation.Order) {
	mark := term.Say("✓")
	if !o.Met() {
		mark = term.Say("✗", term.InkBad)
	}
	percent := func(x float64) term.Text { return term.Say(unit.Fixed(100*x, 0)) }
	thumb := term.Say("—")
	if o.Thumb != nil {
		thumb = percent(o.Thumb.Regret)
	}
	tb.Row(term.Say(o.Kind.Name), term.Say(unit.Count(int64(len(o.Choices)))), percent(o.RightShare()), term.Say(unit.Fixed(o.Tau, 2)),
		term.Say(unit.Fixed(100*o.Regret, 1)), percent(o.RegretP90), percent(o.BestShare()), thumb, percent(o.Random), mark)
}

// writeMisordered are the groups of plans furthest from the order measured.
func writeMisordered(p *term.Page, all []validation.Order) {
	for i := range all {
		o := &all[i]
		p.Blank()
		p.Line(term.Pad(term.Gap), term.Say(o.Kind.Name, term.Bold), term.Say("  "+o.Kind.About, term.Dim))
		for j := range min(worstRows, len(o.Choices)) {
			c := &o.Choices[j]
			p.Para(term.Pad(2*term.Gap),
				term.Join(term.Say(fmt.Sprintf("tau %s of %d plans, regret %s", validation.Tau(c.Tau), len(c.Options),
					validation.Percent(c.Regret))), term.Say("  "+c.Group, term.Dim)))
			if x, ok := c.Misordered(); ok {
				p.Para(term.Pad(3*term.Gap),
					term.Say(fmt.Sprintf("%s before %s: %s times as fast, ours %s", x.Fast, x.Slow, unit.Fixed(x.Measured, 2),
						unit.Fixed(x.Ours, 2))))
			}
		}
	}
}
