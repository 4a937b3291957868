package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/live"
	"github.com/memwall/memwall/unit"
)

func moment(at float64) *live.Moment {
	held, own, busy := 70*unit.GiB, unit.GiB, 0.5
	kv := 0.25
	return &live.Moment{At: at,
		Host:      &live.Host{Total: 512 * unit.GiB, Free: 400 * unit.GiB},
		Devices:   []live.Device{{Index: 0, Name: "a card", ID: "h100", Total: 80 * unit.GiB, Used: &held, Busy: &busy, ByProcess: true}, {Index: 1, Name: "asleep"}},
		Processes: []live.Process{{PID: 5, Name: "vllm", Engine: 5, Own: &own, Held: []live.Held{{Device: 0, Bytes: &held}, {Device: 1}}}, {PID: 9, Name: "X"}},
		Engines:   []live.Engine{{PID: 5, Name: "vllm", Model: "m", Command: "vllm serve m", Page: "http://127.0.0.1:8000/metrics", Reading: &live.Reading{KVUsage: &kv}}, {Name: "silent"}},
		Troubles:  []live.Trouble{{Source: "nvidia-smi", Why: "asleep"}},
	}
}

func recorded(t *testing.T, name string, moments ...float64) {
	t.Helper()
	r, err := Create(name, moments[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range moments {
		if err := r.Add(moment(at), map[int]*live.Prediction{5: {Why: "of no importance"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReplay: what was written comes back, of the newest run alone.
func TestReplay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a ?#%20 name.jsonl")
	recorded(t, name, 1, 2, 3)
	recorded(t, name, 10, 11)
	var got []*live.Moment
	said := 0
	err := Replay(name, func(pid int, p *live.Prediction) { said += pid; _ = p }, func(m *live.Moment) error { got = append(got, m); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]*live.Moment{moment(10), moment(11)}, got); d != "" || said != 5 {
		t.Errorf("%s\n%d predictions", d, said)
	}
	if list, _ := filepath.Glob(name + "-*"); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
	stop := errors.New("enough")
	if err := Replay(name, func(int, *live.Prediction) {}, func(*live.Moment) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestSaidLate: what was said at the time of a moment, and written after it, holds for it.
func TestSaidLate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	r, err := Create(name, 1)
	for at := 1.0; at < 3 && err == nil; at++ {
		err = r.Add(moment(at), nil)
	}
	if err != nil || r.Say(2, map[int]*live.Prediction{5: {Why: "late"}}) != nil || r.Close() != nil {
		t.Fatal(err)
	}
	var order []any
	err = Replay(name, func(pid int, _ *live.Prediction) { order = append(order, pid) }, func(m *live.Moment) error { order = append(order, m.At); return nil })
	if d := cmp.Diff([]any{1.0, 5, 2.0}, order); err != nil || d != "" {
		t.Error(err, d)
	}
}

// TestNotOurs: other files are refused and stay as they were; so are recordings of versions to come.
func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, says string }{
		{"notes.txt", strings.Repeat("words ", 50), "not a recording"}, {"short", "x", "not a recording"},
		{"other.json", `{"run":"a","moment":{}}` + "\n", "not a recording"}, {"array.json", "[1]", "not a recording"},
		{"a.db", "SQLite format 3\x00" + strings.Repeat("\x00", 100), "not a recording"},
		{"newer.jsonl", `{"recording":"memwall-watch/9","run":"a"}` + "\n", "memwall-watch/9"},
		{"long", strings.Repeat(" ", longest) + "{}", "not a recording"},
	} {
		file := filepath.Join(dir, c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Create(file, 1)
		var e *memwall.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.says) || e.Hint == "" {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := Replay(file, nil, nil); err == nil {
			t.Errorf("%s is replayed", c.name)
		}
		if now, _ := os.ReadFile(file); string(now) != c.text {
			t.Errorf("%s was changed", c.name)
		}
	}
	for _, file := range []string{dir, filepath.Join(dir, "no", "such", "folder.jsonl")} {
		if _, err := Create(file, 1); err == nil {
			t.Errorf("%s is written to", file)
		}
	}
	if err := Replay(filepath.Join(dir, "none.jsonl"), nil, nil); err == nil {
		t.Error("a file that is not there")
	}
	if _, err := os.Stat(filepath.Join(dir, "none.jsonl")); err == nil {
		t.Error("reading made a file")
	}
}

func count(name string) (n int, err error) {
	err = Replay(name, func(int, *live.Prediction) {}, func(*live.Moment) error { n++; return nil })
	return n, err
}

// TestCutAnywhere: wherever a watch was ended or the power went, the moments that are whole are read, and the next watch goes on.
func TestCutAnywhere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	recorded(t, name, 1, 2, 3, 4)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head := bytes.IndexByte(whole, '\n')
	for cut := head + 1; cut < len(whole); cut += 7 {
		if err := os.WriteFile(name, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		held := bytes.Count(whole[:cut], []byte(`"moment":`)) // and the last of them only with its end
		if n, err := count(name); err != nil || n != held && n != held-1 {
			t.Fatalf("cut at %d: %d moments of %d, %v", cut, n, held, err)
		}
		recorded(t, name, 5, 6)
		if n, err := count(name); err != nil || n != 2 {
			t.Fatalf("cut at %d, gone on with: %d moments, %v", cut, n, err)
		}
	}
}

// TestDamaged: a line in the midst that is none is an error with its number.
func TestDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	recorded(t, name, 1, 2, 3)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"{", "\x00\x00", `{"moment":1}`, `{"x":"` + strings.Repeat("x", longest) + `"}`} {
		at := bytes.IndexByte(whole, '\n') + 1
		text := slices.Concat(whole[:at], []byte(bad+"\n"), whole[at:])
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := count(name); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// TestKilled: who is ended in the midst leaves a recording that goes on.
func TestKilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	r, err := Create(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(moment(1), nil); err != nil {
		t.Fatal(err)
	}
	recorded(t, name, 5, 6) // r is still open, as after a kill
	if n, err := count(name); err != nil || n != 2 {
		t.Errorf("%d moments, %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestTwoWriters: two watches on one file do not mix.
func TestTwoWriters(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.jsonl")
	recorded(t, name, 1)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			r, err := Create(name, 2)
			for i := 0; i < 10 && err == nil; i++ {
				err = r.Add(moment(float64(i)), nil)
			}
			if err != nil {
				t.Error(err)
				return
			}
			_ = r.Close() // the other may still write
		})
	}
	wait.Wait()
	if n, err := count(name); err != nil || n != 10 {
		t.Errorf("%d moments of the newest run, %v", n, err)
	}
}
