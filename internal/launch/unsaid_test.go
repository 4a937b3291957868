package launch

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/vllm"
)

// TestUnsaidTable: every line is read whole, with a version where it has one, and vLLM's is that from which its rules write the flag.
func TestUnsaidTable(t *testing.T) {
	rows := 0
	for line := range strings.Lines(unsaidText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) < 3 || len(cells) > 4 || cells[0] == "" || cells[2] == "" {
			t.Fatalf("%q is not a row", line)
		}
		u := unsaid()[rows]
		if u.Field != cells[0] || (u.Until != engine.Version{}) != (len(cells) == 4) {
			t.Errorf("%q is read as %+v", line, u)
		}
		if u.Field == "linear_backend" && u.Until != vllm.NamesLinear {
			t.Errorf("%s holds up to %s, vLLM writes it from %s on", u.Field, u.Until, vllm.NamesLinear)
		}
		if u.Field == "moe_backend" && u.Until != vllm.NamesKernels {
			t.Errorf("%s holds up to %s, vLLM writes it from %s on", u.Field, u.Until, vllm.NamesKernels)
		}
		rows++
	}
	if rows != len(unsaid()) {
		t.Errorf("%d rows, %d read", rows, len(unsaid()))
	}
}
