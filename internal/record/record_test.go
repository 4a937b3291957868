package record

import (
	"errors"
	"os"
	"path/filepath"
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
	name := filepath.Join(t.TempDir(), "a ?#%20 name.db")
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

// TestNotOurs: other files are refused and stay as they were; so are recordings of versions to come.
func TestNotOurs(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.db")
	recorded(t, whole, 1)
	database, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	newer, foreign := append([]byte{}, database...), append([]byte{}, database...)
	newer[63], foreign[71] = 9, 0
	for _, c := range []struct{ name, says string }{
		{"notes.txt", "no recording"}, {"short", "no recording"}, {"foreign.db", "another program"}, {"newer.db", "version 9"},
	} {
		text := map[string][]byte{"notes.txt": []byte(strings.Repeat("words ", 50)), "short": []byte("x"), "foreign.db": foreign, "newer.db": newer}[c.name]
		file := filepath.Join(dir, c.name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
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
		if now, _ := os.ReadFile(file); string(now) != string(text) {
			t.Errorf("%s was changed", c.name)
		}
	}
	for _, file := range []string{dir, filepath.Join(dir, "no", "such", "folder.db")} {
		if _, err := Create(file, 1); err == nil {
			t.Errorf("%s is written to", file)
		}
	}
	if err := Replay(filepath.Join(dir, "none.db"), nil, nil); err == nil {
		t.Error("a file that is not there")
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("reading made a file")
	}
}

// TestDamaged: a recording of which a part is gone is an error, and never a panic.
func TestDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.db")
	recorded(t, name, 1, 2, 3, 4)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 100; cut < len(whole); cut += len(whole) / 9 {
		broken := append([]byte{}, whole[:cut]...)
		if cut%2 == 0 {
			for i := 4096; i < len(broken); i += 97 {
				broken[i] ^= 0x5a
			}
		}
		if err := os.WriteFile(name, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = Replay(name, func(int, *live.Prediction) {}, func(*live.Moment) error { return nil })
	}
}

// TestKilled: who is ended in the midst leaves a recording that goes on.
func TestKilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.db")
	r, err := Create(name, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(moment(1), nil); err != nil {
		t.Fatal(err)
	}
	recorded(t, name, 5, 6) // r is still open, as after a kill
	n := 0
	if err := Replay(name, func(int, *live.Prediction) {}, func(*live.Moment) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d moments, %v", n, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestTwoWriters: two watches on one file do not mix.
func TestTwoWriters(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.db")
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
	n := 0
	if err := Replay(name, func(int, *live.Prediction) {}, func(*live.Moment) error { n++; return nil }); err != nil || n != 10 {
		t.Errorf("%d moments of the newest run, %v", n, err)
	}
}
