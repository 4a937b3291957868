package sim

import (
	"testing"
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// A replica gets requests in its own time alone, finishes what it has after it, and who finds none waits for the next.
func TestReplicasComeAndGo(t *testing.T) {
	alike := Replica{Policy: Inflight, Timer: func(speed.Batch) float64 { return 0.01 }, MaxSequences: 64, Budget: 2048, MaxLength: 4096,
		Paging: Paging{Blocks: 1 << 16, BlockTokens: 16, Full: 1}}
	first, second := alike, alike
	first.Until, second.From = 10*time.Second, 20*time.Second
	spec := workload.Spec{Arrivals: "poisson", Rate: 10, Requests: 400, Seed: 3, Prompt: workload.Law{Law: "fixed", Mean: 10},
		Output: workload.Law{Law: "fixed", Mean: 100}}
	src, err := spec.Source()
	if err != nil {
		t.Fatal(err)
	}
	waited, by := 0, [2]int{}
	res, err := Run(&Fleet{Replicas: []Replica{first, second}, Router: LeastLoaded()}, src, Options{Each: func(d *Done) {
		by[d.Replica]++
		switch at := d.Arrival; {
		case at < first.Until && d.Replica != 0, at >= second.From && d.Replica != 1:
			t.Errorf("a request of %v went to replica %d", at, d.Replica)
		case at >= first.Until && at < second.From:
			waited++
			if d.First < second.From || d.Replica != 1 {
				t.Errorf("a request of %v was served at %v by %d", at, d.First, d.Replica)
			}
		}
	}})
	if err != nil || res.Finished != 400 || waited < 60 || by[0] < 60 || by[1] < 200 {
		t.Errorf("%v: %d finished, %d waited, %v", err, res.Finished, waited, by)
	}
	src, _ = spec.Source()
	if res, err := Run(&Fleet{Replicas: []Replica{first}, Router: LeastLoaded()}, src, Options{}); err != nil || res.Refused < 200 {
		t.Errorf("%v: %d refused where no replica comes any more", err, res.Refused)
	}
	first.Until, first.From = time.Second, time.Second
	if _, err := Run(&Fleet{Replicas: []Replica{first}, Router: LeastLoaded()}, src, Options{}); err == nil {
		t.Error("a replica that never serves is taken")
	}
}
