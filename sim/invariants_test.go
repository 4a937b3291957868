package sim

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/workload"
)

// The invariants of a run, by number:
//
//	I1  every request that was asked finished, failed, was refused or hung up, once
//	I2  who finished has its tokens; the result has the sum of all
//	I3  blocks are free, held or cached, at every step, and all free or cached at the end
//	I4  the clock goes on, and arrival <= ready <= admitted < first token <= end
//	I5  the same run gives the same result, to the bit
//	I6  a workload that was written as a trace gives the result that it gave
//	I7  without anything in common a prefix cache changes nothing but the books of what is cached
//	I8  room enough for all at once preempts nobody. More room or more seats may preempt more: who is admitted earlier is
//	    there to be preempted. That is counted here and not asserted
//	I9  what is drawn for drafts, or of patience, changes no arrival and no length
//	I10 quantiles are exact up to a million values, and good to 0.1 % beyond
//	I11 no more sequences than seats, no more tokens than the budget of a step

// watched rules are followed by a check of the server.
type watched struct {
	Policy
	t     *testing.T
	now   *time.Duration
	steps *int
}

func (w watched) compose(s *server, st *step, now, start time.Duration) bool {
	if *w.steps++; *w.steps > 300_000 {
		s.m.fail(fmt.Errorf("no end"))
	}
	w.books(s)
	if now < *w.now || start < now {
		w.t.Errorf("I4: a step is composed at %v for %v, after %v", now, start, *w.now)
	}
	*w.now = now
	ok := w.Policy.compose(s, st, now, start)
	w.books(s)
	b := st.batch
	if s.running.n > s.MaxSequences || w.Policy != Static && b.Decodes*s.draft.width()+b.Prefill > s.Budget {
		w.t.Fatalf("I11: %d sequences of %d, %+v with a budget of %d", s.running.n, s.MaxSequences, b, s.Budget)
	}
	if ok && b.Decodes+b.Prefill == 0 {
		w.t.Fatal("an empty step")
	}
	return ok
}

// books are I3: what each holder has is counted anew.
func (w watched) books(s *server) {
	var own, held, cached, plain int64
	alive := 0
	for i := range s.slots.all {
		t := &s.slots.all[i]
		switch t.state {
		case prefills, decodes, ending, coming:
			own += s.holding(t)
			alive++
		}
	}
	for _, at := range s.pool.spans.byKey {
		n := &s.pool.spans.nodes[at]
		held += n.rowsHeld() * s.Full
		cached += (n.rows - n.rowsHeld()) * s.Full
	}
	for _, r := range s.pool.lru.items[s.pool.lru.head:] {
		if r.node == nobody {
			plain += r.blocks
		}
	}
	p := &s.pool
	if own < 0 || held < 0 || cached < 0 || plain < 0 || p.loose < 0 || p.free != cached+plain+p.loose || p.named != cached ||
		own+held+p.free != s.Blocks {
		w.t.Fatalf("I3: %d blocks: %d own, %d held, %d cached, %d plain and %d loose of %d free", s.Blocks, own, held, cached, plain,
			p.loose, p.free)
	}
	if alive == 0 && p.free != s.Blocks {
		w.t.Fatalf("I3: nobody is there and %d of %d blocks are free", p.free, s.Blocks)
	}
}

