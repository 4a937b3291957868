package rowstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/place"
	"github.com/memwall/memwall/internal/rows"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.FixedZone("", 3600))

// measured is a row of so many GiB.
func measured(t *testing.T, n int) *rows.Row {
	t.Helper()
	all, err := rows.Read(fmt.Appendf(nil, `{"schema":"memwall/row/1","by":"0.1.0","engine":"vllm@0.12.0","source":"own","licence":"CC0-1.0",`+
		`"ask":{"ask":"fit","model":"llama-3.1-8b","hardware":"rtx-4090","weights":"bf16","engine":"vllm@0.12"},`+
		`"figures":[{"name":"Model loading took","unit":"GiB","measured":%d,"predicted":14.99}]}`, n))
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func says(t *testing.T, err error, words string) {
	t.Helper()
	var e *memwall.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message+e.Hint, words) || e.Hint == "" {
		t.Errorf("%v, want one that says %q and what to do", err, words)
	}
}

// places are where a store may be: a file, and a database where one is given, in a schema of its own.
func places(t *testing.T) map[string]string {
	all := map[string]string{"a file": filepath.Join(t.TempDir(), "a b?c.db")}
	if url := os.Getenv("MEMWALL_TEST_POSTGRES"); url != "" {
		name := fmt.Sprintf("rows%d", time.Now().UnixNano())
		p, err := kind.Open(url, true)
		if err == nil {
			_, err = p.Exec("CREATE SCHEMA " + name)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = p.Exec("DROP SCHEMA " + name + " CASCADE")
			_ = p.Close()
		})
		sep := "?"
		if strings.Contains(url, "?") {
			sep = "&"
		}
		all["a database"] = url + sep + "search_path=" + name
	}
	return all
}

func create(t *testing.T, where string) *Store {
	t.Helper()
	s, err := Create(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestStore: a row is kept once, with who added it first and when; others read while some write, and a store of a newer version is
// left alone.
func TestStore(t *testing.T) {
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			s := create(t, where)
			if added, had, err := s.Add(t.Context(), []*rows.Row{measured(t, 1), measured(t, 2)}, "ann", noon); added != 2 || had != 0 || err != nil {
				t.Fatalf("%d, %d, %v", added, had, err)
			}
			if added, had, err := create(t, where).Add(t.Context(), []*rows.Row{measured(t, 2), measured(t, 3)}, "bob", noon.Add(time.Hour)); added != 1 || had != 1 || err != nil {
				t.Fatalf("%d, %d, %v", added, had, err)
			}
			r, err := Open(t.Context(), where)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			kept, err := r.All(t.Context())
			if err != nil || len(kept) != 3 || kept[2].Who != "bob" || kept[0].Who != "ann" || kept[0].Added != "2026-11-28T11:00:00Z" ||
				kept[2].Row.Figures[0].Measured != 3 || kept[2].ID != measured(t, 3).ID() {
				t.Errorf("%+v, %v", kept, err)
			}
			if place.IsURL(where) {
				_, err = s.Exec("INSERT INTO memwall_store VALUES (2, 'later')")
			} else {
				_, err = s.Exec("PRAGMA user_version=2")
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(t.Context(), where)
			says(t, err, "tables of version 2")
			_, err = Create(t.Context(), where)
			says(t, err, "a newer memwall-farm")
		})
	}
}

// TestWriters: who writes at once with others waits, from the first moment of a store on.
func TestWriters(t *testing.T) {
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			var wait sync.WaitGroup
			for i := range 6 {
				wait.Go(func() {
					s, err := Create(context.Background(), where)
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					for j := range 5 {
						if _, _, err := s.Add(context.Background(), []*rows.Row{measured(t, i*5+j), measured(t, 1000)}, "w", noon); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			if kept, err := create(t, where).All(t.Context()); err != nil || len(kept) != 31 {
				t.Errorf("%d rows, %v", len(kept), err)
			}
		})
	}
}

// TestHostile: what others wrote into the tables is checked as a file of theirs is, and hides nothing else.
func TestHostile(t *testing.T) {
	for name, where := range places(t) {
		t.Run(name, func(t *testing.T) {
			s := create(t, where)
			if _, _, err := s.Add(t.Context(), []*rows.Row{measured(t, 1)}, "ann", noon); err != nil {
				t.Fatal(err)
			}
			line, err := measured(t, 2).Line()
			if err != nil {
				t.Fatal(err)
			}
			for id, content := range map[string]string{
				"newer": strings.Replace(string(line), "row/1", "row/2", 1), "escape": strings.Replace(string(line), "own", `\u001b[2J`, 1),
				"long": string(line[:len(line)-2]) + strings.Repeat(" ", 1<<20) + "}", "none": "", "two": string(line) + string(line), "changed": string(line),
			} {
				if _, err := s.Exec(s.Statement("INSERT INTO memwall_row VALUES (?, 'x', '2026', ?)"), id, content); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := s.All(t.Context())
			if err != nil || len(kept) != 7 {
				t.Fatalf("%d, %v", len(kept), err)
			}
			want := map[string]string{"newer": "install a newer memwall", "escape": "no plain text", "long": "64 KiB", "none": "holds no row", "two": "2 rows",
				"changed": "another sum"}
			for _, k := range kept {
				if (k.Row == nil) != (want[k.ID] != "") || !strings.Contains(k.Why, want[k.ID]) || strings.Contains(k.Why, "\x1b") {
					t.Errorf("%s: %v, %q", k.ID, k.Row, k.Why)
				}
			}
		})
	}
}

// TestFull: a full disk adds nothing, says so, and what was there is as it was.
func TestFull(t *testing.T) {
	s := create(t, filepath.Join(t.TempDir(), "team.db"))
	if _, _, err := s.Add(t.Context(), []*rows.Row{measured(t, 1)}, "ann", noon); err != nil {
		t.Fatal(err)
	}
	s.SetMaxOpenConns(1)
	if _, err := s.Exec("PRAGMA max_page_count=1"); err != nil { // as many as there are
		t.Fatal(err)
	}
	var more []*rows.Row
	for i := range 100 {
		more = append(more, measured(t, i+2))
	}
	_, _, err := s.Add(t.Context(), more, "ann", noon)
	says(t, err, "make room on the disk")
	if kept, err := s.All(t.Context()); err != nil || len(kept) != 1 || kept[0].Row == nil {
		t.Errorf("%d, %v", len(kept), err)
	}
}

// TestForeign: what is not a store is refused, and stays as it is.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	where := filepath.Join(dir, "text")
	if err := os.WriteFile(where, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Create(t.Context(), where)
	says(t, err, "not a store of rows")
	if now, err := os.ReadFile(where); err != nil || string(now) != "hello\n" {
		t.Errorf("%q, %v", now, err)
	}
	_, err = Open(t.Context(), filepath.Join(dir, "none"))
	says(t, err, "is not there")
	_, err = Create(t.Context(), filepath.Join(dir, "no", "folder.db"))
	says(t, err, "cannot be used")
	_, err = Open(t.Context(), "postgres://user:secret@127.0.0.1:1/x?connect_timeout=1")
	says(t, err, "of a server that runs")
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v tells a password", err)
	}
}
