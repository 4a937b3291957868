package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLengths: one number a line, and every other line is named.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int64
		bad  string
	}{
		{"12\n# comment\n\n 4096 \n", []int64{12, 4096}, ""}, {"", nil, "no samples"}, {"12\nabc\n", nil, "line 2"}, {"0\n", nil, "line 1"}, {"-5", nil, "line 1"}, {"99999999999", nil, "line 1"},
		{strings.Repeat("1", 70000), nil, "too long"},
	} {
		name := filepath.Join(t.TempDir(), "lengths")
		if err := os.WriteFile(name, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := (Lengths{}).Lengths(name)
		if (err != nil) != (c.bad != "") || err != nil && !strings.Contains(err.Error(), c.bad) || !slices.Equal(got, c.want) {
			t.Errorf("%.20q: %v, %v", c.text, got, err)
		}
	}
	if _, err := (Lengths{}).Lengths("there-is-none"); err == nil {
		t.Error("a file that is not there is read")
	}
}
