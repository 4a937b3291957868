package serve

import (
	"testing"

	"github.com/memwall/memwall/internal/heaptest"
)

func TestMain(m *testing.M) { heaptest.Run(m) }
