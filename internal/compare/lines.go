package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/ledger"
)

// estimate is a predicted figure in the unit of the printed one.
type estimate struct {
	value, low, high float64
	basis            ledger.Basis
	known            bool
	why              string
}

func exactly(x float64) estimate {
	return estimate{value: x, low: x, high: x, known: true}
}

func unknown(format string, args ...any) estimate {
	return estimate{why: fmt.Sprintf(format, args...)}
}

// times converts the unit.
func (e estimate) times(x float64) estimate {
	e.value, e.low, e.high = e.value*x, e.low*x, e.high*x
	return e
}

// plus adds a multiple of another estimate; an unknown one makes the sum unknown.
func (e estimate) plus(more estimate, times float64) estimate {
	e.value, e.low, e.high = e.value+times*more.value, e.low+times*more.low, e.high+times*more.high
	e.known = e.known && more.known
	return e
}

// total returns an estimate in bytes.
func total(t ledger.Total) estimate {
	return estimate{value: float64(t.Bytes), low: float64(t.Low), high: float64(t.High), basis: t.Basis, known: !t.Unknown}
}

// linesOf pairs every printed figure with an estimate; equal figures of several devices form one line.
func linesOf(log *startup.Log, estimated func(*startup.Figure) estimate) (out []api.Line) {
	seen := map[string]int{}
	for _, f := range log.Figures {
		if f.ID == "cells" {
			continue // included in the sizes of the caches
		}
		key := f.ID + "\x00" + f.Name + "\x00" + f.Text
		if i, ok := seen[key]; ok && !strings.HasSuffix(f.ID, "_buffer") {
			out[i].Device = alsoOn(out[i].Device, f.Device)
			continue
		}
		seen[key] = len(out)
		out = append(out, line(&f, estimated(&f), ""))
	}
	return out
}

// alsoOn joins the names of devices that print the same figure.
func alsoOn(have, more string) string {
	if more == "" || have == more || strings.HasSuffix(have, " "+more) || strings.Contains(have, more+",") {
		return have
	}
	if have == "" {
		return more
	}
	return have + ", " + more
}

// line pairs a printed figure with an estimate. given names the printed input of the estimate.
func line(f *startup.Figure, e estimate, given string) api.Line {
	l := api.Line{Name: f.Name, Device: f.Device, Unit: f.Unit, Digits: f.Digits, Given: given, Why: e.why, At: f.Line}
	printed := f.Value
	l.Printed = &printed
	if e.known {
		difference := e.value - printed
		l.Ours, l.Low, l.High, l.Difference, l.Basis = &e.value, &e.low, &e.high, &difference, &e.basis
		half := f.Half() * (1 + 1e-9)
		l.Equal = math.Abs(difference) <= half
		l.Within = e.low-half <= printed && printed <= e.high+half
		if given != "" {
			l.Equal = l.Within
		}
	}
	return l
}

// smallest returns the smallest of the ranks' figures of a kind, which is the one that applies; nil if none is printed.
func smallest(log *startup.Log, id string) (least *startup.Figure) {
	for i := range log.Figures {
		if f := &log.Figures[i]; f.ID == id && (least == nil || f.Value < least.Value) {
			least = f
		}
	}
	return least
}
