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

// FuzzNearest: a distance is one, and near names are near.
func FuzzNearest(f *testing.F) {
	f.Add("contxt", "context", "content")
	f.Add("", "a", "İ")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if max(len(a), len(b), len(c)) > 60 {
			return // of longer words the beginning counts
		}
		ab, ba, bc, ac := Distance(a, b), Distance(b, a), Distance(b, c), Distance(a, c)
		if ab != ba || (ab == 0) != (a == b) || ab > max(len(a), len(b)) || ab < max(len(a), len(b))-min(len(a), len(b)) || ac > ab+bc {
			t.Errorf("%q, %q, %q: %d, %d, %d, %d", a, b, c, ab, ba, bc, ac)
		}
		got := Nearest(a, []string{b, c, b})
		if len(got) > 2 || b == c && len(got) > 1 {
			t.Errorf("%q is near to %q", a, got)
		}
	})
}

// TestNearestOfALongWord: it is near to nothing, at no cost.
func TestNearestOfALongWord(t *testing.T) {
	word := string(make([]byte, 1<<20))
	if n := testing.AllocsPerRun(3, func() {
		if got := Nearest(word, []string{"context", "sequences"}); got != nil {
			t.Errorf("%d near names", len(got))
		}
	}); n > 8 {
		t.Errorf("%g allocations", n)
	}
}
