package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
)

// Standard input is there as often as it is asked for, and a file too.
func TestTracesAreReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(name, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Traces{Stdin: strings.NewReader("a line\n")}
	for range 2 {
		for _, from := range []string{"-", name} {
			r, err := s.Trace(from)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if closed := r.Close(); err != nil || closed != nil || string(text) != "a line\n" {
				t.Errorf("%s: %q, %v, %v", from, text, err, closed)
			}
		}
	}
}

func TestTracesThatAreNone(t *testing.T) {
	for name, why := range map[string]string{"missing": "no such file", t.TempDir(): "is a folder", "-": "not read here"} {
		_, err := new(Traces).Trace(name)
		var e *memwall.Error
		if !errors.As(err, &e) || e.Code != memwall.BadFile || e.Hint == "" || !strings.Contains(e.Message, why) {
			t.Errorf("%s: %v, want one that says %q", name, err, why)
		}
	}
}
