package train

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/unit"
)

// The deciding term is found by comparing the time per token, term by term, with the best plan's.

// term is a part of the time per token.
type term struct {
	name    string
	seconds float64
}

// Names of the parts of a step. Compute parts are one term, without recomputation.
var (
	computing = []string{"products", "experts", "attention", "element-wise", "loss", "dequantisation"}
	onceOnly  = []string{"reduce", "optimizer", "fixed", "copies", "host optimizer", "nvme", "generation"} // per step, not per pass
	termNames = map[string]string{"tp": "TP traffic", "ep": "EP traffic", "cp": "CP traffic", "pp": "PP traffic",
		"sharding": "gathering weights", "reduce": "reducing gradients",
		"host": "launches", "dispatch": "dispatch", "fixed": "fixed", "nvme": "NVMe", "host optimizer": "optimizer on the host",
		"copies": "copies to the host"}
)

// terms returns the terms of the time per token in the order of the parts of a step: compute, recomputation, pipeline bubbles, and
// the rest.
func (d *detail) terms() []term {
	again, bubble := 0.0, term{"bubble", 0}
	if d.step.HFU > 0 {
		again = 1 - d.step.MFU/d.step.HFU
	}
	compute, recompute := term{"computing", 0}, term{"recompute", 0}
	var rest []term
	for i := range d.step.Parts {
		part := &d.step.Parts[i]
		x := part.Seconds / d.tokens
		if !slices.Contains(onceOnly, part.Name) {
			bubble.seconds += x * d.step.Bubble
			x *= 1 - d.step.Bubble
		}
		if slices.Contains(computing, part.Name) {
			compute.seconds, recompute.seconds = compute.seconds+x*(1-again), recompute.seconds+x*again
			continue
		}
		rest = append(rest, term{cmp.Or(termNames[part.Name], part.Name), x})
	}
	return append([]term{compute, recompute, bubble}, rest...)
}

// Shares worth mentioning, and how many.
const (
	worthSaying = 0.005
	fewTerms    = 3
)

// why explains a plan's position relative to the best.
func why(want string, d, best *detail) string {
	switch {
	case !d.timed():
		return "how long a step takes is not known"
	case d.candidate == best.candidate:
		return winning(d)
	case want == "devices" && d.site.devices != best.site.devices:
		return figures(float64(d.site.devices)/float64(best.site.devices)) + " times the devices, " + longer(d, best)
	case want != "cost" || !best.priced():
		return slowness(d, best)
	case !d.priced():
		return "no price is known; " + slowness(d, best)
	case *d.site.perHour == *best.site.perHour:
		return slowness(d, best)
	}
	more := percentMore(d.perMillion/best.perMillion, "dearer", "cheaper") + ": rent × " + figures(*d.site.perHour / *best.site.perHour)
	if d.perToken < best.perToken {
		return more + ", " + longer(d, best)
	}
	return more + ", " + slowness(d, best)
}

// longer describes how much longer a plan takes.
func longer(d, best *detail) string {
	return percentMore(d.perToken/best.perToken, "slower", "less time")
}

// slowness describes how much longer a plan takes and the terms responsible, as shares of the best plan's time.
func slowness(d, best *detail) string {
	out := longer(d, best)
	var more []term
	base := best.terms()
	for _, t := range d.terms() {
		more = append(more, term{t.name, (t.seconds - secondsOf(base, t.name)) / best.perToken})
	}
	if words := largest(more, "+"); words != "" && d.perToken > best.perToken {
		out += ": " + words
	}
	return out
}

func secondsOf(terms []term, name string) (sum float64) {
	for _, t := range terms {
		if t.name == name {
			sum += t.seconds
		}
	}
	return sum
}

// winning describes the time the best plan spends on other than compute.
func winning(d *detail) string {
	terms := d.terms()[1:]
	for i := range terms {
		terms[i].seconds /= d.perToken
	}
	if words := largest(terms, ""); words != "" {
		return words + " of a step"
	}
	return "computing is nearly all of a step"
}

// largest returns the largest terms worth mentioning, as percentages.
func largest(terms []term, mark string) string {
	stable.Sort(terms, func(a, b term) int { return -cmp.Compare(a.seconds, b.seconds) })
	var out []string
	for _, t := range terms[:min(len(terms), fewTerms)] {
		if t.seconds >= worthSaying {
			out = append(out, fmt.Sprintf("%s %s%s %%", t.name, mark, figures(100*t.seconds)))
		}
	}
	return strings.Join(out, ", ")
}

// percentMore formats a ratio as "12 % slower", or "as fast", with the given words.
func percentMore(ratio float64, more, less string) string {
	switch {
	case ratio >= 2:
		return figures(ratio) + " × " + more
	case ratio >= 1.0005:
		return figures(100*(ratio-1)) + " % " + more
	case ratio <= 0.9995:
		return figures(100*(1-ratio)) + " % " + less
	}
	return "not " + more
}

// figures formats a number with two significant digits.
func figures(x float64) string { return unit.Significant(x, 2) }
