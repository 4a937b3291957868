package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/memwall/memwall/unit"
)

// bytesProgress is a line on stderr that says how much of some files was worked through; nil draws nothing.
type bytesProgress struct {
	mu          sync.Mutex
	a           *app
	start, last time.Time
	of          int64 // that are read
	shown       unit.Bytes
}

// bytesProgress of so many bytes of files, some of which are read twice.
func (a *app) bytesProgress(of int64, files unit.Bytes) *bytesProgress {
	if !a.ErrTerminal {
		return nil
	}
	return &bytesProgress{a: a, start: time.Now(), of: of, shown: files}
}

// report draws the line; it may be called by several workers at once.
func (p *bytesProgress) report(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	took := now.Sub(p.start)
	if took < silence || now.Sub(p.last) < interval {
		return
	}
	p.last = now
	left := unit.Seconds(took.Seconds() * (float64(p.of)/float64(n) - 1))
	fmt.Fprintf(p.a.Stderr, "\r\x1b[K%d %% of %v, %v left, Ctrl-C: what is known", 100*n/max(1, p.of), p.shown, left)
}

// clear takes the line away.
func (p *bytesProgress) clear() {
	if p != nil && !p.last.IsZero() {
		fmt.Fprint(p.a.Stderr, "\r\x1b[K")
	}
}
