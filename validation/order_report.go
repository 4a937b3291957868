package validation

import (
	"cmp"
	"slices"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// OrderKind is a way to group plans, with the figure that orders them.
type OrderKind struct {
	Name, About string
	// Differ: it is also told what the plans of a pair differ in.
	Differ bool
}

// Order summarizes the choices of a kind.
type Order struct {
	Kind                *OrderKind
	Choices             []Choice // the least tau first
	Subjects            int      // models on kinds of devices that these are of
	Plans, Pairs, Right int
	// Tau and Regret are medians over the choices, as is Random, the regret of taking any plan. Thumb is nil where no
	// rule of thumb says anything.
	Tau, Regret          float64
	RegretP90, RegretMax float64
	Best                 int // choices of which we take the best plan
	Thumb                *Thumb
	Random               float64
}

// Thumb is the result of following a rule of thumb: medians over choices, and the share of correctly ordered pairs.
type Thumb struct{ Tau, Regret, RightShare float64 }

// What orders are to reach in the median.
const (
	TauTarget    = 0.8
	RegretTarget = 0.05
)

// Met reports whether the targets are reached.
func (o *Order) Met() bool { return o.Tau >= TauTarget && o.Regret <= RegretTarget }

// RightShare is the share of pairs in the order measured.
func (o *Order) RightShare() float64 { return share(o.Right, o.Pairs) }

// BestShare is the share of choices of which we take the best plan.
func (o *Order) BestShare() float64 { return share(o.Best, len(o.Choices)) }

// Orders orders plans by predicted figures, however predicted, and compares the order with measurements.
func Orders(all []Comparison) ([]Order, error) {
	var out []Order
	for _, runs := range []func([]Comparison) ([]ordered, error){servingOrders, mostOrders, trainingOrders} {
		kinds, err := runs(all)
		if err != nil {
			return nil, err
		}
		for _, k := range kinds {
			if list := choices(k.trials); len(list) > 0 {
				out = append(out, sumOrder(k.kind, list))
			}
		}
	}
	return out, nil
}

// ordered are the runs of a kind.
type ordered struct {
	kind   *OrderKind
	trials []trial
}

func sumOrder(kind *OrderKind, list []Choice) Order {
	o := Order{Kind: kind, Choices: list}
	var tau, lost, random, thumbTau, thumbLost []float64
	right, told, subjects := 0, 0, map[string]bool{}
	for i := range list {
		c := &list[i]
		o.Plans, o.Pairs, o.Right, o.Best = o.Plans+len(c.Options), o.Pairs+c.Pairs, o.Right+c.Right, o.Best+count(c.Regret == 0)
		subjects[c.Subject] = true
		tau, lost, random = append(tau, c.Tau), append(lost, c.Regret), append(random, c.Random)
		if c.Thumb != nil {
			thumbTau, thumbLost = append(thumbTau, c.Thumb.Tau), append(thumbLost, c.Thumb.Regret)
			right, told = right+c.Thumb.Right, told+c.Pairs
		}
	}
	o.Subjects = len(subjects)
	if len(list) > 0 {
		o.Tau, o.Regret, o.RegretP90, o.RegretMax, o.Random = stat.Median(tau), stat.Median(lost), stat.Quantile(lost, 0.9),
			slices.Max(lost), stat.Median(random)
	}
	if len(thumbTau) > 0 {
		o.Thumb = &Thumb{stat.Median(thumbTau), stat.Median(thumbLost), share(right, told)}
	}
	return o
}

// Apart is the pairs of plans that differ in a single setting.
type Apart struct {
	In           string
	Pairs, Right int
}

// severally names pairs that differ in more than one thing.
const severally = "several of these"

// Differing counts pairs by what their plans differ in, the most pairs first and last those that differ in several things.
func (o *Order) Differing() (out []Apart) {
	at := map[string]int{}
	for i := range o.Choices {
		for _, a := range o.Choices[i].differing() {
			n, seen := at[a.In]
			if !seen {
				n = len(out)
				at[a.In], out = n, append(out, Apart{In: a.In})
			}
			out[n].Pairs, out[n].Right = out[n].Pairs+1, out[n].Right+a.Right
		}
	}
	stable.Sort(out, func(a, b Apart) int {
		return cmp.Or(cmp.Compare(count(a.In == severally), count(b.In == severally)), cmp.Compare(b.Pairs, a.Pairs),
			cmp.Compare(a.In, b.In))
	})
	return out
}

// differing lists every pair of a choice that was measured to differ.
func (c *Choice) differing() (out []Apart) {
	for i := range c.Options {
		for j := i + 1; j < len(c.Options); j++ {
			a, b := &c.Options[i], &c.Options[j]
			if faster(a.Measured, b.Measured) != 0 {
				out = append(out, Apart{difference(a, b), 1, count(a.Ours > b.Ours)})
			}
		}
	}
	return out
}

// difference names the one thing in which plans differ. Versions of two engines are no more comparable than the
// engines.
func difference(a, b *Option) string {
	name := ""
	for i, s := range a.Settings {
		if s == b.Settings[i] || s.Name == ofVersion && name == ofEngine {
			continue
		}
		if name != "" {
			return severally
		}
		name = s.Name
	}
	if name == "" {
		return "other settings"
	}
	return name
}

// Names of settings that engines and frameworks share.
const (
	ofEngine  = "engine"
	ofVersion = "version"
	ofWeights = "weights"
	ofSplit   = "split over devices"
	ofLengths = "lengths"
)
