package render

import "github.com/memwall/memwall"

// SimSVG draws a simulation.
func SimSVG(a *memwall.Answer) []byte { return nil }
