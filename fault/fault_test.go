package fault

import "testing"

// TestError: what is known of the place is told, and nothing else.
func TestError(t *testing.T) {
	for want, e := range map[string]*Error{
		"is empty":                        {Problem: "is empty"},
		"line 7: is empty":                In("", 7, "is empty", ""),
		"a.yaml is empty":                 In("a.yaml", 0, "is empty", "fill it"),
		"a.yaml: line 7: is empty":        In("a.yaml", 7, "is empty", ""),
		"a.yaml: heads = 3 is odd":        {File: "a.yaml", Field: "heads", Value: "3", Problem: "is odd"},
		"line 2: the file nests too deep": {Line: 2, Field: "the file", Problem: "nests too deep"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if In("a", 0, "is empty", "fill it").Hint() != "fill it" {
		t.Error("no fix")
	}
}
