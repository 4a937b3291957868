package cli

import (
	"fmt"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// progress is a line on stderr that is redrawn while a search or a simulation runs; nil draws nothing.
type progress struct {
	a           *app
	start, last time.Time
}

// progress returns the progress line of a question; nil if stderr is not a terminal.
func (a *app) progress() *progress {
	if !a.ErrTerminal {
		return nil
	}
	return &progress{a: a, start: time.Now()}
}

// report returns the function that draws the line.
func (p *progress) report() func(memwall.Progress) {
	if p == nil {
		return nil
	}
	return func(told memwall.Progress) {
		now := time.Now()
		took := now.Sub(p.start)
		if took < silence || now.Sub(p.last) < interval {
			return
		}
		p.last = now
		fmt.Fprintf(p.a.Stderr, "\r\x1b[K%s", p.line(&told, took))
	}
}

// line describes the progress of a question in as many words as fit.
func (p *progress) line(told *memwall.Progress, took time.Duration) string {
	words := append(progressWords(told, took), "Ctrl-C: what is known")
	line := words[0]
	for _, w := range words[1:] {
		if len(line)+len(w)+2 < p.a.width() {
			line += ", " + w
		}
	}
	if r, most := []rune(line), p.a.width()-1; len(r) > most {
		line = string(r[:max(0, most-1)]) + "…"
	}
	return line
}

// progressWords describes the progress of a search by what is decided, of a simulation by requests, rate and time left.
func progressWords(told *memwall.Progress, took time.Duration) []string {
	n, of := told.Requests, told.RequestsOf
	if n == 0 {
		return []string{told.String()}
	}
	rate := float64(n) / took.Seconds()
	out := []string{unit.Count(n) + " requests", unit.Count(int64(rate)) + "/s", unit.Seconds(told.Simulated).String() + " simulated"}
	if of > n {
		out[0] = unit.Count(n) + " of " + unit.Count(of) + " requests"
		out[2] = unit.Seconds(float64(of-n)/rate).String() + " left"
	}
	return out
}

// clear erases the line.
func (p *progress) clear() {
	if p != nil && !p.last.IsZero() {
		fmt.Fprint(p.a.Stderr, "\r\x1b[K")
	}
}