// wild is a random fleet with everything that there is.
func wild(seed uint64) (Fleet, func() workload.Source) {
	f, source := anything(seed)
	r := rand.New(rand.NewPCG(seed, 9))
	one := func(in int) bool { return r.IntN(in) == 0 }
	policy := []Policy{Inflight, Inflight, PromptsFirst, Static}[r.IntN(4)]
	ranked, waiting, adapters := one(4), 0, int64(0)
	if one(5) {
		waiting = 1 + r.IntN(20)
	}
	if one(4) {
		adapters = 1 + r.Int64N(3)
	}
	together, groupOf, tier := one(8), 1+r.IntN(3), int64(0)
	if one(3) {
		tier = 1 + r.Int64N(100)
	}
	var drafts *Speculation
	if one(5) {
		n := 1 + r.Int64N(5)
		drafts = &Speculation{Tokens: n, Accepted: chain(n, r.Float64()), Seed: seed}
	}
	for i := range f.Replicas {
		p := &f.Replicas[i]
		p.Policy, p.Ranked, p.MaxWaiting, p.MaxAdapters, p.Speculation = policy, ranked, waiting, adapters, drafts
		p.Mixed = policy == PromptsFirst && seed%2 == 0
		if together {
			p.Group = 1 + i/groupOf // some step with others, some with nobody
		}
		p.Ahead = p.Ahead && !together && drafts == nil
		if drafts != nil {
			p.Budget = max(p.Budget, p.MaxSequences*(drafts.Tokens+1))
		}
		if tier > 0 && p.PrefixCache {
			p.Tier = &Tier{Rows: tier, Fetch: func(rows int64) float64 { return 1e-5 * float64(rows) }}
			if tier%2 == 0 {
				p.Tier.Below = &Tier{Rows: 3 * tier, Fetch: func(rows int64) float64 { return 1e-4 * float64(rows) }}
			}
		}
		p.Handover = func(prompt int64) float64 { return 1e-6 * float64(prompt) }
	}
	if one(5) && !together && policy != Static && f.Replicas[0].Reserve == nil {
		f.Prefills = slices.Clone(f.Replicas)
		for i := range f.Prefills {
			f.Prefills[i].Speculation = nil
		}
	}
	patience := time.Duration(0)
	if one(4) {
		patience = time.Duration(1 + r.Int64N(int64(time.Second)))
	}
	return f, func() workload.Source {
		s := source().(*scripted)
		if patience > 0 || adapters > 0 || ranked {
			s.sessions = slices.Clone(s.sessions)
		}
		for i := range s.sessions {
			s.sessions[i] = slices.Clone(s.sessions[i])
			for j := range s.sessions[i] {
				q := &s.sessions[i][j]
				q.Patience = patience / time.Duration(1+q.ID%3)
				q.Priority, q.Adapter = int32(q.ID%3), uint32(q.ID%5)
			}
		}
		return s
	}
}

// watch plays a fleet and checks all that holds for any.
func watch(t *testing.T, f Fleet, src workload.Source) *Result {
	t.Helper()
	now, steps := time.Duration(0), 0
	for _, of := range [][]Replica{f.Replicas, f.Prefills} {
		for i := range of {
			of[i].Policy = watched{of[i].Policy, t, &now, &steps}
		}
	}
	seen := map[int64]bool{}
	var sum, last int64
	r, err := Run(&f, src, Options{Each: func(d *Done) {
		if seen[d.ID] {
			t.Errorf("I1: request %d ends twice", d.ID)
		}
		seen[d.ID] = true
		sum += d.Generated
		if d.End < time.Duration(last) {
			t.Errorf("I4: an end at %v after one at %v", d.End, time.Duration(last))
		}
		last = int64(d.End)
		switch d.Outcome {
		case Finished:
			if d.Generated != d.Output {
				t.Errorf("I2: request %d has %d tokens of %d", d.ID, d.Generated, d.Output)
			}
			if d.Arrival > d.Ready || d.Ready > d.Admitted || d.Admitted >= d.First || d.First > d.End {
				t.Errorf("I4: request %d arrives at %v, is seen at %v, admitted at %v, has its first token at %v, ends at %v", d.ID,
					d.Arrival, d.Ready, d.Admitted, d.First, d.End)
			}
		case Refused:
			if d.Generated != 0 {
				t.Errorf("I2: request %d is refused with %d tokens", d.ID, d.Generated)
			}
		}
		if d.Cached < 0 || d.Cached >= d.Prompt && d.Admitted != 0 {
			t.Errorf("I2: request %d: %d of %d tokens of the prompt are cached", d.ID, d.Cached, d.Prompt)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if ended := r.Finished + r.Failed + r.Refused + r.HungUp; ended != r.Asked || ended != int64(len(seen)) {
		t.Errorf("I1: %d asked, %d ended, %d of them told", r.Asked, ended, len(seen))
	}
	if sum != r.Generated {
		t.Errorf("I2: %d tokens, %d in all", sum, r.Generated)
	}
	return r
}

// TestInvariants: I1 to I5 and I11, whatever the rules.
func TestInvariants(t *testing.T) {
	n := uint64(2000)
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		f, source := wild(seed)
		g, _ := wild(seed)
		a := watch(t, f, source())
		b := watch(t, g, source())
		if !reflect.DeepEqual(a, b) {
			t.Errorf("I5: %+v, again %+v", a, b)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, told(&f))
		}
	}
}

// told is what a fleet is like.
func told(f *Fleet) string {
	r := f.Replicas[0]
	return fmt.Sprintf("%d replicas and %d for prompts, %T, %T, seats %d, budget %d, %+v, long %d, whole %v, mixed %v, length %d, ahead %v, "+
		"promise %v, reserve %v, ranked %v, waiting %d, adapters %d, group %d, drafts %+v",
		len(f.Replicas), len(f.Prefills), f.Router, r.Policy.(watched).Policy, r.MaxSequences, r.Budget, r.Paging, r.LongPrompt,
		r.WholePrompts, r.Mixed, r.MaxLength, r.Ahead, r.Promise, r.Reserve != nil, r.Ranked, r.MaxWaiting, r.MaxAdapters, r.Group, r.Speculation)
}

// FuzzRun looks for fleets and workloads that break an invariant, panic or have no end.
func FuzzRun(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		f, source := wild(seed)
		watch(t, f, source())
	})
}

