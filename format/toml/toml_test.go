package toml

import (
	"strings"
	"testing"
)

// TestRead: tables, keys, lists and texts come as they stand.
func TestRead(t *testing.T) {
	v, err := Read("a = 1 # c\n[b.\"c d\"]\ne = [\"x\\n\", 'y', 2.5,\n]\n")
	if err != nil {
		t.Fatal(err)
	}
	e := v.Of["b"].Of["c d"].Of["e"]
	if v.Of["a"].Text != "1" || len(e.List) != 3 || e.List[0].Text != "x\n" || e.List[2].Text != "2.5" {
		t.Errorf("a = %q, e = %d values", v.Of["a"].Text, len(e.List))
	}
}

// TestWrong: what is no such file is told with its line.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"\n= 1": "a key is missing in line 2", "a 1": "a key has no value", "a = {}": "inline", "a = \"\"\"x\"\"\"": "triple", "[a": "not closed", "a = 1\n[a.b]": "used as a table",
		"a = " + strings.Repeat("[", 100): "deeper", strings.Repeat("a.", 100) + "a = 1": "levels",
	} {
		if _, err := Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// FuzzRead: no text makes it fail.
func FuzzRead(f *testing.F) {
	f.Add("a = 1\n[b]\nc = ['d', \"e\"]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if v, err := Read(text); (v == nil) == (err == nil) {
			t.Error("neither a value nor an error, or both")
		}
	})
}
