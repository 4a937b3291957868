package svg

import (
	"fmt"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
)

// FitsBadge says in one small picture the smallest hardware that holds a model, one device before several; "" where none does.
func FitsBadge(a *memwall.Answer) string {
	if len(a.Candidates) == 0 || a.Plan == nil {
		return ""
	}
	c := Smallest(a.Candidates)
	on := c.Change
	if single(on) {
		on = term.GiB(c.Capacity, 0) + " GB"
	}
	return badge(render.ModelName(a.Model)+" · "+a.Plan.Weights, "fits "+on)
}

// Smallest of hardware in order of size: one device before several.
func Smallest(list []memwall.Candidate) *memwall.Candidate {
	for i := range list {
		if single(list[i].Change) {
			return &list[i]
		}
	}
	return &list[0]
}

// single reports whether hardware in words is one device.
func single(words string) bool {
	n, _, several := hardware.CountOf(words)
	return !several || n == 1
}

// RunsBadge says the best model that hardware runs, and how fast; "" where it runs none.
func RunsBadge(a *memwall.Answer) string {
	if len(a.Picks) == 0 || a.Plan == nil {
		return ""
	}
	k := &a.Picks[0]
	words := k.Name + " " + k.Weights
	if k.Speed != nil && k.Speed.Decode != nil {
		words += ", " + term.Significant(*k.Speed.Decode, 2) + " tok/s"
	}
	return badge(a.Plan.Hardware+" runs", words)
}

// badge is two texts beside each other, twenty pixels high.
func badge(left, right string) string {
	const height, space, letter = 20, 8, 6.6
	wide := func(s string) int { return int(letter*float64(term.Cells(s))) + 2*space }
	l, r := wide(left), wide(right)
	words := func(x, room int, s string) string {
		return fmt.Sprintf(`<text x="%d" y="14" textLength="%d">%s</text>`, x+space, room-2*space, escape(s))
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" role="img"><title>%s: %s</title><clipPath id="c"><rect width="%d" height="%d" rx="4"/></clipPath>`, l+r, height, escape(left), escape(right), l+r, height) +
		fmt.Sprintf(`<g clip-path="url(#c)"><path d="M0 0h%dv%dH0z" fill="#454b54"/><path d="M%d 0h%dv%dh-%dz" fill="#2f62c9"/></g>`, l, height, l, r, height, r) +
		`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">` + words(0, l, left) + words(l, r, right) + "</g></svg>\n"
}
