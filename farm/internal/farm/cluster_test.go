package farm

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// TestCluster: three servers and five workers, all of them processes. One worker is killed in the middle of a task, one is
// slower than its silence may last, one is of other tables; a server is killed and comes back, and another is cut off for a
// while. Each question has the answer of a run alone, once.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "s0", "s1", "s2")
	f := joined(t, c.urls(), nil)
	ledger := filepath.Join(t.TempDir(), "ledger")
	worker := func(name, tables, manner string, slots int) *process {
		return start(t, part{Role: "worker", Name: name, URLs: c.urls(), Tables: tables, Slots: slots, Manner: manner, Ledger: ledger})
	}
	s := begun(t, f, fits(50), filepath.Join(t.TempDir(), "a.db"))
	some, half := make(chan struct{}), make(chan struct{})
	var once, twice sync.Once
	s.Report = func(at Progress) {
		if at.Done >= 30 {
			once.Do(func() { close(some) })
		}
		if at.Done >= 150 {
			twice.Do(func() { close(half) })
		}
	}
	ended := make(chan struct{})
	var at Progress
	go func() { defer close(ended); at = run(t, s) }()

	victim := worker("victim", here, "stuck", 1)
	victim.await("began")
	slow := worker("slow", here, "slow", 1)
	slow.await("began")
	stranger := worker("stranger", "others", "", 1)
	stranger.await("left to others")
	victim.kill()
	worker("w1", here, "steady", 2)
	worker("w2", here, "steady", 2)
	reached(t, some, ended)
	c.live[0].kill()
	c.start(0)
	reached(t, half, ended)
	c.live[1].pause(2 * time.Second)
	<-ended
	if t.Failed() {
		return
	}
	check(t, s)
	times, questions := asked(t, ledger)
	const inFlight = 2 * (1 + 1 + 2 + 2) // each slot has one that is asked and one that is being kept
	if questions != 300 || times-questions > inFlight {
		t.Errorf("%d questions were begun %d times, with %d in flight", questions, times, inFlight)
	}
	if at.Done != 300 || at.Dead != 0 || at.AskedAgain != 0 || !slices.Equal(at.Refused, []string{"stranger"}) {
		t.Errorf("%+v", at)
	}
	t.Logf("%d of 300 questions were begun a second time; %+v", times-questions, at)
}

// reached waits for a moment of a run, which may end before it.
func reached(t *testing.T, moment, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-moment:
	case <-ended:
		select {
		case <-moment:
		default:
			t.Fatal("the run has ended before")
		}
	}
}

// served starts a server of its own on a port, and joins it.
func served(t *testing.T) (*Server, *Farm) {
	s, conn, err := (&Own{Folder: t.TempDir(), Listen: "127.0.0.1:0"}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	f, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

// TestDead: a question that kills all its workers is given up in the end, and its result says so; the rest are answered.
func TestDead(t *testing.T) {
	t.Parallel()
	s, f := served(t)
	sweep := begun(t, f, "ask: fit\nmodels: llama-3.1-8b\nhardware: h100\nplan: {context: [2048, 4096, 8192, 16384]}\n",
		filepath.Join(t.TempDir(), "a.db"))
	ended := make(chan struct{})
	var at Progress
	go func() { defer close(ended); at = run(t, sweep) }()
	for range quick.MaxDeliver { // as a Deployment does: who dies is started again
		_ = start(t, part{Role: "worker", Name: "w", URLs: s.ClientURL(), Tables: here, Slots: 1, Manner: "dies"}).Wait()
	}
	start(t, part{Role: "worker", Name: "w", URLs: s.ClientURL(), Tables: here, Slots: 1, Manner: "dies"})
	<-ended
	if at.Done != 4 || at.Dead != 1 {
		t.Errorf("%+v", at)
	}
	for r, err := range sweep.Results.(*studyfile.File).All(t.Context(), true) {
		if err != nil || r.Dead != (r.Index == 1) || r.Dead != strings.Contains(r.Failure, "given out 3 times") {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestCoordinatorKilled: whoever began a study may die at any moment; another goes on with what was kept, and asks again only
// what was under way.
func TestCoordinatorKilled(t *testing.T) {
	folder := t.TempDir()
	ledger, out, store := filepath.Join(folder, "ledger"), filepath.Join(folder, "a.db"), filepath.Join(folder, "store")
	const slots = 2
	p := part{Role: "sweep", Name: "first", Tables: here, Slots: slots, Manner: "steady", Ledger: ledger, Folder: store, Text: fits(20),
		Out: out}
	for _, name := range []string{"first", "second"} {
		p.Name = name
		child := start(t, p)
		awaitResults(t, out, map[string]int64{"first": 20, "second": 60}[name])
		child.kill()
	}
	s, conn, err := (&Own{Folder: store}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	f, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := part{Name: "last", Ledger: ledger}
	help(t, f, &Worker{Name: "last", Tables: here, Slots: slots, Ask: last.ask})
	sweep := begun(t, f, p.Text, out)
	at := run(t, sweep)
	check(t, sweep)
	times, questions := asked(t, ledger)
	if questions != 120 || times-questions > 2*2*slots || at.Dead+at.AskedAgain > 0 {
		t.Errorf("%d questions were begun %d times, with two deaths of %d in flight; %+v", questions, times, slots, at)
	}
}

// awaitResults of a file that another process writes.
func awaitResults(t *testing.T, out string, n int64) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	for {
		var done int64
		f, err := studyfile.Open(ctx, out)
		if err == nil {
			done, _, err = f.Done(ctx)
			_ = f.Close() // it was only read
		}
		if done >= n {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%d results never came: %d, %v", n, done, err)
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// TestRedelivered: a task that is done and comes again is not asked again.
func TestRedelivered(t *testing.T) {
	f := own(t)
	n := 0
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 1, Ask: func(ctx context.Context, r *memwall.Request) (*memwall.Answer, error) {
		n++
		return (&memwall.Asker{}).AskContext(ctx, r)
	}})
	s := begun(t, f, fits(2), filepath.Join(t.TempDir(), "a.db"))
	run(t, s)
	again := begun(t, f, fits(2), filepath.Join(t.TempDir(), "b.db")) // as if the first had never heard of it
	if at := run(t, again); n != 12 || at.Reused != 12 {
		t.Errorf("asked %d times; %+v", n, at)
	}
	check(t, again)
	if _, err := readTask("memwall.task.a.b.c", []byte("{}")); err == nil {
		t.Error("a task of no key")
	}
	key := study.Key{7}
	if _, err := readTask("memwall.task.a.b."+key.String(), []byte(`{"tables":"x","study":"b"}`)); err == nil {
		t.Error("a task that says another subject than it came by")
	}
}
