package plan

import (
	"strings"
	"testing"
)

// TestWordsMeanOneField: no word stands for two, and every one is found however it is marked.
func TestWordsMeanOneField(t *testing.T) {
	seen := map[string]string{}
	for field, list := range words {
		for _, w := range strings.Fields(list) {
			if seen[w] != "" {
				t.Errorf("%s means %s and %s", w, seen[w], field)
			}
			seen[w] = field
			if FieldCalled(w) != field || FieldCalled("--"+w) != field {
				t.Errorf("%s is %q", w, FieldCalled(w))
			}
		}
	}
	if FieldCalled("tp-size") != "tp" || FieldCalled("Max-Model-Len") != "context" || FieldCalled("xyzzy") != "" {
		t.Error("marks and case count")
	}
}
