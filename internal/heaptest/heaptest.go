// Package heaptest makes tests that ask thousands of questions collect garbage less often: with a small heap,
// collection takes a fifth of their time.
package heaptest

import (
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// percent is by how much a heap may grow before it is collected, in per cent of what is alive.
const percent = 400

// Percent is that as GOGC, for programs that tests start.
func Percent() string { return strconv.Itoa(percent) }

// Run is the TestMain of a package.
func Run(m *testing.M) {
	debug.SetGCPercent(percent)
	os.Exit(m.Run())
}
