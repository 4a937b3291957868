package memwall

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/memwall/memwall/unit"
)

// Progress says how far a question is that takes a while. What is not known is 0 or "".
type Progress struct {
	// Phase is what is being done, one of Phases.
	Phase string `json:"phase"`
	// Done of Of parts of the phase are over: ways to run a model, changes, machines, servers.
	Done int `json:"done,omitempty"`
	Of   int `json:"of,omitempty"`
	// Evaluated are plans that were decided by now, and those of them that were sized: bounds pruned the others.
	Evaluated *Evaluated `json:"evaluated,omitempty"`
	// Best so far, in words.
	Best string `json:"best,omitempty"`
	// Requests of a simulation that have ended, and the seconds that it has come to, of all.
	Requests    int64   `json:"requests,omitempty"`
	RequestsOf  int64   `json:"requests_of,omitempty"`
	Simulated   float64 `json:"simulated_s,omitempty"`
	SimulatedOf float64 `json:"simulated_of_s,omitempty"`
}

// Phases of questions that take a while, and what is done in each, in the order in which they come.
func Phases() [][2]string {
	return [][2]string{
		{phaseSearch, "plans are decided, way by way, model by model or layout by layout"}, {phaseLoose, "nothing fits: plans that change what was given are decided too"},
		{phaseLadder, "single changes are tried"}, {phaseEstimate, "servers are listed and estimated, machine by machine"}, {phasePlay, "the most promising servers are played at the load"},
		{phaseVary, "the best are played with other settings"}, {phaseDetail, "the fleets that will be told of are played at the edges of their bands and at other loads"},
		{phaseSimulate, "the plan itself is played"}, {phaseCapacity, "it is played with more than it can serve"}, {phaseBands, "it is played at the edges of its band"}, {phaseReplicas, "it is played with more replicas"}, {phaseVersus, "it is played without one of its techniques"},
	}
}

const (
	phaseSearch   = "search"
	phaseLoose    = "loosen"
	phaseLadder   = "ladder"
	phaseEstimate = "estimate"
	phasePlay     = "play"
	phaseVary     = "vary"
	phaseDetail   = "detail"
	phaseSimulate = "simulate"
	phaseCapacity = "capacity"
	phaseBands    = "bands"
	phaseReplicas = "replicas"
	phaseVersus   = "versus"
)

// String is the progress in a line.
func (p Progress) String() string {
	out := []string{p.Phase}
	count := func(what string, n, of int64) {
		switch {
		case of > 0:
			out = append(out, fmt.Sprintf("%s%s of %s", what, unit.Count(n), unit.Count(of)))
		case n > 0:
			out = append(out, what+unit.Count(n))
		}
	}
	count("", int64(p.Done), int64(p.Of))
	if e := p.Evaluated; e != nil && e.Decided > 0 {
		count("plans ", int64(e.Decided), 0)
	}
	if p.Requests > 0 {
		count("requests ", p.Requests, p.RequestsOf)
	}
	if p.Best != "" {
		out = append(out, "best so far: "+p.Best)
	}
	return strings.Join(out, ", ")
}

// tell who watches how far a question is.
func (a *Asker) tell(p Progress) {
	if a.watched() {
		a.Watch.Progress(p)
	}
}

// watched: somebody wants to know how far questions are.
func (a *Asker) watched() bool { return a.Watch != nil && a.Watch.Progress != nil }

// copied is what it is now, for who is told.
func (e Evaluated) copied() *Evaluated { return &e }

// phaseIn is a phase of a run that is told of.
func phaseIn(of, phase string) string {
	if of == "" {
		return ""
	}
	return phase
}

// came tells how far a run of a simulation is.
func (s *simulation) came(requests int64, at time.Duration) {
	if s.phase == "" || !s.q.asker.watched() {
		return
	}
	p := Progress{Phase: s.phase, Requests: requests, RequestsOf: int64(s.spec.Requests), Simulated: at.Seconds(), SimulatedOf: s.spec.DurationS}
	if rate := s.spec.Rate; p.SimulatedOf == 0 && rate > 0 {
		p.SimulatedOf = float64(s.spec.Requests) / rate
	}
	s.q.asker.tell(p)
}

// searched tells how far a search near a plan is.
func (p *planner) searched(phase string, done, of, decided, full int, best []Candidate) {
	if !p.asker.watched() {
		return
	}
	told := Progress{Phase: phase, Done: done, Of: of, Evaluated: &Evaluated{p.evaluated.Decided + decided, p.evaluated.Full + full}}
	if len(best) > 0 {
		told.Best = best[0].Change
	}
	p.asker.tell(told)
}

// came tells how far a search for models is.
func (p *picker) came(done, of int, found []Pick) {
	if !p.asker.watched() {
		return
	}
	told := Progress{Phase: phaseSearch, Done: done, Of: of, Evaluated: p.evaluated.copied()}
	if len(found) > 0 {
		told.Best = found[0].Model
	}
	p.asker.tell(told)
}

// goalProgress is how many servers of a phase have been played, by several at a time.
type goalProgress struct {
	one           sync.Mutex
	phase         string
	ended, ending int
	best          string
}

// come tells where a search for fleets is, between what is done together.
func (g *goalSearch) come() {
	if held := g.held(); len(held) > 0 && g.asker.watched() {
		g.best = held[0].headline(g)
	}
	g.came(g.phase, g.ended, g.ending)
}

// over: another server has been played.
func (g *goalSearch) over() {
	g.one.Lock()
	defer g.one.Unlock()
	g.ended++
	g.came(g.phase, g.ended, g.ending)
}

func (g *goalSearch) came(phase string, done, of int) {
	if !g.asker.watched() {
		return
	}
	g.asker.tell(Progress{Phase: phase, Done: done, Of: max(done, of), Evaluated: g.evaluated.copied(), Best: g.best})
}

// headline of a fleet that holds: what it is, and its rent.
func (c *contender) headline(g *goalSearch) string {
	words := c.words
	if c.fleet.replicas > 1 {
		words = fmt.Sprintf("%d × %s", c.fleet.replicas, words)
	}
	if m := g.money(c, c.fleet.replicas); m.PerHour.Known() {
		words += fmt.Sprintf(", $%.2f an hour", m.PerHour.Mid)
	}
	return words
}

// came tells how far a search for plans that train is, in sites.
func (s *trainSearch) came(done int) {
	if !s.asker.watched() {
		return
	}
	told := Progress{Phase: phaseSearch, Done: done, Of: len(s.sites), Evaluated: s.evaluated.copied()}
	if s.offloads {
		told.Phase = phaseLoose
	}
	if len(s.found.best) > 0 {
		told.Best = s.found.best[0].words(s.original)
	}
	s.asker.tell(told)
}
