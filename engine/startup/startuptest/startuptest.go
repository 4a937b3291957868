// Package startuptest holds helpers for the tests of engines' log readers.
package startuptest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall/engine/startup"
	"github.com/memwall/memwall/fault"
)

// Read a whole text.
func Read(text io.Reader, r startup.Reader) (*startup.Log, error) {
	if _, err := startup.Read(text, r); err != nil {
		return nil, err
	}
	return r.Log(), nil
}

// File reads a log of testdata/logs.
func File(t testing.TB, name string, r startup.Reader) *startup.Log {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "logs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	l, err := Read(f, r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return l
}

// Figures as "id@device=text unit", one after the other.
func Figures(l *startup.Log) string {
	var out []string
	for _, f := range l.Figures {
		at := ""
		if f.Device != "" {
			at = "@" + f.Device
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s%s=%s %s", f.ID, at, f.Text, f.Unit)))
	}
	return strings.Join(out, "; ")
}

// Codes of a log's notes, one after the other.
func Codes(l *startup.Log) string {
	var out []string
	for _, n := range l.Notes {
		out = append(out, n.Code)
	}
	return strings.Join(out, " ")
}

// Fuzz asserts that no text makes a reader fail in another way than with its own error, and that nothing that it keeps grows with
// a number in the text. Its seeds are testdata/logs.
func Fuzz(f *testing.F, reader func() startup.Reader) {
	names, err := filepath.Glob("testdata/logs/*.log")
	if err != nil || len(names) == 0 {
		f.Fatal("no logs", err)
	}
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Read(strings.NewReader(text), reader())
		if err != nil {
			if _, ok := errors.AsType[*fault.Error](err); !ok {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		bounded(t, text, l)
	})
}

func bounded(t *testing.T, text string, l *startup.Log) {
	if len(l.Figures) > startup.MaxFigures || len(l.Models) > 8 || len(l.Notes) > 64 {
		t.Fatal("more is kept than bounds allow")
	}
	for _, x := range l.Figures {
		if x.Text == "" || x.Digits < 0 || !strings.Contains(text, x.Text) && !strings.Contains(text, "\x1b") {
			t.Fatalf("%+v is not in the text", x)
		}
	}
	if err := l.Plan.Check(); err != nil {
		t.Fatalf("a plan out of bounds: %v", err)
	}
}
