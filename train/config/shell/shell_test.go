package shell

import (
	"slices"
	"testing"
)

// TestWords: quotes hold words together, a backslash joins lines, and comments are left out.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"a  'b c' \"d\"e # f\n", []string{"a", "b c", "de", "\n"}},
		{"a \\\n b;(c)", []string{"a", "b", ";", "(", "c", ")"}},
		{"''", []string{""}},
		{"a#b 'open", []string{"a#b", "open"}},
		{"\\", []string{"\\"}},
		{"", nil},
	} {
		if got := Words(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFlags: flags in one pair of quotes, or behind others in a variable, are words of their own.
func TestFlags(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"--tp 2", "x y"}, []string{"--tp", "2", "x y"}},
		{[]string{"ARGS= $MORE --tp 2"}, []string{"$MORE", "--tp", "2", "\n"}},
		{[]string{"NAME=a b", "1A=--tp 2"}, []string{"NAME=a b", "1A=--tp 2"}},
	} {
		if got := Flags(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// TestExpand: a variable that nothing sets stands as it is written, unless it has a value of its own.
func TestExpand(t *testing.T) {
	for in, want := range map[string]string{"$A": "1", "${A}": "1", "${B:-2}": "2", "$B": "$B", "a$A": "a$A", "$": "$"} {
		if got := Expand(in, map[string]string{"A": "1"}); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
