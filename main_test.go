package memwall

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: tens of thousands of questions leave much garbage over a small heap, and
// collecting it at the usual pace took a third of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
