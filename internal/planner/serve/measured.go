package serve

import (
	"github.com/memwall/memwall/internal/simulate"
	"github.com/memwall/memwall/internal/timing"
	"github.com/memwall/memwall/speed/serving"
)

// Unmeasured configurations may be far off, and a search for the best of many selects those that err in their favor. A fleet of a
// device, engine and layout without a measured run is therefore ranked by its slow edge.

// runsOf returns the number of measured runs of a server's device, engine and layout that its times rest on; for engines based on
// llama.cpp, the number of figures for a single device. The user's own measurement adds one.
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
