package cards

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/scale"
	"github.com/memwall/memwall/unit"
)

// Autoscale draws what policies made of a load.
func Autoscale(r *autoscale.ScalingReport, st term.Style) string {
	p := term.NewPage(st)
	writeAutoscale(p, r)
	return p.String()
}

// AutoscaleParts are the blocks of Autoscale, its heading first.
func AutoscaleParts(r *autoscale.ScalingReport) []term.Block {
	return blocks(func(p *term.Page) { writeAutoscale(p, r) })
}

// blocks of a card as wide as it comes, for faces that break lines themselves.
func blocks(write func(*term.Page)) []term.Block {
	p := term.NewPage(term.Style{Width: term.MaxWidth})
	p.Style.Endless = true
	write(p)
	return p.Blocks
}

func writeAutoscale(p *term.Page, r *autoscale.ScalingReport) {
	lead, words := autoscaleVerdict(r)
	p.Dotted(lead, []string{words, r.Name, autoscalePlan(r)})
	p.Para(term.Pad(term.Gap), term.Say(AutoscaleSentence(r)))
	p.Blank()
	if len(r.Policies) == 0 {
		return
	}
	p.Add(policyTable(r))
	p.Blank()
	if !p.Style.Endless { // pages draw the day
		autoscaleDay(p, r)
	}
	autoscaleFacts(p, r)
}

// autoscaleVerdict says whether a policy keeps the goal, and which.
func autoscaleVerdict(r *autoscale.ScalingReport) (lead term.Text, words string) {
	switch {
	case r.Verdict == memwall.DoesNotFit || r.Verdict == memwall.Unknown:
		return term.Join(term.Sign(r.Verdict), term.Say("   ")), "one replica"
	case r.Best == "":
		return term.Say("✗ misses   ", term.InkBad), "no policy keeps the goal"
	}
	return term.Say("✓ keeps   ", term.Bold), ShortPolicy(r.Best)
}

// autoscalePlan is what a replica is.
func autoscalePlan(r *autoscale.ScalingReport) string {
	name := r.Device
	if r.Devices > 1 {
		name = fmt.Sprintf("%d × %s", r.Devices, name)
	}
	return name + " · " + strings.Replace(r.Engine, "@", " ", 1)
}

// ShortPolicy is a policy's name, shortened where it is an expression.
func ShortPolicy(name string) string { return term.Shorten(name, 18, "…") }

// AutoscaleSentence is what came of the best policy, or why there is none.
func AutoscaleSentence(r *autoscale.ScalingReport) string {
	if r.Verdict == memwall.DoesNotFit || r.Verdict == memwall.Unknown {
		return "its memory does not fit: memwall plan says what would"
	}
	if r.Replica.Holds == 0 {
		return "one replica misses the goal even for a single request: a faster plan or a wider bound"
	}
	if best := r.Chosen(); best != nil {
		words := fmt.Sprintf("%s of %s requests in time with %s replicas on average, at most %d", percent(best.Kept),
			unit.Count(int64(r.Load.Requests)), term.Significant(best.Mean, 3), best.Peak)
		if best.USD != nil {
			words += fmt.Sprintf("; $%s", dollars(*best.USD))
		}
		if best.Regret != nil {
			words += fmt.Sprintf(", %s above an oracle", percent(*best.Regret))
		}
		return words
	}
	if r.Oracle == nil {
		return fmt.Sprintf("not even %d replicas all the time keep it: raise --max, or a faster plan", r.Most)
	}
	return fmt.Sprintf("an oracle keeps it with %s replicas on average, at most %d", term.Significant(r.Oracle.Mean, 3),
		r.Oracle.Peak)
}

func dollars(x float64) string {
	if x < 100 {
		return fmt.Sprintf("%.2f", x)
	}
	return unit.Count(int64(x + 0.5))
}

// percent with a digit more where nearly all is said.
func percent(x float64) string {
	if x > 0.9 && x < 1 {
		return fmt.Sprintf("%.2f %%", math.Floor(10000*x)/100)
	}
	return term.Percent(x)
}

// policyTable has a row a policy, and the oracle last.
func policyTable(r *autoscale.ScalingReport) *term.Table {
	tb := &term.Table{Sides: append([]term.Side{term.Left, term.Left}, slices.Repeat([]term.Side{term.Right}, 6)...)}
	var head []term.Text
	for _, h := range []string{"policy", "target", "in time", "TTFT p99", "mean", "peak", "$", "regret"} {
		head = append(head, term.Say(h, term.Dim))
	}
	tb.Row(head...)
	for i := range r.Policies {
		tb.Row(policyRow(&r.Policies[i])...)
	}
	if r.Oracle != nil {
		tb.Row(policyRow(r.Oracle)...)
	}
	return tb
}