// TestReplay is I6: what a trace does not tell is left out on both sides.
func TestReplay(t *testing.T) {
	s := workload.Spec{Arrivals: "poisson", Rate: 20, Requests: 500, Prompt: workload.Law{Law: "lognormal", Mean: 500, CV: 1},
		Output: workload.Law{Law: "lognormal", Mean: 60, CV: 1}, SharedPrefix: 200, Prefixes: workload.Choice{Count: 7, Zipf: 1}, Seed: 3}
	src := func() workload.Source {
		src, err := s.Source()
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	var b []byte
	for all := src(); ; {
		q, ok, err := all.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		b = workload.AppendOwn(b, &q)
	}
	trace, err := workload.Open(bytes.NewReader(b), workload.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := replica()
	r.Blocks = 2000
	want, got := play(t, r, src(), Options{}), play(t, r, trace, Options{})
	if want.Cached == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("I6: %+v, from the trace %+v", want, got)
	}
}

// TestNothingShared is I7.
func TestNothingShared(t *testing.T) {
	for seed := range uint64(300) {
		var last *Result
		for _, cache := range []bool{false, true} {
			f, source := anything(seed)
			for i := range f.Replicas {
				f.Replicas[i].PrefixCache = cache && f.Replicas[i].Reserve == nil
				if _, ok := f.Router.(prefixAware); ok {
					f.Router = RoundRobin()
				}
			}
			src := source().(*scripted)
			for i := range src.sessions {
				q := src.sessions[i][0]
				q.Spans, q.Own = nil, 0
				src.sessions[i] = []workload.Request{q}
			}
			r := watch(t, f, src)
			if r.Preemptions > 0 { // who is preempted finds what it left
				break
			}
			if last != nil && !reflect.DeepEqual(r, last) {
				t.Fatalf("I7: seed %d: %+v, with a prefix cache %+v", seed, last, r)
			}
			last = r
		}
	}
}

// TestMoreRoom is I8.
func TestMoreRoom(t *testing.T) {
	more, less := 0, 0
	for seed := range uint64(600) {
		var was int64
		for _, blocks := range []int64{1, 2, 1000} {
			f, source := anything(seed)
			for i := range f.Replicas {
				f.Replicas[i].Blocks *= blocks
			}
			r := watch(t, f, source())
			switch {
			case blocks == 1000 && r.Preemptions > 0:
				t.Fatalf("I8: seed %d: %d preemptions with room for all", seed, r.Preemptions)
			case blocks == 2 && r.Preemptions > was:
				more++
			case blocks == 2 && r.Preemptions < was:
				less++
			}
			was = r.Preemptions
		}
	}
	t.Logf("twice the room preempts less often %d times, more often %d times", less, more)
	if less < 10*more {
		t.Errorf("twice the room preempts more often %d times, less often only %d times", more, less)
	}
}

// TestDraws is I9.
func TestDraws(t *testing.T) {
	lengths := func(patience float64, drafts uint64) (all []string) {
		s := workload.Spec{Arrivals: "poisson", Rate: 20, Requests: 300, Prompt: workload.Law{Law: "lognormal", Mean: 500, CV: 1},
			Output: workload.Law{Law: "lognormal", Mean: 60, CV: 1}, Seed: 3}
		if patience > 0 {
			s.Patience = workload.Law{Law: "exponential", Mean: patience}
		}
		src, err := s.Source()
		if err != nil {
			t.Fatal(err)
		}
		r := replica()
		r.Ahead = false
		if drafts > 0 {
			r.Speculation = &Speculation{Tokens: 3, Accepted: chain(3, 0.7), Seed: drafts}
			r.Budget = 8192
		}
		play(t, r, src, Options{Each: func(d *Done) { all = append(all, fmt.Sprint(d.ID, d.Arrival, d.Prompt, d.Output)) }})
		slices.Sort(all)
		return all
	}
	want := lengths(0, 0)
	for _, got := range [][]string{lengths(0.5, 0), lengths(0, 1), lengths(5, 2)} {
		if !slices.Equal(got, want) {
			t.Error("I9: arrivals or lengths changed")
		}
	}
}

// TestQuantiles is I10.
func TestQuantiles(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, exactly - 1, exactly, 3 * exactly / 2} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		var s Sample
		all := make([]time.Duration, 0, n)
		for range n {
			d := time.Duration(math.Exp(8 + 2*r.NormFloat64() + 6))
			for range min(1+r.IntN(2), n-len(all)) {
				s.add(d, 1)
				all = append(all, d)
			}
		}
		slices.Sort(all)
		var sum float64
		for _, d := range all {
			sum += float64(d)
		}
		if mean := sum / float64(n); math.Abs(float64(s.Mean())-mean) > 1 {
			t.Errorf("I10: mean %v of %d, is %v", s.Mean(), n, mean)
		}
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			want := bySorting(all, q)
			got := s.Quantile(q)
			if s.Exact() && got != want || math.Abs(float64(got-want)) > 1e-3*float64(want)+1 {
				t.Errorf("I10: quantile %v of %d is %v, by sorting %v", q, n, got, want)
			}
		}
	}
	var s Sample
	for i := range 100 {
		s.add(time.Duration(100-i), int64(i+1))
	}
	all := []time.Duration{}
	for i := range 100 {
		for range i + 1 {
			all = append(all, time.Duration(100-i))
		}
	}
	slices.SortFunc(all, cmp.Compare)
	for _, q := range []float64{0, 0.1, 0.5, 0.99, 1} {
		if got, want := s.Quantile(q), bySorting(all, q); got != want {
			t.Errorf("I10: weighted quantile %v is %v, by sorting %v", q, got, want)
		}
	}
}

