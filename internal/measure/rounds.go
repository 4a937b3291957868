package measure

import (
	"context"
	"sync"
	"time"

	"github.com/memwall/memwall/internal/card"
)

// Rounds are repeated at least leastRounds times and until patience is over, but not more than mostRounds times.
const (
	leastRounds = 3
	mostRounds  = 10
	patience    = 600 * time.Millisecond
)

// best repeats a kernel on all threads: a round to warm up, and then the best and the worst of several.
func (w *workers) best(ctx context.Context, kernel func(int) float64) (b card.Best, rounds int) {
	w.together(kernel)
	start := time.Now()
	for rounds < leastRounds || rounds < mostRounds && time.Since(start) < patience {
		if ctx.Err() != nil {
			return b, rounds
		}
		rate := w.together(kernel)
		if rounds == 0 || rate > b.Best {
			b.Best = rate
		}
		if rounds == 0 || rate < b.Worst {
			b.Worst = rate
		}
		rounds++
	}
	return b, rounds
}

// together runs a kernel on all threads at once and gives what they did a second, until the last was done.
func (w *workers) together(kernel func(int) float64) float64 {
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	work := make([]float64, len(w.bytes))
	for i := range work {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			work[i] = kernel(i)
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	took := time.Since(start).Seconds()
	sum := 0.0
	for _, x := range work {
		sum += x
	}
	return sum / max(took, 1e-9)
}
