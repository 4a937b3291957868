package serve

import (
	"math"
	"slices"

	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/speed/serving"
)

// What nobody measured may be far off, and a search for the best of many finds what is most off the right way. A fleet of a device, an
// engine and a layout without a measured run is therefore ranked by its slow edge.

// runsOf a server is how many measured runs of its device, engine and layout its times rest on; of llama.cpp's kin how many figures of
// the device, where it is one. Who measured the device himself has one more.
func runsOf(s *simulate.Simulation) (runs int64) {
	q := s.Question
	d := q.Job.Device(0)
	if d == nil {
		return 0
	}
	if s.Stream != nil {
		return int64(s.Stream.Figures())
	}
	if c := q.Env.Calibration; c != nil && c.Table(timing.ServingTable, d.ID) != nil {
		runs = 1
	}
	return runs + int64(serving.CombinationOf(d.ID, q.Engine.Name(), q.Job.Version, &q.Request.Plan).Runs())
}

// measured reports whether any run of the server's kind stands behind its times.
func (c *contender) measured() bool { return c.runs > 0 }

// cautious are the dollars, the devices and the time of an answer that a fleet is ranked by: its own where its kind was measured, else
// those of its slow edge.
func (c *contender) cautious(g *goalSearch) (dollars, devices, life float64) {
	n := c.fleet.replicas
	dollars, devices, life = g.dollars(c, n), float64(n*c.devices), g.requestSeconds(c, n)
	if c.measured() {
		return dollars, devices, life
	}
	if c.fleet.atSlowEdge == 0 || c.fleet.edges.high == nil {
		return math.Inf(1), math.Inf(1), math.Inf(1)
	}
	more := float64(c.fleet.atSlowEdge) / float64(n)
	slow := simulate.FourDigits(1000*c.fleet.edges.high.res.Whole.Mean().Seconds()) / 1000
	return max(1, more) * dollars, max(1, more) * devices, max(life, slow)
}

// guard ranks the fleets by what they are known for, once the slow edges are played. Where none was measured all are as
// uncertain, and what counts is the middle of the band.
func (g *goalSearch) guard(all []*contender) error {
	if !slices.ContainsFunc(all, (*contender).measured) {
		return nil
	}
	g.guarded = true
	var unmeasured []*contender
	for _, c := range all {
		if !c.measured() {
			unmeasured = append(unmeasured, c)
		}
	}
	if err := g.inParallel(unmeasured, func(c *contender) error { return c.replicasAtSlowEdge(g) }); err != nil {
		return err
	}
	for _, c := range unmeasured {
		dollars, devices, life := c.cautious(g)
		unpriced := c.fleet.unpriced
		c.fleet.objective = g.weigh(c, dollars, devices, life)
		c.fleet.unpriced = unpriced
	}
	return nil
}
