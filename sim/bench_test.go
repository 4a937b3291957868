package sim

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/memwall/memwall/workload"
)

// flow is a source without end but for a number, whose requests cost nothing to make.
type flow struct {
	n, made int64
	gap     time.Duration
	random  *rand.Rand
	make    func(r *workload.Request, f *flow)
	after   func(f *flow, done *workload.Request, at time.Duration) (workload.Request, bool)
}

func (f *flow) Next() (r workload.Request, ok bool, err error) {
	if f.made == f.n {
		return r, false, nil
	}
	r = workload.Request{ID: f.made, Arrival: time.Duration(f.made) * f.gap}
	f.made++
	f.make(&r, f)
	return r, true, nil
}

func (f *flow) After(done *workload.Request, at time.Duration) (r workload.Request, ok bool) {
	if f.after == nil {
		return r, false
	}
	return f.after(f, done, at)
}

// between two numbers, evenly.
func (f *flow) between(a, b int64) int64 { return a + f.random.Int64N(b-a) }

func flowing(n int64, gap time.Duration, make func(*workload.Request, *flow)) *flow {
	return &flow{n: n, gap: gap, random: rand.New(rand.NewPCG(1, 2)), make: make}
}

func chatting(r *workload.Request, f *flow) {
	r.Prompt, r.Output = f.between(200, 1800), f.between(50, 450)
}

func measure(b *testing.B, r Replica, src func() workload.Source) {
	b.ReportAllocs()
	var out *Result
	for b.Loop() {
		out = play(b, r, src(), Options{})
	}
	asked := float64(out.Asked)
	b.ReportMetric(asked*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(out.Preemptions)/asked, "preemptions/request")
	b.ReportMetric(float64(out.Cached)/float64(max(1, out.Prompt)), "cached")
}

// BenchmarkOverload: twice what the server can take, so that the queue has tens of thousands.
func BenchmarkOverload(b *testing.B) {
	const n = 100_000
	measure(b, replica(), func() workload.Source { return flowing(n, 10*time.Millisecond, chatting) })
}

// BenchmarkPreempting: room for a few, so that most are preempted.
func BenchmarkPreempting(b *testing.B) {
	const n = 20_000
	r := replica()
	r.Blocks = 3000
	measure(b, r, func() workload.Source { return flowing(n, 60*time.Millisecond, chatting) })
}

// BenchmarkPrefixes: prompts of blocks of 512 tokens, as traces of Mooncake have them.
func BenchmarkPrefixes(b *testing.B) {
	const n = 20_000
	r := replica()
	r.Blocks = 200_000
	measure(b, r, func() workload.Source {
		return flowing(n, 100*time.Millisecond, func(r *workload.Request, f *flow) {
			chat := uint64(f.between(0, 500))
			turns := f.between(1, 40)
			for i := range uint64(turns) {
				r.Spans = append(r.Spans, workload.Span{ID: chat<<8 | i, Tokens: 512})
			}
			r.Prompt, r.Output = turns*512+f.between(1, 512), f.between(50, 450)
		})
	})
}

// BenchmarkSessions: ten turns, each begins with all before.
func BenchmarkSessions(b *testing.B) {
	const n = 5_000
	measure(b, replica(), func() workload.Source {
		turns := map[uint64]int{}
		f := flowing(n, time.Second, func(r *workload.Request, f *flow) {
			r.Prompt, r.Output = f.between(50, 450), f.between(50, 450)
			r.Own, r.User = uint64(r.ID)<<1|1, uint64(r.ID)
		})
		f.after = func(f *flow, done *workload.Request, at time.Duration) (r workload.Request, ok bool) {
			if turns[done.User]++; turns[done.User] == 10 {
				return r, false
			}
			before := done.Prompt + done.Output
			r = workload.Request{ID: f.n + int64(done.User)*10 + int64(turns[done.User]), Arrival: at + 5*time.Second, User: done.User,
				Output: f.between(50, 450)}
			r.Own, r.Prompt = uint64(r.ID)<<1|1, before+f.between(50, 450)
			r.Spans = append(append(make([]workload.Span, 0, len(done.Spans)+1), done.Spans...),
				workload.Span{ID: done.Own, Tokens: before - done.Shared()})
			return r, true
		}
		return f
	})
}

// BenchmarkReplicas: eight of them behind a router.
func BenchmarkReplicas(b *testing.B) {
	const n = 100_000
	var rs []Replica
	for range 8 {
		rs = append(rs, replica())
	}
	for b.Loop() {
		if _, err := Run(&Fleet{Replicas: rs, Router: LeastLoaded()}, flowing(n, 6*time.Millisecond, chatting), Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// TestMemory: a live request takes at most a kilobyte, and one that is over nothing.
func TestMemory(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size > 512 {
		t.Errorf("a slot has %d bytes", size)
	}
	live := int64(200_000)
	if grew := grown(t, flowing(live, 0, chatting), live); grew/live > 1024 {
		t.Errorf("%d bytes for each of %d live requests", grew/live, live)
	} else {
		t.Logf("%d bytes for each of %d live requests", grew/live, live)
	}
	if testing.Short() {
		return
	}
	n := int64(10_000_000)
	grew := grown(t, flowing(n, time.Millisecond, func(r *workload.Request, _ *flow) { r.Prompt, r.Output = 16, 4 }), n)
	t.Logf("%d MiB for %d requests", grew>>20, n)
	if grew > 300<<20 {
		t.Errorf("%d bytes for %d requests", grew, n)
	}
}

// grown is the most that the heap grew while a workload was played: looked at when a request ends, a few hundred times.
func grown(t *testing.T, src workload.Source, n int64) int64 {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most, over := m.HeapAlloc, uint64(0), int64(0)
	look := func(*Done) {
		if over++; over == 1 || over%max(1, n/50) == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	play(t, replica(), src, Options{Each: look})
	return int64(most) - int64(before)
}
