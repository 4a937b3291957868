package safe_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memwall/memwall/safe"
)

// hidden are letters that no reader sees or a terminal obeys; seen are ordinary ones beside them.
const (
	hidden = "\x00\x1b\x7f\u0080\u009b\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\U000e0001\U000e0041\U000e007f"
	seen   = " ~\u00a0\u00ad\u200a\u2010\u2030\u2070äπ中😀\U000e0100\ufffd"
)

func TestRune(t *testing.T) {
	for _, r := range hidden {
		if safe.Rune(r) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range seen {
		if !safe.Rune(r) {
			t.Errorf("%U is not shown", r)
		}
	}
	if got := safe.Text("a\u202eb\nc\td\x1b", "\n\t"); got != "a?b\nc\td?" {
		t.Errorf("%q", got)
	}
	if got := safe.Text(seen, ""); got != seen {
		t.Errorf("%q", got)
	}
}

// TestJSON: what is parsed is the same, and nothing unsafe stands in the bytes.
func TestJSON(t *testing.T) {
	in, err := json.Marshal(map[string]any{hidden: []string{seen, hidden + seen, ""}, "n": 1.5})
	if err != nil {
		t.Fatal(err)
	}
	check(t, in)
	if got := string(
		safe.JSON([]byte("{\n  \"a\": \"\u009bä\U000e0041\x7f\"\n}\n"))); got != "{\n  \"a\": \"\\u009bä\\udb40\\udc41\\u007f\"\n}\n" {
		t.Errorf("%q", got)
	}
}

func check(t *testing.T, in []byte) {
	t.Helper()
	out := safe.JSON(in)
	var a, b any
	if json.Unmarshal(in, &a) != nil {
		return
	}
	if err := json.Unmarshal(out, &b); err != nil {
		t.Fatalf("%q became %q: %v", in, out, err)
	}
	first, _ := json.Marshal(a)
	second, _ := json.Marshal(b)
	if string(first) != string(second) {
		t.Errorf("%q became %q", in, out)
	}
	for _, r := range string(out) {
		if !safe.Rune(r) && r >= ' ' {
			t.Errorf("%q keeps %U", out, r)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(hidden + seen)
	f.Fuzz(func(t *testing.T, s string) {
		in, err := json.Marshal([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		check(t, in)
		if got := safe.Text(s, ""); utf8.RuneCountInString(got) != utf8.RuneCountInString(s) ||
			strings.ContainsFunc(got, func(r rune) bool { return !safe.Rune(r) }) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// TestWord: words that a shell takes as they are stay, all others stand in quotes.
func TestWord(t *testing.T) {
	for give, want := range map[string]string{"a/b-c_1.gguf": "a/b-c_1.gguf", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := safe.Word(give); got != want {
			t.Errorf("%q: %s, want %s", give, got, want)
		}
	}
}
