package aside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/workload"
)

// TestMain: the test is the process of its pool as well.
func TestMain(m *testing.M) {
	switch os.Getenv("MEMWALL_ASIDE_TEST") {
	case "":
		os.Exit(m.Run())
	case "dies":
		os.Exit(3)
	}
	if err := Answer(os.Stdin, os.Stdout, memwall.Asker{}, tasks()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tasks of the test's processes.
func tasks() Tasks {
	return Tasks{"echo": func(_ context.Context, _ *memwall.Asker, in json.RawMessage) (any, error) { return in, nil },
		"wait": func(ctx context.Context, _ *memwall.Asker, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"refuse": func(context.Context, *memwall.Asker, json.RawMessage) (any, error) {
			return nil, &memwall.Error{Code: memwall.BadField, Field: "pool"}
		}}
}

// TestTasks give what they make of what they are asked, an error with its field, or say that their time is up; the process goes on.
func TestTasks(t *testing.T) {
	p := pool(t, "answers")
	var out []string
	if err := p.Do(t.Context(), "echo", []string{"a", "\x00"}, time.Minute, &out); err != nil || len(out) != 2 || out[1] != "\x00" {
		t.Errorf("%q, %v", out, err)
	}
	if err := p.Do(t.Context(), "wait", nil, 50*time.Millisecond, &out); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	err := p.Do(t.Context(), "refuse", nil, time.Minute, &out)
	if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Field != "pool" {
		t.Error(err)
	}
	if n := len(p.idle); n != 1 {
		t.Errorf("%d processes", n)
	}
}

// pool of processes that answer, or die.
func pool(t *testing.T, as string) *Pool {
	t.Helper()
	p := New(func() *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(Environment(os.Environ(), 256<<20), "MEMWALL_ASIDE_TEST="+as)
		return c
	})
	t.Cleanup(p.Close)
	return p
}

func fit() *memwall.Request {
	return &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
}

// endless takes minutes.
func endless() *memwall.Request {
	return &memwall.Request{Ask: "sim", Model: "llama-3.1-8b", Hardware: "h100", Workload: &workload.Spec{Rate: 4, Requests: 50_000_000,
		Prompt: workload.Law{Mean: 1000}, Output: workload.Law{Mean: 200}}}
}

// TestAsk: the answer is what this process would give, to the letter, and one process gives many.
func TestAsk(t *testing.T) {
	p := pool(t, "answers")
	for _, r := range []*memwall.Request{fit(), {Ask: "plan", Model: "qwen3-32b", Hardware: "rtx-4090"},
		{Ask: "diagnose", Text: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."}} {
		got, err := p.Ask(t.Context(), r, time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := memwall.Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		g, _ := got.MarshalJSON()
		if w, _ := want.MarshalJSON(); string(g) != string(w) {
			t.Errorf("%s\nwant\n%s", g, w)
		}
	}
	if n := len(p.idle); n != 1 {
		t.Errorf("%d processes for one question at a time", n)
	}
}

// TestErrors are those of an asker, with their fields.
func TestErrors(t *testing.T) {
	_, err := pool(t, "answers").Ask(t.Context(), &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4091"}, time.Minute, nil)
	if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Field != "hardware" || e.Hint == "" {
		t.Errorf("%#v", err)
	}
}

// TestLimit: a search gives what it has by then, and says how far it is before.
func TestLimit(t *testing.T) {
	heard := 0
	ctx, stop := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer stop()
	start := time.Now()
	a, err := pool(t, "answers").Ask(ctx, endless(), 400*time.Millisecond, func(memwall.Progress) { heard++ })
	if err != nil || a.Ask != "sim" {
		t.Errorf("%v, %v after %v", a, err, time.Since(start))
	}
	if heard == 0 {
		t.Error("nothing was told")
	}
}

// TestLeaves: who leaves ends the process, and the next question has another.
func TestLeaves(t *testing.T) {
	p := pool(t, "answers")
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	if _, err := p.Ask(ctx, endless(), time.Minute, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(p.idle) != 0 {
		t.Error("the process goes on")
	}
	if _, err := p.Ask(t.Context(), fit(), time.Minute, nil); err != nil {
		t.Error(err)
	}
}

// TestDies: a process that is gone ends one question, with a fault of the program.
func TestDies(t *testing.T) {
	p := pool(t, "dies")
	for range 2 {
		_, err := p.Ask(t.Context(), fit(), time.Minute, nil)
		if e, ok := errors.AsType[*memwall.Error](err); !ok || e.Code != memwall.Internal {
			t.Errorf("%#v", err)
		}
	}
}

// TestEnds: where who asks is gone, so is what was asked.
func TestEnds(t *testing.T) {
	in, ask, _ := os.Pipe()
	done := make(chan error, 1)
	var out strings.Builder
	go func() { done <- Answer(in, &out, memwall.Asker{}, nil) }()
	fmt.Fprint(ask, `{"limit":60000000000,"in":{"ask":"sim","model":"llama-3.1-8b","hardware":"h100","workload":{"rate":4,`+
		`"requests":50000000,"prompt":{"mean":1000},"output":{"mean":200}}}}`)
	time.Sleep(50 * time.Millisecond)
	ask.Close()
	select {
	case err := <-done:
		if err != nil || !strings.Contains(out.String(), `"out"`) {
			t.Errorf("%v: %s", err, &out)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
}

// TestEnvironment: no token, and the user's own bound comes last.
func TestEnvironment(t *testing.T) {
	e := Environment([]string{"MEMWALL_TOKEN=secret", "GOMEMLIMIT=50"}, 1)
	if slices.ContainsFunc(e, func(v string) bool { return strings.Contains(v, "secret") }) || e[len(e)-1] != "GOMEMLIMIT=50" {
		t.Error(e)
	}
}
