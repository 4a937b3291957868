package serve

import (
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
