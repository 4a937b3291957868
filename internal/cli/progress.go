package cli

import (
	"fmt"
	"time"

	"github.com/memwall/memwall/unit"
)

// progress is a line on stderr that is rewritten while a simulation runs; nil draws nothing.
type progress struct {
	a           *app
	start, last time.Time
	of          int64 // requests in all; 0 where nobody knows
}

// progress of so many requests, where stderr is a terminal.
func (a *app) progress(of int64) *progress {
	if !a.ErrTerminal {
		return nil
	}
	return &progress{a: a, start: time.Now(), of: of}
}

// report draws the line.
func (p *progress) report() func(int64, time.Duration) {
	if p == nil {
		return nil
	}
	return func(n int64, simulated time.Duration) {
		now := time.Now()
		took := now.Sub(p.start)
		if took < silence || now.Sub(p.last) < interval {
			return
		}
		p.last = now
		fmt.Fprintf(p.a.Stderr, "\r\x1b[K%s", p.line(n, simulated, took))
	}
}

// line says how far the simulation is: requests, rate, and how long it will go on, as much of it as the line holds.
func (p *progress) line(n int64, simulated, took time.Duration) string {
	rate := float64(n) / took.Seconds()
	words := []string{unit.Count(n) + " requests", unit.Count(int64(rate)) + "/s", unit.Seconds(simulated.Seconds()).String() + " simulated", "Ctrl-C: what is known"}
	if p.of > n && n > 0 {
		words[0] = unit.Count(n) + " of " + unit.Count(p.of) + " requests"
		words[2] = unit.Seconds(float64(p.of-n)/rate).String() + " left"
	}
	line := words[0]
	for _, w := range words[1:] {
		if len(line)+len(w)+2 < p.a.width() {
			line += ", " + w
		}
	}
	return line
}

// clear takes the line away.
func (p *progress) clear() {
	if p != nil && !p.last.IsZero() {
		fmt.Fprint(p.a.Stderr, "\r\x1b[K")
	}
}
