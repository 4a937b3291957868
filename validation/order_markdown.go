package validation

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/unit"
)

// orderTable writes how well plans are put in order, and which were misordered.
func orderTable(b *strings.Builder, all []Order) {
	fmt.Fprintf(b, "\n## Plans in order\n\nA plan is chosen by its place among others. Plans that somebody measured for one model on the same hardware are put in order by what we predict, by fits that\nlacked the model on that device unless said otherwise, and by what was measured. *Tau* is Kendall's tau-b, 1 where the orders agree, and *regret* the share of the best\nmeasured speed that is lost by taking the plan which we have first; both are medians over the groups. *Right* is the share of pairs in the order measured.\nPlans within %s of each other were measured alike, runs of one plan count once, and groups have %d plans or more. Only where the load is given is the choice\none of plans: where users or lengths are left open, more users and shorter prompts win with any plan, and the order is the easier.\nMany groups are of few models on kinds of devices, and are right or wrong together.\nThe rule of thumb is that of the section above, training at %s of the peak; *any plan* is the regret of taking one blindly. The targets are a tau of %s and a regret of %s.\n\n",
		Percent(noise), fewest, Percent(thumbReached), unit.Fixed(TauTarget, 1), Percent(RegretTarget))
	b.WriteString("| order | groups | models on devices | plans | pairs | right | tau | regret | p90 | max | best taken | rule of thumb: right | tau | regret | any plan | |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for i := range all {
		orderRow(b, &all[i])
	}
	b.WriteString("\n| order | |\n|---|---|\n")
	for i := range all {
		fmt.Fprintf(b, "| %s | %s |\n", all[i].Kind.Name, all[i].Kind.About)
	}
	for i := range all {
		if all[i].Kind.Differ {
			apartTable(b, &all[i])
		}
	}
	for i := range all {
		worstChoices(b, &all[i])
	}
}

func orderRow(b *strings.Builder, o *Order) {
	mark := "✓"
	if !o.Met() {
		mark = "✗"
	}
	n := func(x int) string { return unit.Count(int64(x)) }
	thumb := []string{"—", "—", "—"}
	if t := o.Thumb; t != nil {
		thumb = []string{Percent(t.RightShare), Tau(t.Tau), Percent(t.Regret)}
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", o.Kind.Name, n(len(o.Choices)),
		n(o.Subjects), n(o.Plans), n(o.Pairs), Percent(o.RightShare()), Tau(o.Tau),
		Percent(o.Regret), Percent(o.RegretP90), Percent(o.RegretMax), Percent(o.BestShare()), strings.Join(thumb, " | "),
		Percent(o.Random), mark)
}

// Tau formats a rank correlation.
func Tau(x float64) string { return signed(x, func(x float64) string { return unit.Fixed(x, 2) }) }

// apartTable says what plans differ in that are put in the wrong order.
func apartTable(b *strings.Builder, o *Order) {
	fmt.Fprintf(b, "\n**%s**, by what the plans of a pair differ in\n\n| in | pairs | right |\n|---|---:|---:|\n", o.Kind.Name)
	for _, a := range o.Differing() {
		fmt.Fprintf(b, "| %s | %s | %s |\n", a.In, unit.Count(int64(a.Pairs)), Percent(share(a.Right, a.Pairs)))
	}
}

// worstChoices names the groups furthest from the order measured, each with its pair furthest apart that we have the
// other way round.
func worstChoices(b *strings.Builder, o *Order) {
	if o.Right == o.Pairs {
		return
	}
	fmt.Fprintf(b, "\n**%s**, the worst groups\n\n| group | plans | tau | regret | misordered | measured | ours |\n|---|---:|---:|---:|---|---:|---:|\n", o.Kind.Name)
	for i := range min(worstShown, len(o.Choices)) {
		c := &o.Choices[i]
		if x, ok := c.Misordered(); ok {
			fmt.Fprintf(b, "| %s | %d | %s | %s | %s before %s | %s | %s |\n", c.Group, len(c.Options), Tau(c.Tau), Percent(c.Regret),
				x.Fast, x.Slow, over(x.Measured), over(x.Ours))
		}
	}
}

// over prints a ratio of speeds as the difference from one.
func over(ratio float64) string {
	if ratio >= 1 {
		return "+" + Percent(ratio-1)
	}
	return signed(ratio-1, Percent)
}
