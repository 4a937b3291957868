package llamacpp

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

// TestAbsentArchitectures: what llama.cpp has no architecture for is refused by name; what it loads under another name
// is not, and builds that had one still load it.
func TestAbsentArchitectures(t *testing.T) {
	old, err := Engine{CLI}.ParseVersion("b2000")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model   string
		version engine.Version
		refused bool
	}{
		{"opt-6.7b", Latest, true}, {"gpt-j-6b", Latest, true}, {"mimo-7b", Latest, true}, {"zamba2-7b", Latest, true}, {"fuyu-8b", Latest, true}, {"opt-6.7b", old, true}, {"fuyu-8b", old, false},
		{"bamba-9b", Latest, false}, {"minimax-text-01", Latest, false}, {"glm-4.7-flash", Latest, false}, {"llama-3.1-8b", Latest, false},
	} {
		j := jobOf(t, c.model, "q8_0", cards(t, 1), c.version, plan.Plan{})
		Engine{CLI}.Defaults(j)
		err := Engine{CLI}.Check(j)
		if refused := err != nil && strings.Contains(err.Error(), "no architecture"); refused != c.refused {
			t.Errorf("%s by %v: %v", c.model, c.version, err)
		}
	}
}
