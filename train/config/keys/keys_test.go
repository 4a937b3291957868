package keys

import (
	"slices"
	"strings"
	"testing"
)

// TestListsNameTheirSource: every list of keys says which version of what it is from, and is sorted without repeats.
func TestListsNameTheirSource(t *testing.T) {
	for name, l := range parsed() {
		version, files, _ := strings.Cut(l.head, ": ")
		if !strings.ContainsAny(version, "0123456789") || !strings.Contains(files, ".py") && !strings.Contains(files, ".yaml") {
			t.Errorf("%s is from nowhere: %q", name, l.head)
		}
		if len(l.keys) < 8 || !slices.IsSorted(l.keys) || len(slices.Compact(slices.Clone(l.keys))) != len(l.keys) {
			t.Errorf("%s: %d keys, sorted %t", name, len(l.keys), slices.IsSorted(l.keys))
		}
	}
}