// bySorting is a quantile of sorted durations.
func bySorting(all []time.Duration, q float64) time.Duration {
	x := make([]float64, len(all))
	for i, d := range all {
		x[i] = float64(d)
	}
	return time.Duration(math.Round(stat.Quantile(x, q)))
}

// TestHostile: what makes no sense is an error, and what is at an edge is not.
func TestHostile(t *testing.T) {
	ask := func(n int) *list {
		l := make(list, n)
		for i := range l {
			l[i] = workload.Request{ID: int64(i), Prompt: 100, Output: 10}
		}
		return &l
	}
	bad := map[string]func(r *Replica, l *list){
		"clock of nothing":      func(r *Replica, _ *list) { r.Timer = nil },
		"clock NaN":             func(r *Replica, _ *list) { r.Timer = func(speed.Batch) float64 { return math.NaN() } },
		"clock infinite":        func(r *Replica, _ *list) { r.Timer = func(speed.Batch) float64 { return math.Inf(1) } },
		"clock 0":               func(r *Replica, _ *list) { r.Timer = func(speed.Batch) float64 { return 0 } },
		"clock negative":        func(r *Replica, _ *list) { r.Timer = func(speed.Batch) float64 { return -1 } },
		"centuries":             func(r *Replica, l *list) { r.Timer = func(speed.Batch) float64 { return 1e8 }; (*l)[0].Output = 5000 },
		"front NaN":             func(r *Replica, _ *list) { r.Front = func(int64) float64 { return math.NaN() } },
		"front negative":        func(r *Replica, _ *list) { r.Front = func(int64) float64 { return -1 } },
		"no blocks":             func(r *Replica, _ *list) { r.Blocks = 0 },
		"negative blocks":       func(r *Replica, _ *list) { r.Blocks = -1 },
		"too many blocks":       func(r *Replica, _ *list) { r.Blocks = math.MaxInt64 },
		"block tokens":          func(r *Replica, _ *list) { r.BlockTokens = 0 },
		"huge block tokens":     func(r *Replica, _ *list) { r.BlockTokens = 1 << 50 },
		"no full groups":        func(r *Replica, _ *list) { r.Full = 0 },
		"negative windows":      func(r *Replica, _ *list) { r.Window = -1 },
		"negative rows":         func(r *Replica, _ *list) { r.Rows = -1 },
		"negative states":       func(r *Replica, _ *list) { r.Fixed = -1 },
		"no seats":              func(r *Replica, _ *list) { r.MaxSequences = 0 },
		"budget":                func(r *Replica, _ *list) { r.Budget = r.MaxSequences - 1 },
		"negative long prompts": func(r *Replica, _ *list) { r.LongPrompt = -1 },
		"negative length":       func(r *Replica, _ *list) { r.MaxLength = -1 },
		"negative queue":        func(r *Replica, _ *list) { r.MaxWaiting = -1 },
		"shared reserves":       func(r *Replica, _ *list) { r.Reserve = func(*workload.Request) int64 { return 1 } },
		"drafts":                func(r *Replica, _ *list) { r.Speculation = &Speculation{Tokens: -1} },
		"acceptance":            func(r *Replica, _ *list) { r.Speculation = &Speculation{Tokens: 1, Accepted: []float64{math.NaN()}} },
		"empty prompt":          func(_ *Replica, l *list) { (*l)[1].Prompt = 0 },
		"negative prompt":       func(_ *Replica, l *list) { (*l)[1].Prompt = -5 },
		"empty answer":          func(_ *Replica, l *list) { (*l)[1].Output = 0 },
		"huge prompt":           func(_ *Replica, l *list) { (*l)[1].Prompt = math.MaxInt64 },
		"back in time":          func(_ *Replica, l *list) { (*l)[0].Arrival = 5 },
		"long spans":            func(_ *Replica, l *list) { (*l)[1].Spans = []workload.Span{{ID: 2, Tokens: 101}} },
		"empty span":            func(_ *Replica, l *list) { (*l)[1].Spans = []workload.Span{{ID: 2}} },
	}
	for name, spoil := range bad {
		r, l := replica(), ask(3)
		spoil(&r, l)
		if _, err := Run(&Fleet{Replicas: []Replica{r}, Router: RoundRobin()}, l, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Run(&Fleet{Router: RoundRobin()}, ask(1), Options{}); err == nil {
		t.Error("no replica: no error")
	}
	if _, err := Run(&Fleet{Replicas: []Replica{replica()}}, ask(1), Options{}); err == nil {
		t.Error("no router: no error")
	}
	edges := map[string]struct {
		n        int
		change   func(r *Replica)
		finished int64
	}{
		"nobody":            {0, func(*Replica) {}, 0},
		"one":               {1, func(*Replica) {}, 1},
		"one block":         {3, func(r *Replica) { r.Blocks = 1 }, 0},
		"one large block":   {3, func(r *Replica) { r.Blocks, r.BlockTokens = 1, 4096 }, 3},
		"tokens for blocks": {3, func(r *Replica) { r.BlockTokens = 1 }, 3},
		"never fits":        {3, func(r *Replica) { r.Blocks = 6 }, 0},
		"just does not end": {3, func(r *Replica) { r.Blocks, r.BlockTokens, r.LongPrompt = 105, 1, 10 }, 0},
		"just ends":         {3, func(r *Replica) { r.Blocks, r.BlockTokens, r.LongPrompt = 109, 1, 10 }, 3},
		"too long":          {3, func(r *Replica) { r.MaxLength = 100 }, 0},
		"cut":               {3, func(r *Replica) { r.MaxLength = 101 }, 3},
	}
	for name, e := range edges {
		for _, ahead := range []bool{false, true} {
			r := replica()
			r.Ahead = ahead
			e.change(&r)
			got := watch(t, Fleet{Replicas: []Replica{r}, Router: RoundRobin()}, ask(e.n))
			if got.Finished != e.finished || got.Asked != int64(e.n) {
				t.Errorf("%s: %d of %d finished", name, got.Finished, got.Asked)
			}
		}
	}
}
