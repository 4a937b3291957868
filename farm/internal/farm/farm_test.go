package farm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

const here = "tables1"

// fits is a study of quick questions: 2 x 3 x n.
func fits(n int) string {
	text := "study: fits\nask: fit\nmodels: [llama-3.1-8b, qwen3-8b]\nhardware: [h100, l40s, 2xa100]\nplan:\n  sequences: [1"
	for i := 1; i < n; i++ {
		text += fmt.Sprintf(", %d", i+1)
	}
	return text + "]\n"
}

// own is a server in this process.
func own(t *testing.T) *Farm {
	t.Helper()
	s, conn, err := (&Own{Folder: t.TempDir()}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	f, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// joined is the farm of a cluster.
func joined(t *testing.T, urls string, say func(string)) *Farm {
	t.Helper()
	conn, err := Connect(t.Context(), &Servers{URLs: urls}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	f, err := Open(t.Context(), conn, quick, say)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// begun is a sweep of a study with a file for its results.
func begun(t testing.TB, f *Farm, text, out string) *Sweep {
	t.Helper()
	s, err := study.Read("s.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	results, err := studyfile.Create(t.Context(), out, about(s, here, text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = results.Close() })
	return &Sweep{Farm: f, Study: s, Text: text, Tables: here, Results: results}
}

// help starts a worker in this process.
func help(t *testing.T, f *Farm, w *Worker) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := f.Work(ctx, w); err != nil {
			t.Error(err)
		}
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return stop
}

// alone answers a study without any farm: the slow and obvious twin.
func alone(t *testing.T, s *study.Study, files Files) map[int64][]byte {
	t.Helper()
	out := map[int64][]byte{}
	for p := range s.All(here) {
		answer, err := Answer(p.Request, (&memwall.Asker{Traces: files}).Ask)
		if err != nil {
			t.Fatal(err)
		}
		out[p.Index] = answer
	}
	return out
}

// check that the results are those of a run alone, each once.
func check(t *testing.T, s *Sweep) {
	t.Helper()
	want := alone(t, s.Study, s.Files)
	n := 0
	for r, err := range s.Results.(*studyfile.File).All(t.Context(), true) {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Answer, want[r.Index]) {
			t.Fatalf("question %d is answered with\n%.300s\nand alone with\n%.300s", r.Index, r.Answer, want[r.Index])
		}
		n++
	}
	if n != len(want) {
		t.Fatalf("%d results of %d questions", n, len(want))
	}
}

func run(t *testing.T, s *Sweep) Progress {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // servers that come back choose a leader, on processors that others use, too
	defer stop()
	at, err := s.Run(ctx)
	if err != nil {
		t.Fatalf("%v, at %+v", err, at)
	}
	return at
}

// TestSweep: what comes of a farm are the bytes of a run alone; a finished study asks nobody; another study takes what both
// ask from the servers.
func TestSweep(t *testing.T) {
	f := own(t)
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
	out := filepath.Join(t.TempDir(), "a.db")
	s := begun(t, f, fits(20), out)
	if at := run(t, s); at.Done != 120 || at.Repeated+at.Reused+at.Dead+at.AskedAgain != 0 || at.Workers != 1 {
		t.Errorf("%+v", at)
	}
	check(t, s)
	if at := run(t, s); at.Done != 120 || at.Workers != 0 {
		t.Errorf("the second time: %+v", at)
	}
	more := begun(t, f, fits(25), filepath.Join(t.TempDir(), "b.db"))
	if at := run(t, more); at.Done != 150 || at.Reused != 120 {
		t.Errorf("a study with as many questions and thirty: %+v", at)
	}
	check(t, more)
	if info, err := f.tasks.Info(t.Context()); err != nil || info.State.Msgs != 0 {
		t.Errorf("%d tasks are left, %v", info.State.Msgs, err)
	}
}

// TestTraces: a trace goes by the store, and each worker fetches it once; its name does not matter.
func TestTraces(t *testing.T) {
	folder := t.TempDir()
	lines := ""
	for i := range 200 {
		lines += fmt.Sprintf(`{"arrival_s":%d.5,"prompt_tokens":%d,"output_tokens":%d}`+"\n", i, 100+i, 10+i%50)
	}
	if err := os.WriteFile(filepath.Join(folder, "week.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	f := own(t)
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
	text := "ask: sim\nmodels: llama-3.1-8b\nhardware: [h100, l40s]\ntraces: week.jsonl\nplan: {max_num_seqs: [8, 16, 32]}\n"
	s := begun(t, f, text, filepath.Join(folder, "a.db"))
	var err error
	if s.Study, s.Digests, s.Files, err = Digests(s.Study, folder); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	check(t, s)
	for r, err := range s.Results.(*studyfile.File).All(t.Context(), false) {
		if err != nil || r.Failure != "" || r.Figures["ttft_p99_ms"].Value <= 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if _, _, _, err := Digests(s.Study, t.TempDir()); err == nil {
		t.Error("a trace that is not there is found")
	}
}

// TestOutside: a study that names a file which does not lie under its folder, by whatever way, does not get it.
func TestOutside(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	for name, text := range map[string]string{secret: "secret\n", filepath.Join(folder, "week.csv"): "0,1,1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": secret, "up": "../" + filepath.Base(outside) + "/secret", "folder": outside,
		"in": "week.csv", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Skip(err) // a system without links
		}
	}
	for name, ok := range map[string]bool{"week.csv": true, "in": true, "sub/../week.csv": true, "out": false, "up": false,
		"folder/secret": false, "sub": false, "loop": false, "none": false} {
		s, err := study.Read("s.yaml", "ask: sim\nmodels: llama-3.1-8b\nhardware: h100\ntraces: "+name+"\n")
		if err != nil {
			t.Fatal(err)
		}
		_, digests, _, err := Digests(s, folder)
		if (err == nil) != ok || !ok && (len(digests) > 0 || !strings.Contains(memwall.AsError(err).Message, name)) {
			t.Errorf("%s: %v, %v", name, digests, err)
		}
	}
}

// TestFull: servers that have no more room are said to have none, in bounded time; once they have some the study goes on.
func TestFull(t *testing.T) {
	t.Parallel()
	s, conn, err := (&Own{Folder: t.TempDir()}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	set := quick
	set.MaxBytes = 32 << 10
	f, err := Open(t.Context(), conn, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The bucket of results throws nothing away: answers that are kept stay.
	stop := help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
	sweep := begun(t, f, fits(10), filepath.Join(t.TempDir(), "a.db"))
	sweep.Patience = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	at, err := sweep.Run(ctx)
	var e *memwall.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "maximum bytes") || at.Done == 0 || at.Done == 60 {
		t.Fatalf("%+v, %v", at, err)
	}
	if _, err := f.js.UpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: results, MaxBytes: 64 << 20,
		Description: "answers by their keys"}); err != nil {
		t.Fatal(err)
	}
	stop()
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
	if at := run(t, sweep); at.Done != 60 {
		t.Errorf("%+v", at)
	}
	check(t, sweep)
}

// TestCancel: a study that is cancelled ends everywhere, and the same command goes on with it.
func TestCancel(t *testing.T) {
	f := own(t)
	began := make(chan struct{}, 100)
	stuck := &Worker{Name: "w", Tables: here, Slots: 1, Ask: func(ctx context.Context, _ *memwall.Request) (*memwall.Answer, error) {
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	stop := help(t, f, stuck)
	s := begun(t, f, fits(2), filepath.Join(t.TempDir(), "a.db"))
	ended := make(chan error, 1)
	go func() { _, err := s.Run(t.Context()); ended <- err }()
	<-began
	if _, err := f.Cancel(t.Context(), "no such"); err == nil || !strings.Contains(memwall.AsError(err).Hint, "fits") {
		t.Errorf("%v", err)
	}
	if st, err := f.Cancel(t.Context(), "fits"); err != nil || st.State != Cancelled {
		t.Fatalf("%+v, %v", st, err)
	}
	var e *memwall.Error
	if err := <-ended; !errors.As(err, &e) || !strings.Contains(e.Message, "cancelled") {
		t.Errorf("%v", err)
	}
	stop()
	help(t, f, &Worker{Name: "w", Tables: here, Slots: 2})
	run(t, s)
	check(t, s)
	all, err := f.List(t.Context())
	if err != nil || len(all) != 1 || all[0].State != Finished || all[0].Progress == nil || all[0].Progress.Done != 12 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestLost: servers that go away for good are given up after the patience, and said to be gone.
func TestLost(t *testing.T) {
	s, conn, err := (&Own{Folder: t.TempDir()}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	f, err := Open(t.Context(), conn, quick, nil)
	if err != nil {
		t.Fatal(err)
	}
	sweep := begun(t, f, fits(2), filepath.Join(t.TempDir(), "a.db"))
	sweep.Patience = time.Second
	var once sync.Once
	sweep.Report = func(Progress) { once.Do(s.Close) }
	_, err = sweep.Run(t.Context())
	var e *memwall.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "no server can be reached") {
		t.Errorf("%v", err)
	}
}

// TestUnreachable: what is not there is said to be not there, after the patience and no later.
func TestUnreachable(t *testing.T) {
	var said []string
	began := time.Now()
	_, err := Connect(t.Context(), &Servers{URLs: fmt.Sprintf("nats://user:secret@127.0.0.1:%d", port(t)),
		Patience: 500 * time.Millisecond}, func(s string) { said = append(said, s) })
	var e *memwall.Error
	if !errors.As(err, &e) || e.Code != memwall.Remote || strings.Contains(e.Message, "secret") ||
		!strings.Contains(e.Message, "127.0.0.1") || len(said) != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("%v, %q", err, said)
	}
	s, conn, err := (&Own{Folder: t.TempDir(), Listen: "127.0.0.1:0", Token: "open sesame, said Ali Baba"}).Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); s.Close() })
	_, err = Connect(t.Context(), &Servers{URLs: s.ClientURL()}, nil)
	if !errors.As(err, &e) || !strings.Contains(e.Message, "refuses us") {
		t.Errorf("without a token: %v", err)
	}
	other, err := Connect(t.Context(), &Servers{URLs: s.ClientURL(), Token: "open sesame, said Ali Baba"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	for _, bad := range []Own{{Listen: "0.0.0.0:4222"}, {Listen: "here"}, {Listen: "127.0.0.1:x"}, {Config: "no such file"}} {
		if _, _, err := bad.Start(nil); !errors.As(err, &e) || e.Hint == "" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := Connect(t.Context(), &Servers{URLs: "nats://127.0.0.1", CA: "no such file"}, nil); !errors.As(err, &e) ||
		e.Field != "tls-ca" {
		t.Errorf("%v", err)
	}
}
