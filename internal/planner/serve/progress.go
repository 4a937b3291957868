package serve

import (
	"fmt"
	"sync"

	"github.com/memwall/memwall/api"
)

// progress counts the servers simulated in a phase, several of which may run concurrently.
type progress struct {
	one           sync.Mutex
	phase         string
	ended, ending int
	best          string
}

// reportBest reports the state of a search for fleets between parallel batches.
func (p *playing) reportBest() {
	if held := p.feasible(); len(held) > 0 && p.env.HasWatcher() {
		p.best = headline(held[0])
	}
	p.reportProgress(p.phase, p.ended, p.ending)
}

// reportPlayed counts another simulated server and reports it.
func (p *playing) reportPlayed() {
	p.one.Lock()
	defer p.one.Unlock()
	p.ended++
	p.reportProgress(p.phase, p.ended, p.ending)
}

func (s *servers) reportProgress(phase string, done, of int) {
	if !s.env.HasWatcher() {
		return
	}
	s.env.Report(api.Progress{Phase: phase, Done: done, Of: max(done, of), Evaluated: s.evaluated.Copied(), Best: s.best})
}

// headline describes a feasible fleet and its rent.
func headline(c *contender) string {
	words := c.words
	if c.fleet.replicas > 1 {
		words = fmt.Sprintf("%d × %s", c.fleet.replicas, words)
	}
	if m := c.money(c.fleet.replicas); m.PerHour.Known() {
		words += fmt.Sprintf(", $%.2f an hour", m.PerHour.Mid)
	}
	return words
}
