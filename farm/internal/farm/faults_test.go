package farm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
)

// wire is a way to a server on which nothing gets through while it is cut. It is not hung up: nobody is told.
type wire struct {
	net.Listener
	to   string
	mu   sync.Mutex
	cond *sync.Cond
	cut  bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to}
	w.cond = sync.NewCond(&w.mu)
	t.Cleanup(func() { w.set(false); _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", w.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go w.carry(out, in)
			go w.carry(in, out)
		}
	}()
	return w
}

func (w *wire) carry(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		w.mu.Lock()
		for w.cut {
			w.cond.Wait()
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (w *wire) set(cut bool) {
	w.mu.Lock()
	w.cut = cut
	w.mu.Unlock()
	w.cond.Broadcast()
}

// TestPartition: a worker that cannot be reached for a while loses its task to another. Its own answer, which comes later,
// is counted as one that came again, and nothing is lost or counted twice.
func TestPartition(t *testing.T) {
	t.Parallel()
	s, f := served(t)
	sweep := begun(t, f, fits(4), filepath.Join(t.TempDir(), "a.db"))
	sweep.Check = 1
	way := newWire(t, s.Addr().String())
	away := joined(t, "nats://"+way.Addr().String(), nil)
	asked, again := make(chan struct{}), make(chan struct{})
	var once sync.Once
	help(t, away, &Worker{Name: "away", Tables: here, Slots: 1,
		Ask: func(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
			first := false
			once.Do(func() { first = true; close(asked) })
			if first {
				way.set(true)
				time.AfterFunc(3*quick.AckWait, func() { way.set(false) })
			}
			return (&memwall.Asker{}).AskContext(ctx, r)
		}})
	var told sync.Once
	sweep.Report = func(at Progress) {
		if at.Repeated > 0 {
			told.Do(func() { close(again) })
		}
	}
	go func() {
		<-asked
		help(t, f, &Worker{Name: "w", Tables: here, Slots: 2, Ask: func(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
			if r.Model == "qwen3-8b" && r.Hardware == "2xa100" && r.Sequences == 4 { // the last one waits until the other is heard of again
				select {
				case <-again:
				case <-ctx.Done():
				}
			}
			return (&memwall.Asker{}).AskContext(ctx, r)
		}})
	}()
	at := run(t, sweep)
	check(t, sweep)
	if at.Done != 24 || at.Repeated != 1 || at.Dead+at.AskedAgain != 0 || len(at.Liars) > 0 {
		t.Errorf("%+v", at)
	}
}

// TestTwins: two servers of one name make no cluster. It is said which, in the time that was given.
func TestTwins(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "a", "b", "b")
	conn, err := Connect(t.Context(), &Servers{URLs: c.urls()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	const given = attempt + time.Second
	ctx, stop := context.WithTimeout(t.Context(), given)
	defer stop()
	var said said
	began := time.Now()
	_, err = Open(ctx, conn, quick, said.add)
	if e, ok := errors.AsType[*memwall.Error](err); !ok || !strings.Contains(e.Message, "two servers are called b") ||
		!said.has("two servers are called b") || time.Since(began) > given+2*time.Second {
		t.Errorf("%v after %v; %q", err, time.Since(began), said.all)
	}
}

// TestFullServer: a server that has room for nothing, not even for the word of that, is given up in the time that was said.
func TestFullServer(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte("jetstream { max_file_store: 20KB }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, conn, err := (&Own{Folder: t.TempDir(), Config: config}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	f, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 1})
	sweep := begun(t, f, fits(50), filepath.Join(t.TempDir(), "a.db"))
	sweep.Patience = 2 * time.Second
	began := time.Now()
	at, err := sweep.Run(t.Context())
	if e, ok := errors.AsType[*memwall.Error](err); !ok || !strings.Contains(e.Message, "nothing has come for") ||
		time.Since(began) > 15*time.Second {
		t.Errorf("%+v, %v, after %v", at, err, time.Since(began))
	}
}

// TestNoRoom: a store that nothing can be written to is said to be none, in the time that was given.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(config, []byte("jetstream { max_file_store: 20KB, limits: {max_ha_assets: 1} }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := &Own{Folder: t.TempDir(), Config: config}
	s, conn, err := own.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	set := quick
	set.MaxBytes = 1 << 20
	_, err = Open(ctx, conn, set, nil)
	if e, ok := errors.AsType[*memwall.Error](own.Unusable(err)); !ok || !strings.Contains(e.Message, own.Folder) || e.Hint == "" {
		t.Errorf("%v", err)
	}
}

// TestTwoSweeps: a folder is one server's, and the next is told so.
func TestTwoSweeps(t *testing.T) {
	own := &Own{Folder: t.TempDir()}
	s, conn, err := own.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := own.Start(nil); err == nil || !strings.Contains(err.Error(), "another sweep has its folder") {
		t.Errorf("%v", err)
	}
	conn.Close()
	s.Close()
	s, conn, err = own.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	s.Close()
}

// TestDamaged: a store whose files were damaged either still serves, with the answers of a run alone, or is given up in the
// time that was said; nothing that is wrong becomes a result.
func TestDamaged(t *testing.T) {
	good := filepath.Join(t.TempDir(), "store")
	sweepIn := func(t *testing.T, store string) (*Sweep, error) {
		t.Helper()
		own := &Own{Folder: store}
		s, conn, err := own.Start(nil)
		if err != nil {
			return nil, err
		}
		defer func() { conn.Close(); s.Close() }()
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		f, err := Open(ctx, conn, quick, nil)
		if err != nil {
			return nil, err
		}
		sweep := begun(t, f, fits(10), filepath.Join(t.TempDir(), "a.db"))
		sweep.Patience, sweep.Check = 2*time.Second, 0.02
		defer help(t, f, &Worker{Name: "w", Tables: here, Slots: 1})()
		_, err = sweep.Run(t.Context())
		return sweep, err
	}
	if _, err := sweepIn(t, good); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for name, damage := range map[string]func(data []byte) []byte{
		"bits": func(data []byte) []byte {
			for range 1 + len(data)/2000 {
				if len(data) > 0 {
					data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
				}
			}
			return data
		},
		"half": func(data []byte) []byte { return data[:len(data)/2] },
		"none": func([]byte) []byte { return nil },
		"zeros": func(data []byte) []byte {
			clear(data)
			return data
		},
	} {
		bad := filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(bad, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		harm(t, bad, damage)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			sweep, err := sweepIn(t, bad)
			took := time.Since(began)
			t.Logf("%v after %v", err, took)
			switch e, ok := errors.AsType[*memwall.Error](err); {
			case err == nil:
				check(t, sweep)
			case !ok || e.Hint == "" || took > 20*time.Second:
				t.Errorf("%v, after %v", err, took)
			case sweep != nil:
				right(t, sweep)
			}
		})
	}
}

// harm every file of a folder.
func harm(t *testing.T, folder string, damage func([]byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(name, damage(data), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// right: the results that there are, are those of a run alone.
func right(t *testing.T, s *Sweep) {
	t.Helper()
	want := alone(t, s.Study, s.Files)
	for r, err := range s.Results.(*studyfile.File).All(t.Context(), true) {
		if err != nil || string(r.Answer) != string(want[r.Index]) {
			t.Errorf("%s", fmt.Sprintf("%+v, %v", r, err)[:300])
		}
	}
}
