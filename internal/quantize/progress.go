package quantize

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/memwall/memwall/unit"
)

// progress is a line that says how much of some files was worked through; nil draws nothing.
type progress struct {
	mu          sync.Mutex
	out         io.Writer
	start, last time.Time
	of          int64 // that are read
	shown       unit.Bytes
}

// newProgress is of so many bytes of files, some of which are read twice; nil where nobody looks.
func newProgress(out io.Writer, of int64, files unit.Bytes) *progress {
	if out == nil {
		return nil
	}
	return &progress{out: out, start: time.Now(), of: of, shown: files}
}

// report draws the line; it may be called by several workers at once.
func (p *progress) report(n int64) {
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
	fmt.Fprintf(p.out, "\r\x1b[K%d %% of %v, %v left, Ctrl-C: what is known", 100*n/max(1, p.of), p.shown, left)
}

// clear takes the line away.
func (p *progress) clear() {
	if p != nil && !p.last.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// Progress is drawn only where an answer takes longer than a moment, and not more often than an eye follows.
const (
	silence  = 500 * time.Millisecond
	interval = 100 * time.Millisecond
)