func policyRow(p *autoscale.Policy) []term.Text {
	if p.Error != "" {
		return []term.Text{term.Say(ShortPolicy(p.Name)), term.Say("failed", term.InkTight)}
	}
	sign := term.Say(" ✓", term.Dim)
	if !p.Met {
		sign = term.Say(" ✗", term.InkTight)
	}
	target, usd, regret := "", "—", "—"
	if p.Target != nil {
		target = fmt.Sprintf("%s %s", p.Metric, term.Significant(*p.Target, 2))
	}
	if p.USD != nil {
		usd = dollars(*p.USD)
	}
	if p.Regret != nil {
		regret = percent(*p.Regret)
	}
	if p.Name == "oracle" {
		regret = ""
	}
	return []term.Text{term.Say(ShortPolicy(p.Name)), term.Say(target), term.Join(term.Say(percent(p.Kept)), sign),
		term.Say(unit.Seconds(p.TTFT[1] / 1000).String()), term.Say(term.Significant(p.Mean, 3)), term.Say(fmt.Sprint(p.Peak)),
		term.Say(usd), term.Say(regret)}
}

// autoscaleDay draws the load and the replicas of the best over it.
func autoscaleDay(p *term.Page, r *autoscale.ScalingReport) {
	p.Field("load", term.Join(sparkline(p, r.Load.Rates, r.Load.Peak, term.InkWorking),
		term.Say(fmt.Sprintf("up to %s requests/s, %s on average", term.Significant(r.Load.Peak, 3), term.Significant(r.Load.Mean, 3)))))
	best := r.Drawn()
	if best == nil {
		return
	}
	ready := best.Serving()
	p.Field("replicas", term.Join(sparkline(p, ready, max(1, slices.Max(ready)), term.InkCache),
		term.Say(fmt.Sprintf("of %s, that serve", ShortPolicy(best.Name)))))
}

func sparkline(p *term.Page, all []float64, whole float64, look term.Ink) term.Text {
	if p.Style.Cells() < term.Narrow || len(all) == 0 {
		return nil
	}
	glyphs := []rune(term.SparkGlyphs)
	var b strings.Builder
	for _, x := range term.Sampled(all, 24) {
		b.WriteRune(glyphs[min(max(int(x/(whole*1.001)*float64(len(glyphs))), 0), len(glyphs)-1)])
	}
	return term.Join(term.Say(b.String(), look), term.Say(term.NoBreak+term.NoBreak))
}

// autoscaleFacts are what the table rests on, and what is wrong with policies.
func autoscaleFacts(p *term.Page, r *autoscale.ScalingReport) {
	p.Labelled("a replica", fmt.Sprintf("holds %s requests/s within the goal, %s of them at once; %s at most",
		term.Significant(r.Replica.Holds, 3), term.Significant(r.Replica.In, 3), term.Significant(r.Replica.Capacity, 3)))
	p.Labelled("a start", startWords(r))
	if r.Replica.USD != nil {
		p.Labelled("price", fmt.Sprintf("$%s an hour and replica", dollars(*r.Replica.USD)))
	}
	if x := r.Played; x != nil {
		p.Labelled("played", fmt.Sprintf("%s, %s requests one by one: %s in time, TTFT p50 %s p99 %s", ShortPolicy(x.Policy),
			unit.Count(x.Requests), percent(x.Kept), unit.Seconds(x.TTFT[0]/1000), unit.Seconds(x.TTFT[1]/1000)))
	}
	for i := range r.Policies {
		policyFacts(p, &r.Policies[i])
	}
}

func policyFacts(p *term.Page, x *autoscale.Policy) {
	name := ShortPolicy(x.Name)
	if x.Error != "" {
		p.Labelled(name, x.Error)
	}
	if o := x.Swings; o != nil {
		p.Labelled(name, fmt.Sprintf("oscillates between %d and %d replicas, each %s: %d turns from %s on", o.From, o.To,
			unit.Seconds(o.Period), o.Turns, scale.Clock(o.Begin)))
	}
	if x.Evictions > 0 {
		p.Labelled(name, term.Plural(int64(x.Evictions), "eviction", "evictions"))
	}
	if x.Shed+x.Lost >= 1 {
		p.Labelled(name, fmt.Sprintf("%s requests turned away, %s cut off", unit.Count(int64(x.Shed)), unit.Count(int64(x.Lost))))
	}
	for i, c := range x.Classes {
		p.Labelled(name, fmt.Sprintf("priority %d: %s in time, %s turned away", i, percent(c.Kept), unit.Count(int64(c.Shed))))
	}
}

func startWords(r *autoscale.ScalingReport) string {
	words := unit.Seconds(r.Start.Seconds).String()
	if r.Start.High > r.Start.Low {
		words += fmt.Sprintf(" (%s–%s)", unit.Seconds(r.Start.Low), unit.Seconds(r.Start.High))
	}
	var parts []string
	for _, x := range r.Start.Parts {
		if x.Name != "all" {
			parts = append(parts, fmt.Sprintf("%s %s %s", x.Name, unit.Seconds(x.Seconds), x.Basis))
		}
	}
	if len(parts) > 0 {
		words += ": " + strings.Join(parts, ", ") + "; --start sets yours"
	}
	return words
}
