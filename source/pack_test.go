package source

import (
	"flag"
	"testing"

	"github.com/memwall/memwall/internal/datatest"
)

var updatePack = flag.Bool("update-pack", false, "pack modules.txt")

// TestPack: the program carries modules.txt as it is.
func TestPack(t *testing.T) { datatest.Packed(t, "modules.txt", *updatePack) }
