// Package simfile writes what happens in a simulation to files while it runs: requests and series as CSV, steps as a
// trace of Chrome's format, what was asked as a recording. None of them keeps more than it must; errors of a writer are
// told by who closes it, as bufio's are.
//
// Open requests.go for the plainest of them.
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
