package workload

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memwall/memwall/fault"
)

// agent asks, runs two tools at once, and goes on when one of them is there; somebody else asks in between.
const agent = `{"arrival_s":1,"prompt_tokens":1000,"output_tokens":50,"prefix_id":"system","prefix_tokens":600,"own":"a","session":7}
{"after":"a","pause_s":2.5,"prompt_tokens":1300,"output_tokens":20,"own":"b"}
{"after":"a","pause_s":4,"prompt_tokens":1100,"output_tokens":30,"own":"c"}
{"after":"b","prompt_tokens":1500,"output_tokens":10}
{"after":"c","pause_s":1,"prompt_tokens":800,"output_tokens":10}
{"arrival_s":1.5,"prompt_tokens":10,"output_tokens":5}
`

// TestFollowing: who follows comes the pause after the answer, begins with all that was said before it, and keeps the session.
func TestFollowing(t *testing.T) {
	src := open(t, agent)
	first, _, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	sys, a := first.Spans[0].ID, first.Own
	ended := func(r *Request, at time.Duration) (out []Request) {
		for n, ok := src.After(r, at); ok; n, ok = src.Rest() {
			out = append(out, n)
		}
		return out
	}
	two := ended(&first, 3*time.Second)
	if len(two) != 2 {
		t.Fatalf("%d follow the first", len(two))
	}
	b, c := two[0], two[1]
	want := []Span{{sys, 600}, {a, 450}}
	if b.Arrival != 5500*time.Millisecond || c.Arrival != 7*time.Second || b.User != first.User || cmp.Diff(want, b.Spans) != "" {
		t.Errorf("%+v and %+v", b, c)
	}
	if d := ended(&b, 6*time.Second); len(d) != 1 || d[0].Arrival != 6*time.Second ||
		cmp.Diff(append(want, Span{b.Own, 270}), d[0].Spans) != "" {
		t.Errorf("%+v follow the tool that came first", d)
	}
	if d := ended(&c, 8*time.Second); len(d) != 1 || d[0].Shared() != 800 { // 1,130 were said, and cut to the prompt
		t.Errorf("%+v follow the other", d)
	}
	other, ok, err := src.Next()
	if err != nil || !ok || other.Arrival != 1500*time.Millisecond || other.ID != 5 {
		t.Errorf("the next who comes by himself: %+v, %v, %v", other, ok, err)
	}
	if r, ok, err := src.Next(); ok || err != nil {
		t.Errorf("after the end: %+v, %v", r, err)
	}
}

// TestFollowingSampled: several answers to each prompt bring those that follow it once, when the last is there.
func TestFollowingSampled(t *testing.T) {
	src := Sampled(open(t, agent), 2)
	one, _, _ := src.Next()
	two, _, _ := src.Next()
	if _, ok := src.After(&one, time.Second); ok {
		t.Error("the next prompts came before the last answer")
	}
	n := 0
	for _, ok := src.After(&two, 2*time.Second); ok; _, ok = src.(Several).Rest() {
		n++
	}
	if n != 4 {
		t.Errorf("%d answers to the two prompts that follow, want 4", n)
	}
}

// TestFollowingLoop: who follows comes in generated arrivals too, without pauses where all come at once; a closed loop has as many under way
// as it has users and branches, and one user takes the next request when all branches have ended.
func TestFollowingLoop(t *testing.T) {
	for _, c := range []struct {
		spec    Spec
		arrival time.Duration
	}{{Spec{Arrivals: "burst"}, time.Second}, {Spec{Arrivals: "closed", Concurrency: 1}, 3500 * time.Millisecond}} {
		src, err := c.spec.Replay(strings.NewReader(agent))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := src.Next()
		b, ok := src.After(&first, time.Second)
		d, more := src.(Several).Rest()
		if !ok || !more || b.Arrival != c.arrival {
			t.Errorf("%s: %+v and %+v follow", c.spec.Arrivals, b, d)
		}
		last := 0
		for _, r := range []Request{b, d} {
			next, _ := src.After(&r, 9*time.Second)
			if r, ok := src.After(&next, 10*time.Second); ok {
				last++
				if r.ID != 5 {
					t.Errorf("%s: %+v is the next", c.spec.Arrivals, r)
				}
			}
		}
		if want := map[string]int{"closed": 1}[c.spec.Arrivals]; last != want {
			t.Errorf("%s: %d of two branches took the next request, want %d", c.spec.Arrivals, last, want)
		}
	}
}

// TestFollowingFaults: what follows nothing is a fault of its line.
func TestFollowingFaults(t *testing.T) {
	const root = `{"arrival_s":1,"prompt_tokens":10,"output_tokens":5,"own":"a"}` + "\n"
	for line, want := range map[string]string{
		`{"after":"x","prompt_tokens":20,"output_tokens":5}`:                                                                "line 2: after names no request",
		`{"after":"a","arrival_s":2,"prompt_tokens":20,"output_tokens":5}`:                                                  "an arrival_s or an after, not both",
		`{"after":"a","pause_s":-2,"prompt_tokens":20,"output_tokens":5}`:                                                   "line 2: pause_s = -2",
		`{"arrival_s":2,"prompt_tokens":9,"output_tokens":5}` + "\n" + `{"after":"a","prompt_tokens":20,"output_tokens":5}`: "line 3: after",
	} {
		src := open(t, root+line+"\n")
		var err error
		for ok := true; ok && err == nil; {
			_, ok, err = src.Next()
		}
		if err == nil || !strings.Contains(fmt.Sprintf("%v %+v", err, err.(*fault.Error).Fix), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func open(t *testing.T, text string) *Trace {
	t.Helper()
	src, err := Open(strings.NewReader(text), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}
