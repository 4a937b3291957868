package spell

import (
	"slices"
	"testing"
)

// slow is the recursive definition.
func slow(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	case a[0] == b[0]:
		return slow(a[1:], b[1:])
	}
	return 1 + min(slow(a[1:], b), slow(a, b[1:]), slow(a[1:], b[1:]))
}

func TestDistance(t *testing.T) {
	words := []string{"", "a", "lama", "llama", "kitten", "sitting", "contxt", "context"}
	for _, a := range words {
		for _, b := range words {
			if got, want := Distance(a, b), slow(a, b); got != want {
				t.Errorf("Distance(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"context", "context_total", "sequences", "kv", "kv_v"}
	if got := Nearest("contxt", names); !slices.Equal(got, []string{"context"}) {
		t.Errorf("contxt: %v", got)
	}
	if got := Nearest("something else", names); got != nil {
		t.Errorf("nothing is near, got %v", got)
	}
}
