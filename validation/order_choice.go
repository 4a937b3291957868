package validation

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// Setting is a plan's choice of one setting, in words.
type Setting struct{ Name, Value string }

// Option is a plan with its speeds, of which more is better.
type Option struct {
	Settings []Setting
	// Measured is the median of its runs, and so are the others. Thumb is what a rule of thumb says; 0 where it says
	// nothing.
	Measured, Ours, Thumb float64
}

// besides says in words what is set otherwise than in another plan.
func (o *Option) besides(other *Option) string {
	var out []string
	for i, s := range o.Settings {
		if s != other.Settings[i] {
			out = append(out, cmp.Or(s.Value, s.Name+" not told"))
		}
	}
	return cmp.Or(strings.Join(out, " "), "other settings")
}

// Choice is the measured plans of one group.
type Choice struct {
	Subject string // the model, and the kind of device
	Group   string
	Options []Option // the fastest first, as measured
	Pairs   int      // told apart by the measurement
	Followed
	// Thumb is what following a rule of thumb comes to; nil where it says nothing of a plan.
	Thumb *Followed
	// Random is the mean regret of taking any plan.
	Random float64
}

// Followed is the quality of an order: its tau, the regret of its first plan, and the number of correctly ordered pairs.
type Followed struct {
	Tau, Regret float64
	Right       int
}

// fewest plans that have an order.
const fewest = 3

// choice of options; ok is false where they are too few, or none was measured to be faster than another.
func choice(group string, options []Option) (c Choice, ok bool) {
	if len(options) < fewest {
		return c, false
	}
	stable.Sort(options, func(a, b Option) int { return cmp.Compare(b.Measured, a.Measured) })
	measured := speedsOf(options, func(o *Option) float64 { return o.Measured })
	ours := speedsOf(options, func(o *Option) float64 { return o.Ours })
	c = Choice{Group: group, Options: options, Pairs: pairsOf(measured, ours).measured, Followed: follow(measured, ours),
		Random: regret(measured, make([]float64, len(options)))}
	if thumb := speedsOf(options, func(o *Option) float64 { return o.Thumb }); slices.Min(thumb) > 0 {
		f := follow(measured, thumb)
		c.Thumb = &f
	}
	return c, c.Pairs > 0
}

func speedsOf(options []Option, of func(*Option) float64) []float64 {
	out := make([]float64, len(options))
	for i := range options {
		out[i] = of(&options[i])
	}
	return out
}

func follow(measured, ours []float64) Followed {
	p := pairsOf(measured, ours)
	return Followed{p.tau(), regret(measured, ours), p.right}
}

// Misorder is a pair of plans that we have the other way round than measured: what each has set otherwise than the
// other, and the speed of the one measured to be faster over that of the other.
type Misorder struct {
	Fast, Slow     string
	Measured, Ours float64
}

// Misordered is the pair measured furthest apart; ok is false where we have none the other way round.
func (c *Choice) Misordered() (out Misorder, ok bool) {
	for i := range c.Options {
		for j := i + 1; j < len(c.Options); j++ {
			a, b := &c.Options[i], &c.Options[j]
			if apart := a.Measured / b.Measured; faster(a.Measured, b.Measured) > 0 && a.Ours < b.Ours && apart > out.Measured {
				out = Misorder{a.besides(b), b.besides(a), apart, a.Ours / b.Ours}
			}
		}
	}
	return out, out.Measured > 0
}

// trial is a measured run of a plan: of what model on what device, the group in which it is chosen, and what makes it a
// plan of its own.
type trial struct {
	subject, group, plan string
	Option
}

// choices groups runs. Runs of one plan count once.
func choices(trials []trial) (out []Choice) {
	groups := map[string]map[string][]trial{}
	for _, r := range trials {
		if groups[r.group] == nil {
			groups[r.group] = map[string][]trial{}
		}
		groups[r.group][r.plan] = append(groups[r.group][r.plan], r)
	}
	for group, plans := range groups {
		var options []Option
		subject := ""
		for _, name := range slices.Sorted(maps.Keys(plans)) {
			options, subject = append(options, once(plans[name])), plans[name][0].subject
		}
		if c, ok := choice(group, options); ok {
			c.Subject = subject
			out = append(out, c)
		}
	}
	stable.Sort(out, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.Tau, b.Tau), cmp.Compare(b.Regret, a.Regret), cmp.Compare(a.Group, b.Group))
	})
	return out
}

// once is a plan of which there are several runs.
func once(trials []trial) Option {
	median := func(of func(*Option) float64) float64 {
		x := make([]float64, len(trials))
		for i := range trials {
			x[i] = of(&trials[i].Option)
		}
		return stat.Median(x)
	}
	return Option{trials[0].Settings, median(func(o *Option) float64 { return o.Measured }),
		median(func(o *Option) float64 { return o.Ours }), median(func(o *Option) float64 { return o.Thumb })}
}
