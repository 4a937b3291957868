// Package measure measures how fast this machine's processors read, copy and combine memory, and how fast they multiply
// and add: the figures from which CPU inference is predicted. It takes about a second, using all processors, on buffers
// larger than any cache.
//
// See measure.go for what is measured, rounds.go for how often.
package measure

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"time"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/unit"
)

// Bounds on the buffers of all threads together: four times the last cache, where memory allows.
const (
	least   = 256 * unit.MiB
	most    = 8 * unit.GiB
	caches  = 4
	sharing = 4 // of what is free, one part is taken
)

// Run measures the machine that l describes, and ends early when ctx does.
func Run(ctx context.Context, l *card.Local) *card.Measured {
	start := time.Now()
	m := &card.Measured{Threads: runtime.GOMAXPROCS(0), Buffer: buffer(l)}
	if l.Processor != nil {
		m.Processor = l.Processor.Name
	}
	w := newWorkers(m.Threads, m.Buffer)
	for _, k := range []struct {
		into *card.Best
		work func(int) float64
	}{{&m.Read, w.read}, {&m.Copy, w.copy}, {&m.Triad, w.triad}, {&m.FMA, w.fma}} {
		n := 0
		if *k.into, n = w.best(ctx, k.work); n > m.Rounds {
			m.Rounds = n
		}
	}
	m.Took = unit.Seconds(time.Since(start).Seconds())
	return m
}

// buffer is what the threads go through together in a round.
func buffer(l *card.Local) unit.Bytes {
	b := least
	if l.Processor != nil {
		b = max(b, caches*l.Processor.Cache)
	}
	b = min(b, most)
	if l.Host != nil && l.Host.Free > 0 {
		b = min(b, l.Host.Free/sharing)
	}
	return max(b, unit.MiB)
}

// workers have memory of their own each, and write to it before it is measured: pages that nobody wrote are one page.
type workers struct {
	bytes   [][]byte
	numbers [][]float64
	sums    []float64
}

const none = 1 // a byte that the buffers do not hold

func newWorkers(n int, all unit.Bytes) *workers {
	w := &workers{bytes: make([][]byte, n), numbers: make([][]float64, n), sums: make([]float64, n)}
	each := max(4096, int(all)/n) &^ 63
	w.together(func(i int) float64 {
		w.bytes[i], w.numbers[i] = make([]byte, each), make([]float64, each/8)
		for j := range w.bytes[i] {
			w.bytes[i][j] = 2
		}
		for j := range w.numbers[i] {
			w.numbers[i][j] = 1
		}
		return 0
	})
	return w
}

// read looks for a byte that is not there, which the runtime does with vectors on every processor of servers and desktops.
// It gives the bytes read.
func (w *workers) read(i int) float64 {
	if bytes.IndexByte(w.bytes[i], none) >= 0 {
		return 0
	}
	return float64(len(w.bytes[i]))
}

// copy moves one half of the buffer to the other. It gives the bytes read and written.
func (w *workers) copy(i int) float64 {
	b := w.bytes[i]
	half := len(b) / 2
	return 2 * float64(copy(b[:half], b[half:2*half]))
}

// triad is STREAM's: a[j] = b[j] + s × c[j] over thirds of the buffer. It gives the bytes read and written, 24 for each j.
func (w *workers) triad(i int) float64 {
	n := len(w.numbers[i]) / 3
	a, b, c := w.numbers[i][:n], w.numbers[i][n:2*n], w.numbers[i][2*n:3*n]
	for j := range a {
		a[j] = b[j] + 3*c[j]
	}
	return 24 * float64(n)
}

// fma multiplies and adds in registers, eight chains side by side. It gives the operations, two for each.
func (w *workers) fma(i int) float64 {
	const times = 4_000_000
	x, y := 0.999999, 1e-9
	a, b, c, d, e, f, g, h := 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0
	for range times {
		a, b, c, d = math.FMA(a, x, y), math.FMA(b, x, y), math.FMA(c, x, y), math.FMA(d, x, y)
		e, f, g, h = math.FMA(e, x, y), math.FMA(f, x, y), math.FMA(g, x, y), math.FMA(h, x, y)
	}
	w.sums[i] = a + b + c + d + e + f + g + h // or the loop would be left out
	return 2 * 8 * times
}
