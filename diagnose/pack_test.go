package diagnose

import (
	"flag"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
)

var updatePack = flag.Bool("update-pack", false, "pack messages.tsv")

// TestPack: the program carries messages.tsv as it is.
func TestPack(t *testing.T) { datatest.Packed(t, "messages.tsv", *updatePack) }
