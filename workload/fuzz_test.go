package workload

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall/fault"
	"github.com/memwall/memwall/plan"
)

// FuzzOpen: any file is either a trace of sound requests in order of time, which can be written and read again, or an
// error that names a line.
func FuzzOpen(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.*")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), false)
		f.Add(zipped(string(text)), true)
	}
	f.Add(agent, false)
	f.Add(first+`{"arrival_s":1e0,"prompt_tokens":9.0,"output_tokens":1e0,"spans":[["a",2],[3,4]],"x":{"y":["]",{}]}}`, false)
	f.Fuzz(func(t *testing.T, text string, skip bool) {
		got, tr, err := read(text, ReadOptions{SkipBad: skip, PerToken: 4})
		var fault *fault.Error
		switch {
		case err != nil && errors.As(err, &fault):
			if fault.Line < 1 || fault.Fix == "" || fault.Field == "" || fault.Problem == "" || len(fault.Error()) > 600 {
				t.Fatalf("%#v", fault)
			}
		case err != nil && !strings.HasPrefix(err.Error(), "line "): // gzip's own
			t.Fatal(err)
		}
		last := int64(-1)
		for i, r := range got {
			above := r.ID > last
			last = r.ID
			if bad := sound(&r); bad != nil || !above || i > 0 && tr.Format != "sharegpt" && r.Arrival < got[i-1].Arrival {
				t.Fatalf("%v: %v", r, bad)
			}
		}
		if len(got) == 0 {
			return
		}
		for i := range got {
			got[i].ID = int64(i) // those that follow have numbers, too
		}
		again, _, err := read(written(got), ReadOptions{})
		if d := cmp.Diff(got, again); err != nil || d != "" {
			t.Fatal(err, d)
		}
	})
}

// FuzzSpec: any JSON that passes the checks gives sound requests, and any that does not says why and what to do.
func FuzzSpec(f *testing.F) {
	f.Add(`{"arrivals":"poisson","rate":4,"requests":10,"prompt":{"law":"lognormal","mean":10,"cv":99},"output":{"mean":1}}`)
	f.Add(`{"arrivals":"gamma","cv":100,"rate":1e-6,"requests":10,"prompt":{"law":"gamma","mean":1e8,"cv":100},"output":{"law":"empirical","values":[1,2]}}`)
	f.Add(`{"arrivals":"closed","concurrency":3,"requests":10,"prompt":{"mean":1},"output":{"mean":1e8},"sessions":{"turns":{"mean":9},"think_s":{"mean":1e9}},"shared_prefix_tokens":7}`)
	f.Add(`{"arrivals":"burst","requests":9,"prompt":{"law":"exponential","mean":5},"output":{"law":"uniform","min":1,"max":2},"priorities":[1e-13,1e12],"adapters":{"count":9,"zipf":10}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s Spec
		if json.Unmarshal([]byte(text), &s) != nil || s.Adapters.Count > 1000 || s.Prefixes.Count > 1000 {
			return
		}
		src, err := s.Source()
		if err != nil {
			var p *plan.Problem
			if !errors.As(err, &p) || p.Fix == "" || !strings.HasPrefix(p.Field, "workload.") {
				t.Fatalf("%#v", err)
			}
			return
		}
		for range 100 {
			r, ok, err := src.Next()
			if !ok || err != nil {
				break
			}
			for bad, at := sound(&r), r.Arrival; ok; bad = sound(&r) {
				if bad != nil {
					t.Fatalf("%v: %v", r, bad)
				}
				at += time.Second
				if r.ID > 300 {
					break
				}
				r, ok = src.After(&r, at)
				at = r.Arrival
			}
		}
	})
}

// endless gives the same text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// TestEndlessLine: a file without an end of line is refused when it is longer than a line may be, and skipping it reads on
// in the same memory.
func TestEndlessLine(t *testing.T) {
	text := io.MultiReader(strings.NewReader(first), io.LimitReader(&endless{text: "x"}, 64<<20))
	tr, err := Open(text, ReadOptions{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, _, err := tr.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := cap(tr.lines.(*lines).long); n > 2*maxLine || tr.Skipped[TooLong] != 1 {
		t.Error(n, tr.Skipped)
	}
}
