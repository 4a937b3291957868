package sim

import (
	"math"
	"testing"
	"time"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// A replica whose step takes as long whatever is in it is a queue of textbooks: seats are servers, answers are services,
// and the prompt of one token is the first step of its answer (Kleinrock, Queueing Systems I, 1975). The simulator is held
// against the recursion of waits on the very same requests, which leaves no statistical error, and that recursion against
// the closed forms over so many requests that little is left of it.

// tick is the time of a step. Who finds a free seat waits for the end of a step all the same, half a tick on average.
const tick = time.Millisecond

// meanAnswer in tokens.
const meanAnswer = 1000

type queueing struct {
	seats int64
	load  float64
	law   workload.Law
}

func (q queueing) source(t *testing.T, seed, requests int64) workload.Source {
	t.Helper()
	s := workload.Spec{Arrivals: "poisson", Rate: q.load * float64(q.seats) / (meanAnswer * tick.Seconds()), Requests: plan.Int(requests),
		Seed:   plan.Int(seed),
		Prompt: workload.Law{Mean: 1}, Output: q.law}
	src, err := s.Source()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// recursion is the mean wait where each request takes the seat that is free first (Lindley, 1952; Kiefer and Wolfowitz,
// 1955).
func (q queueing) recursion(t *testing.T, seed, requests int64) float64 {
	src := q.source(t, seed, requests)
	free := make([]time.Duration, q.seats)
	var sum float64
	for range requests {
		r, _, err := src.Next()
		if err != nil {
			t.Fatal(err)
		}
		first := 0
		for i, at := range free {
			if at < free[first] {
				first = i
			}
		}
		begin := max(r.Arrival, free[first])
		free[first] = begin + time.Duration(r.Output)*tick
		sum += (begin - r.Arrival).Seconds()
	}
	return sum / float64(requests)
}

// simulated mean wait.
func (q queueing) simulated(t *testing.T, seed, requests int64) float64 {
	r := Replica{Policy: Inflight, Timer: func(speed.Batch) float64 { return tick.Seconds() }, MaxSequences: q.seats,
		Budget: max(64, q.seats),
		Paging: Paging{Blocks: 1 << 32, BlockTokens: 1 << 10, Full: 1}}
	out := play(t, r, q.source(t, seed, requests), Options{})
	if out.Finished != requests {
		t.Fatalf("%d of %d requests finished", out.Finished, requests)
	}
	return out.Wait.Mean().Seconds()
}

// closed form of the mean wait.
func (q queueing) closed() float64 {
	service, a := meanAnswer*tick.Seconds(), q.load*float64(q.seats)
	if q.law.Law == "" { // M/D/1
		return service * q.load / (2 * (1 - q.load))
	}
	return erlangC(q.seats, a) * service / (float64(q.seats) - a)
}

// erlangC is the chance to wait for one of c servers at a load of a.
func erlangC(c int64, a float64) float64 {
	sum, term := 0.0, 1.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term * float64(c) / (float64(c) - a)
	return last / (sum + last)
}

// TestQueueing: mean waits of M/M/1, M/D/1 and M/M/c.
func TestQueueing(t *testing.T) {
	exponential, fixed := workload.Law{Law: "exponential", Mean: meanAnswer}, workload.Law{Mean: meanAnswer}
	seeds, requests := int64(20), int64(1_000_000)
	if testing.Short() {
		seeds, requests = 0, 100_000
	}
	for name, q := range map[string]queueing{
		"M/M/1 at 0.5": {1, 0.5, exponential}, "M/M/1 at 0.7": {1, 0.7, exponential},
		"M/D/1 at 0.7": {1, 0.7, fixed}, "M/D/1 at 0.8": {1, 0.8, fixed},
		"M/M/4 at 0.8": {4, 0.8, exponential}, "M/M/16 at 0.8": {16, 0.8, exponential},
	} {
		got, same := q.simulated(t, 1, 40_000), q.recursion(t, 1, 40_000)
		if off := got - same; math.Abs(off) > tick.Seconds() || q.seats == 1 && math.Abs(off) > 1e-8 {
			t.Errorf("%s: a wait of %v s, by the recursion %v s", name, got, same)
		}
		if seeds == 0 {
			continue
		}
		var sum, squares float64
		for seed := range seeds {
			off := q.recursion(t, seed+1000, requests)/q.closed() - 1
			sum, squares = sum+off, squares+off*off
		}
		off := sum / float64(seeds)
		deviation := math.Sqrt((squares/float64(seeds) - off*off) / float64(seeds-1))
		t.Logf("%s: %+.2f %% ± %.2f %% of %.4f s", name, 100*off, 100*deviation, q.closed())
		if math.Abs(off) > 0.01 {
			t.Errorf("%s: a wait of %+.2f %% of %.4f s, ± %.2f %%", name, 100*off, q.closed(), 100*deviation)
		}
	}
}
