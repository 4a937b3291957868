package studyfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/internal/study"
)

var about = Study{ID: "id1", Name: "a study", Ask: "fit", Tables: "t1", Points: 10, Text: "ask: fit\n",
	Traces: map[string]string{"a.csv": "sha256:1"}}

func says(t *testing.T, err error, words string) {
	t.Helper()
	var e *memwall.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, words) || e.Hint == "" {
		t.Errorf("%v, want one that says %q and what to do", err, words)
	}
}

func row(i int64) Row {
	low := 1.5
	return Row{Index: i, Key: fmt.Sprint("key", i), Verdict: "fits", Worker: "w", Took: 0.25, Figures: study.Figures{"x": {Value: float64(i), Low: &low}}, Answer: fmt.Appendf(nil, `{"answer":%d}`, i)}
}

// places are where results may be kept: a file, and a database where one is given.
func places(t *testing.T) map[string]string {
	all := map[string]string{"a file": filepath.Join(t.TempDir(), "a b?c.db")}
	if url := os.Getenv("MEMWALL_TEST_POSTGRES"); url != "" {
		all["a database"] = url
	}
	return all
}

// TestPlace: what is put is there again, once; gaps are known; others read while one writes, and none else writes.
func TestPlace(t *testing.T) {
	ctx := context.Background()
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			f, err := Create(ctx, where, &about)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(where); !place.IsURL(where) && (err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows") {
				t.Errorf("others may read the results: %v, %v", info.Mode(), err)
			}
			if fresh, err := f.Put(ctx, []Row{row(2), row(3), row(7)}); !slices.Equal(fresh, []bool{true, true, true}) || err != nil {
				t.Fatalf("%v, %v", fresh, err)
			}
			other := row(3)
			other.Answer = []byte(`{"answer":"another"}`)
			dead := row(4)
			dead.Dead = true
			if fresh, err := f.Put(ctx, []Row{other, dead}); !slices.Equal(fresh, []bool{false, true}) || err != nil {
				t.Errorf("%v, %v", fresh, err)
			}
			if m, err := f.Missing(ctx, 1, 9); err != nil || !slices.Equal(m, []int64{1, 5, 6, 8}) {
				t.Errorf("%v, %v", m, err)
			}
			if _, err := Create(ctx, where, &about); err == nil {
				t.Error("two write to one place")
			} else {
				says(t, err, "another sweep writes")
			}
			r, err := Open(ctx, where)
			if err != nil {
				t.Fatal(err)
			}
			if done, dead, err := r.Done(ctx); done != 4 || dead != 1 || err != nil || r.Study().Traces["a.csv"] != "sha256:1" ||
				r.Reader() != f.Reader() {
				t.Errorf("%d, %d, %v, %+v", done, dead, err, r.Study())
			}
			var got []int64
			for x, err := range r.All(ctx, true) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, x.Index)
				if string(x.Answer) != fmt.Sprintf(`{"answer":%d}`, x.Index) || x.Figures["x"].Value != float64(x.Index) || *x.Figures["x"].Low != 1.5 || x.Took != 0.25 {
					t.Errorf("%+v", x)
				}
			}
			if !slices.Equal(got, []int64{2, 3, 4, 7}) {
				t.Errorf("%v", got)
			}
			_ = r.Close() // it was only read
			liar, found := row(3), row(8)
			liar.Worker, found.Worker = "w (0a0b)", "w (0c0d)"
			if err := f.Replace(ctx, liar); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Put(ctx, []Row{found}); err != nil {
				t.Fatal(err)
			}
			if points, err := f.Drop(ctx, "0a0b"); err != nil || !slices.Equal(points, []int64{3}) {
				t.Errorf("%v, %v", points, err)
			}
			if r, err := f.Row(ctx, 3); r != nil || err != nil {
				t.Errorf("%+v, %v", r, err)
			}
			found.Verdict, found.Answer = "tight", []byte("{}")
			if err := f.Replace(ctx, found); err != nil {
				t.Fatal(err)
			}
			if r, err := f.Row(ctx, 8); err != nil || r.Verdict != "tight" || string(r.Answer) != "{}" || r.Worker != "w (0c0d)" {
				t.Errorf("%+v, %v", r, err)
			}
			if n, err := f.Revive(ctx); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := Create(ctx, where, &about)
			if err != nil {
				t.Fatal(err)
			}
			if done, _, err := again.Done(ctx); done != 3 || err != nil {
				t.Errorf("%d, %v", done, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			changed := about
			changed.ID, changed.Text = "id2", "ask: sim\n"
			_, err = Create(ctx, where, &changed)
			says(t, err, "results of another study")
			changed = about
			changed.ID, changed.Tables = "id3", "t2"
			_, err = Create(ctx, where, &changed)
			says(t, err, "by tables t1")
		})
	}
}

// TestForeign: what is not ours is refused, and stays as it is.
func TestForeign(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for name, text := range map[string]string{"a text": "hello\n", "a database": "SQLite format 3\x00" + strings.Repeat("x", 200)} {
		where := filepath.Join(dir, name)
		if err := os.WriteFile(where, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Create(ctx, where, &about)
		says(t, err, map[string]string{"a text": "not the results of a study", "a database": "another program"}[name])
		if now, err := os.ReadFile(where); err != nil || string(now) != text {
			t.Errorf("%s was touched: %q, %v", name, now, err)
		}
	}
	_, err := Create(ctx, dir, &about)
	says(t, err, "is not a file")
	_, err = Open(ctx, "postgres://%zz")
	says(t, err, "cannot be used")
	_, err = Open(ctx, filepath.Join(dir, "none"))
	says(t, err, "is not there")
	_, err = Create(ctx, filepath.Join(dir, "no folder", "a.db"), &about)
	says(t, err, "cannot be used")
	_, err = Create(ctx, "postgres://user:secret@127.0.0.1:1/x?connect_timeout=1", &about)
	says(t, err, "cannot be used")
	if strings.Contains(fmt.Sprint(err)+place.Shown("postgres://user:secret@host/x"), "secret") {
		t.Errorf("%v tells a password", err)
	}
}

// TestBomb: what becomes large is given up early.
func TestBomb(t *testing.T) {
	packed, err := Pack(make([]byte, 64<<20))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Unpack(packed)
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("%d bytes become %d, %v", len(packed), after.TotalAlloc-before.TotalAlloc, err)
	}
}

// TestHold: a name is held once.
func TestHold(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a b.lock")
	lock, err := Hold(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(t.Context(), name); !errors.Is(err, place.ErrHeld) {
		t.Error("it is held twice")
	}
	lock.Release()
	again, err := Hold(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
	if _, err := os.Stat(name); err == nil {
		t.Error("the file stays")
	}
}

// FuzzUnpack: whatever is kept, reading it ends.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("an answer"))
	f.Fuzz(func(t *testing.T, data []byte) {
		packed, err := Pack(data)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unpack(packed)
		if err != nil || string(back) != string(data) {
			t.Errorf("%q became %q, %v", data, back, err)
		}
		_, _ = Unpack(data)
	})
}
