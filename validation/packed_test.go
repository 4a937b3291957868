package validation

import (
	"fmt"
	"os"
	"testing"

	"github.com/memwall/memwall/internal/heaptest"
	"github.com/memwall/memwall/validation/packed"
)

// TestMain judges no rows but those of the tree: scores of others would be written into the pages.
func TestMain(m *testing.M) {
	if err := packed.Check(os.DirFS(".")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	heaptest.Run(m)
}
