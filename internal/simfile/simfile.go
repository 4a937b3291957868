// Package simfile writes the events of a running simulation to files: requests and series as CSV, steps in Chrome's
// trace format, the workload as a recording. Memory use is bounded; write errors are returned by Close, as with bufio.
//
// See requests.go for the simplest of them.
package simfile

import (
	"strconv"
	"time"

	"github.com/memwall/memwall/sim"
)

var outcomes = [...]string{sim.Finished: "finished", sim.Failed: "failed", sim.Refused: "refused", sim.HungUp: "hung_up"}

// appendSeconds with microseconds, which is finer than any step.
func appendSeconds(b []byte, t time.Duration) []byte {
	return strconv.AppendFloat(b, t.Seconds(), 'f', 6, 64)
}
