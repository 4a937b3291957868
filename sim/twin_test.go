package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

// The twin of this package is slow and plain: every step goes over every request (vllm/v1/core/sched/scheduler.py), every
// block is a thing of its own with a count of those who use it and a place in the order in which blocks were left
// (vllm/v1/core/block_pool.py), and what is cached is looked up row by row, by all that comes before and what is in the
// row. Run must agree with it to the nanosecond.
//
// With workers for prompts, a cache that arrives has its seat and its blocks from when its transfer began (sim/handover.go).
//
// Where engines do what package sim says that it does not, the twin does as package sim says:
// rows that another one computed first are not cached a second time, blocks of windows and states are never shared, the
// blocks of a row go together, and who decodes is served before prompts that are computed in pieces.

// twinBlock is one block of a cache.
type twinBlock struct{ row *twinRow }

// twinRow are the blocks of a row of tokens, one for each full group.
type twinRow struct {
	key    string // what it is cached as; empty: it is not
	blocks []*twinBlock
	users  int
}

// twinPool has the blocks of a replica.
type twinPool struct {
	queue  []*twinBlock // free ones, who was left longest ago first
	cached map[string]*twinRow
}

func (p *twinPool) take(n int64) []*twinBlock {
	got := slices.Clone(p.queue[:n])
	p.queue = p.queue[n:]
	for _, b := range got {
		if b.row != nil && b.row.key != "" {
			delete(p.cached, b.row.key)
			b.row.key = ""
		}
		b.row = nil
	}
	return got
}

func (p *twinPool) use(r *twinRow) {
	if r.users++; r.users > 1 {
		return
	}
	p.queue = slices.DeleteFunc(p.queue, func(b *twinBlock) bool { return b.row == r })
}

func (p *twinPool) leave(r *twinRow) {
	if r.users--; r.users == 0 {
		p.queue = append(p.queue, r.blocks...)
	}
}

// twinSeq is a request in a replica.
type twinSeq struct {
	r                      workload.Request
	ready, admitted, first time.Duration
	computed, made         int64
	last                   time.Duration // its last token
	decoding, ending, away bool          // away: preempted while its last token was being computed
	inFlight               bool          // its last token is being computed, and not known yet
	apart                  bool
	rows                   []*twinRow
	other                  []*twinBlock // of windows, states and what is reserved
	keys                   []string
	hits                   int64
	preempted              int
	whole                  int64 // its output, where the server computes the prompt alone
	remote                 bool  // its prompt was computed elsewhere
}

// twinHanded is a cache in transit.
type twinHanded struct {
	at time.Duration
	q  *twinSeq
}

func (q *twinSeq) goal() int64 { return q.r.Prompt + q.made }

// key of a row: the one before it, and where each of its tokens is from.
func (q *twinSeq) key(row int, size int64) string {
	for i := len(q.keys); i <= row; i++ {
		var b strings.Builder
		if i > 0 {
			b.WriteString(q.keys[i-1])
		}
		for at := int64(i) * size; at < int64(i+1)*size; at++ {
			id, offset := q.content(at)
			fmt.Fprintf(&b, "%x.%x ", id, offset)
		}
		q.keys = append(q.keys, b.String())
	}
	return q.keys[row]
}

func (q *twinSeq) content(at int64) (id uint64, offset int64) {
	for _, s := range q.r.Spans {
		if at < s.Tokens {
			return s.ID, at
		}
		at -= s.Tokens
	}
	if q.r.Own != 0 {
		return q.r.Own, at
	}
	return 1<<63 | uint64(q.r.ID), at
}

// twinStep is a step that is composed.
type twinStep struct {
	each       time.Duration
	start, end time.Duration
	tokens     []*twinSeq // who has a token at its end
	lasts      []*twinSeq // whose last one it is
	decoders   []*twinSeq
	batch      speed.Batch
	context    int64
	pairs      float64
}

type twinServer struct {
	*Replica
	index            int
	pool             twinPool
	waiting, running []*twinSeq
	cur, next        *twinStep
	coming           []twinHanded // the next first
	dry, stuck       bool
	share            float64 // PromptsFirst's, of answers that room is kept for
	full, scarce     bool    // nobody fits until one ends; the last who was not admitted lacked room
	again            bool    // somebody was preempted or refused, which may let others in at once
	t                *twin
}

// twin is a fleet.
type twin struct {
	*Fleet
	src      workload.Source
	servers  []*twinServer
	arrivals []arrival
	ahead    workload.Request
	open     bool
	seq      int64
	turn     int
	done     map[int64]Done
	now      time.Duration
	steps    int64
	busy     time.Duration
	gaps     []time.Duration
	most     int64 // steps
}

func newTwin(f *Fleet, src workload.Source) *twin {
	t := &twin{Fleet: f, src: src, done: map[int64]Done{}, most: math.MaxInt64}
	for i, r := range slices.Concat(f.Replicas, f.Prefills) {
		s := &twinServer{Replica: &r, index: i, t: t}
		s.pool.cached = map[string]*twinRow{}
		for range s.Blocks {
			s.pool.queue = append(s.pool.queue, &twinBlock{})
		}
		t.servers = append(t.servers, s)
	}
	return t
}

func (t *twin) run() {
	t.pull()
	for t.steps < t.most {
		at, who := never, -1
		for i, s := range t.servers {
			if x := s.at(); x < at {
				at, who = x, i
			}
		}
		if len(t.arrivals) > 0 && t.arrivals[0].at <= at {
			t.deliver()
			continue
		}
		if at == never {
			return
		}
		t.now = at
		t.servers[who].happen(at)
	}
}

func (t *twin) pull() {
	for !t.open || len(t.arrivals) == 0 || t.ahead.Arrival <= t.arrivals[0].at {
		if t.open {
			t.expect(t.ahead)
		}
		if t.ahead, t.open, _ = t.src.Next(); !t.open {
			return
		}
	}
}

func (t *twin) expect(r workload.Request) {
	s := &t.Replicas[0]
	if s.MaxLength > 0 && r.Prompt < s.MaxLength {
		r.Output = min(r.Output, s.MaxLength-r.Prompt)
	}
	at := r.Arrival
	if s.Front != nil {
		at += time.Duration(math.Round(1e9 * s.Front(r.Prompt)))
	}
	t.arrive(arrival{at: at, r: r})
}

func (t *twin) arrive(a arrival) {
	t.seq++
	a.seq = t.seq
	t.arrivals = append(t.arrivals, a)
	slices.SortFunc(t.arrivals, func(a, b arrival) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
}

func (t *twin) deliver() {
	a := t.arrivals[0]
	t.arrivals = t.arrivals[1:]
	t.now = max(t.now, a.at)
	among := t.servers[:len(t.Replicas)]
	if len(t.Prefills) > 0 && !a.remote {
		among = t.servers[len(t.Replicas):]
	}
	s := among[t.choose(among, &a.r)]
	q := &twinSeq{r: a.r, ready: a.at}
	refused := s.MaxLength > 0 && a.r.Prompt >= s.MaxLength
	for _, o := range []*twinServer{s, t.servers[0]} { // with workers for prompts, the cache has to fit where it goes as well
		refused = refused || s.total(q, a.r.Prompt+1) > o.Blocks
	}
	if refused {
		t.over(s, q, a.at, Refused)
		t.pull()
		return
	}
	if s.index >= len(t.Replicas) && q.r.Output > 1 {
		q.whole, q.r.Output = q.r.Output, 1
	}
	if a.remote {
		q.remote, q.ready, q.admitted = true, a.ready, a.began
	}
	s.waiting = append(s.waiting, q)
	s.stuck = false
	t.pull()
}

func (t *twin) choose(among []*twinServer, r *workload.Request) (best int) {
	switch t.Router.(type) {
	case *roundRobin:
		at := t.turn % len(among)
		t.turn = at + 1
		return at
	case leastLoaded:
		for i, s := range among {
			b := among[best]
			if 4*len(s.waiting)+len(s.running) < 4*len(b.waiting)+len(b.running) {
				best = i
			}
		}
		return best
	}
	load := func(i int) int { return len(among[i].waiting) + len(among[i].running) }
	idlest, busiest := 0, 0
	for i := range among {
		if load(i) < load(idlest) {
			idlest = i
		}
		if load(i) > load(busiest) {
			busiest = i
		}
	}
	if load(busiest)-load(idlest) > 64 && float64(load(busiest)) > 1.5*float64(load(idlest)) {
		return idlest
	}
	most := int64(0)
	best = idlest
	for i, s := range among {
		shared := *r
		shared.Prompt = r.Shared() // what comes after is nobody else's
		hits := int64(len(s.match(&twinSeq{r: shared}, min(r.Shared()/s.BlockTokens, (r.Prompt-1)/s.BlockTokens)))) * s.BlockTokens
		if hits > most || hits == most && load(i) < load(best) {
			best, most = i, hits
		}
	}
	if float64(most) > 0.3*float64(r.Prompt) {
		return best
	}
	return idlest
}

func (t *twin) over(s *twinServer, q *twinSeq, now time.Duration, how Outcome) {
	if how == Finished && q.whole > 0 {
		a := arrival{at: now, r: q.r, remote: true, began: q.admitted, ready: q.ready}
		a.r.Output = q.whole
		t.arrive(a)
		return
	}
	d := Done{Request: &q.r, Replica: s.index, Ready: q.ready, Admitted: q.admitted, First: q.first, End: now,
		Generated: q.made, Cached: q.hits * s.BlockTokens, Preempted: q.preempted, Outcome: how}
	t.done[q.r.ID] = d
	if r, ok := t.src.After(d.Request, now); ok {
		t.expect(r)
	}
}

// at is when something happens next.
func (s *twinServer) at() time.Duration {
	switch {
	case s.cur == nil && len(s.waiting) > 0 && !s.stuck:
		return s.t.now
	case s.cur == nil && len(s.coming) > 0:
		return max(s.t.now, s.coming[0].at)
	case s.cur == nil:
		return never
	case s.Ahead && s.next == nil && !s.dry:
		return s.cur.start
	}
	return s.cur.end
}

func (s *twinServer) happen(now time.Duration) {
	if s.cur == nil {
		s.begin(s.compose(now), now)
		s.stuck = s.cur == nil && !s.again
		return
	}
	if s.Ahead && s.next == nil && !s.dry {
		s.next = s.compose(now)
		s.dry = s.next == nil
		return
	}
	st := s.cur
	s.cur, s.dry = nil, false
	s.finish(st)
	next := s.next
	if s.next = nil; next == nil {
		next = s.compose(now)
	}
	s.begin(next, now)
}

func (s *twinServer) begin(st *twinStep, now time.Duration) {
	if st == nil {
		return
	}
	st.start, st.end = now, now+st.each
	for _, q := range st.decoders {
		if q.last == 0 {
			q.last = st.start
		}
		s.t.gaps = append(s.t.gaps, st.end-q.last)
	}
	for _, q := range st.tokens {
		q.last = st.end
	}
	s.t.steps++
	s.t.busy += st.each
	s.cur = st
}

// finish hands out the tokens of a step.
func (s *twinServer) finish(st *twinStep) {
	for _, q := range st.tokens {
		if q.first == 0 {
			q.first = st.end
		}
	}
	for _, q := range st.lasts {
		if !q.away {
			s.free(q, q.computed)
			s.running = remove(s.running, q)
		}
		s.full = false
		s.t.over(s, q, st.end, Finished)
	}
	for _, q := range s.running {
		q.inFlight = false
	}
	if s.next != nil {
		for _, q := range s.next.decoders {
			q.inFlight = true
		}
	}
}

func remove(from []*twinSeq, q *twinSeq) []*twinSeq {
	return slices.DeleteFunc(from, func(o *twinSeq) bool { return o == q })
}

// seats that are taken.
func (s *twinServer) seats() int64 { return int64(len(s.running) + len(s.coming)) }

// compose a step.
func (s *twinServer) compose(now time.Duration) *twinStep {
	st := &twinStep{}
	s.receive(now)
	s.again = false
	if s.Policy == PromptsFirst {
		s.promptsFirst(st, now)
	} else {
		s.inflight(st, now)
	}
	if st.batch.Decodes+st.batch.Prefill == 0 {
		return nil
	}
	s.timed(st)
	return st
}

// inflight is the policy of that name.
func (s *twinServer) inflight(st *twinStep, now time.Duration) {
	budget, preempted := s.Budget, false
	s.makeRoom(&preempted)
	s.again = preempted
	running := slices.Clone(s.running)
	budget -= s.decode(st)
	for _, q := range running {
		if n := min(s.piece(q), budget); n > 0 && !q.ending && !slices.Contains(st.decoders, q) {
			budget -= s.prompt(st, q, n)
		}
	}
	for !preempted && len(s.waiting) > 0 && !s.waiting[0].remote && s.seats() < s.MaxSequences {
		if !s.admit(st, &budget, now, 0) {
			break
		}
	}
	if st.batch.Decodes > 0 && s.Budget < st.batch.Decodes+st.batch.Prefill || int64(len(s.running)) > s.MaxSequences {
		panic("a step beyond its bounds")
	}
}

// admit who waits first, or refuse one that fits nowhere; false: it goes on waiting. Beside what it computes now, so many tokens of others
// have to find room with its whole answer; nobody asks where that is zero.
func (s *twinServer) admit(st *twinStep, budget *int64, now time.Duration, kept int64) bool {
	q := s.waiting[0]
	hits := s.match(q, (q.goal()-1)/s.BlockTokens)
	q.computed = int64(len(hits)) * s.BlockTokens
	n := s.piece(q)
	s.scarce = false
	fits := n <= *budget || !s.WholePrompts
	n = min(n, *budget)
	fits = fits && n > 0
	if fits {
		fits = s.room(q, hits, n)
		if s.Policy == PromptsFirst && s.seats() > 0 {
			fits = fits && s.total(q, q.goal()+q.r.Output-q.made+kept)-int64(len(hits))*s.Full <= int64(len(s.pool.queue))
		}
		s.scarce = !fits
	}
	if !fits && s.seats() > 0 {
		q.computed = 0
		return false
	}
	s.waiting = s.waiting[1:]
	if !fits {
		how := Refused
		if q.made > 0 {
			how = Failed
		}
		s.t.over(s, q, now, how)
		s.again = true
		return true
	}
	if q.preempted == 0 {
		q.admitted, q.hits = now, int64(len(hits))
	}
	for _, row := range hits {
		s.pool.use(row)
	}
	q.rows = hits
	s.running = append(s.running, q)
	*budget -= s.prompt(st, q, n)
	return true
}

// decode a token of each sequence that decodes, and count them.
func (s *twinServer) decode(st *twinStep) int64 {
	for _, q := range slices.Clone(s.running) {
		if q.decoding && !q.ending {
			st.context += q.computed
			st.batch.Decodes++
			st.decoders = append(st.decoders, q)
			s.compute(st, q, 1)
			q.inFlight = true
		}
	}
	return st.batch.Decodes
}

// prompt computes a piece of a prompt.
func (s *twinServer) prompt(st *twinStep, q *twinSeq, n int64) int64 {
	st.pairs += float64(n) * (float64(q.computed) + float64(n)/2)
	st.batch.Prefill += n
	st.batch.Prompts++
	if s.compute(st, q, n); q.decoding || q.ending {
		st.batch.Finished++
	}
	return n
}

// timed gives a step its time.
func (s *twinServer) timed(st *twinStep) {
	b := &st.batch
	if b.Decodes > 0 {
		b.Context = st.context/b.Decodes/contextStep*contextStep + contextStep/2
	}
	if b.Prefill > 0 {
		l := float64(b.Prefill)
		b.Cached = max(0, int64((st.pairs-l*l/(2*float64(b.Prompts)))/l))
	}
	st.each = max(1, time.Duration(math.Round(1e9*s.Timer(*b))))
}

// piece is how much of a request a step would compute.
func (s *twinServer) piece(q *twinSeq) int64 {
	n := q.goal() - q.computed
	if s.LongPrompt > 0 {
		n = min(n, s.LongPrompt)
	}
	return n
}

// makeRoom preempts who came last until all who run find room. Where the budget is not short that is the same as
// engines do, who look when each one's turn comes (schedule, "First, schedule the RUNNING requests").
func (s *twinServer) makeRoom(preempted *bool) {
	for {
		need, budget := int64(0), s.Budget
		for _, q := range s.running {
			if q.decoding && !q.ending {
				need += s.more(q, q.computed+1)
				budget--
			}
		}
		for _, q := range s.running {
			if !q.decoding && !q.ending {
				n := min(s.piece(q), budget)
				need += s.more(q, q.computed+n)
				budget -= n
			}
		}
		if need <= int64(len(s.pool.queue)) {
			return
		}
		*preempted = true
		s.preempt(s.running[len(s.running)-1])
	}
}

// preempt sends a request back, even one whose last token is being computed: that one ends all the same.
func (s *twinServer) preempt(q *twinSeq) {
	known := q.computed
	if q.inFlight {
		known--
	}
	s.free(q, known)
	s.running = remove(s.running, q)
	q.preempted++
	if q.ending {
		q.away = true
		return
	}
	q.computed, q.decoding, q.inFlight, q.apart, q.keys = 0, false, false, false, nil
	s.waiting = append([]*twinSeq{q}, s.waiting...)
}

// total blocks of so many tokens.
func (s *twinServer) total(q *twinSeq, tokens int64) int64 {
	if tokens == 0 {
		return 0
	}
	if s.Reserve != nil {
		return s.Reserve(&q.r) * s.Full
	}
	rows := (tokens + s.BlockTokens - 1) / s.BlockTokens
	return s.Full*rows + s.Window*min(rows, s.Rows) + s.Fixed
}

func (s *twinServer) has(q *twinSeq) int64 { return int64(len(q.rows))*s.Full + int64(len(q.other)) }

func (s *twinServer) more(q *twinSeq, tokens int64) int64 { return max(0, s.total(q, tokens)-s.has(q)) }

// room reports whether a request could begin with a piece of some tokens.
func (s *twinServer) room(q *twinSeq, hits []*twinRow, n int64) bool {
	free := int64(len(s.pool.queue))
	for _, row := range hits {
		if row.users == 0 {
			free -= s.Full
		}
	}
	have := int64(len(hits)) * s.Full
	if s.Promise {
		for _, o := range s.running {
			free -= s.more(o, o.r.Prompt+o.r.Output)
		}
		if s.total(q, q.r.Prompt+q.r.Output)-have > free {
			return false
		}
		for _, o := range s.running {
			free += s.more(o, o.r.Prompt+o.r.Output)
		}
	}
	first := q.computed + n
	if s.WholeRoom {
		first = q.goal()
	}
	return s.total(q, first)-have <= free && s.total(q, q.goal()) <= s.Blocks
}

// compute some tokens of a request.
func (s *twinServer) compute(st *twinStep, q *twinSeq, n int64) {
	q.computed += n
	s.grow(q)
	if q.computed < q.goal() {
		return
	}
	q.made++
	q.decoding = true
	st.tokens = append(st.tokens, q)
	if q.made == q.r.Output {
		q.ending = true
		st.lasts = append(st.lasts, q)
	}
}

// grow what a request holds to what it has computed, and cache rows of the prompt that are full.
func (s *twinServer) grow(q *twinSeq) {
	if s.Reserve != nil {
		q.other = append(q.other, s.pool.take(s.more(q, q.computed))...)
		return
	}
	rows := (q.computed + s.BlockTokens - 1) / s.BlockTokens
	for int64(len(q.rows)) < rows {
		row := &twinRow{users: 1, blocks: s.pool.take(s.Full)}
		q.rows = append(q.rows, row)
	}
	q.other = append(q.other, s.pool.take(s.more(q, q.computed))...)
	if !q.decoding {
		s.cache(q, min(q.computed, q.goal()))
	}
}

// cache the rows of so many tokens.
func (s *twinServer) cache(q *twinSeq, tokens int64) {
	if !s.PrefixCache || s.Reserve != nil {
		return
	}
	for i := range int(tokens / s.BlockTokens) {
		row := q.rows[i]
		if row.key != "" {
			continue
		}
		key := q.key(i, s.BlockTokens)
		if q.apart = q.apart || s.pool.cached[key] != nil; q.apart {
			return
		}
		row.key = key
		s.pool.cached[key] = row
		for _, b := range row.blocks {
			b.row = row
		}
	}
}

// free what a request has, of which so many tokens are known.
func (s *twinServer) free(q *twinSeq, known int64) {
	s.cache(q, known)
	s.pool.queue = append(s.pool.queue, q.other...)
	for _, row := range slices.Backward(q.rows) {
		s.pool.leave(row)
	}
	q.rows, q.other = nil, nil
}

// match are the cached rows at the beginning.
func (s *twinServer) match(q *twinSeq, most int64) (rows []*twinRow) {
	if !s.PrefixCache {
		return nil
	}
	for i := range int(most) {
		row := s.pool.cached[q.key(i, s.BlockTokens)]
		if row == nil {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// scripted is a source of sessions: each has its requests one after the other, and begins at a time.
type scripted struct {
	sessions [][]workload.Request
	begun    int
	at       map[uint64]int
	think    time.Duration
}

func (s *scripted) Next() (r workload.Request, ok bool, err error) {
	if s.begun == len(s.sessions) {
		return r, false, nil
	}
	r = s.sessions[s.begun][0]
	s.begun++
	return r, true, nil
}

func (s *scripted) After(done *workload.Request, at time.Duration) (r workload.Request, ok bool) {
	turns := s.sessions[done.User]
	s.at[done.User]++
	if s.at[done.User] >= len(turns) {
		return r, false
	}
	r = turns[s.at[done.User]]
	r.Arrival = at + s.think*time.Duration(done.ID%3)
	if r.Prompt == 0 { // goes on where the last ended
		before := done.Prompt + done.Output
		r.Prompt = before + 1 + r.ID%17
		r.Spans = append(slices.Clone(done.Spans), workload.Span{ID: done.Own, Tokens: before - done.Shared()})
	}
	return r, true
}

// anything is a random fleet with a random workload that fits it more or less.
func anything(seed uint64) (f Fleet, source func() workload.Source) {
	r := rand.New(rand.NewPCG(seed, 7))
	some := func(of ...int64) int64 { return of[r.IntN(len(of))] }
	one := func(in int) bool { return r.IntN(in) == 0 }
	step := float64(some(1, 10, 1000)) * 1e-5
	rep := Replica{Policy: Inflight, Ahead: one(2), MaxSequences: some(1, 2, 3, 8, 64)}
	rep.Timer = func(b speed.Batch) float64 {
		return step + 1e-5*float64(b.Decodes) + 2e-6*float64(b.Prefill) + 1e-8*float64(b.Decodes*b.Context) +
			1e-9*float64(b.Prefill*b.Cached) + 3e-6*float64(b.Prompts) + 1e-7*float64(b.Finished)
	}
	rep.Budget = rep.MaxSequences + some(0, 1, 7, 40, 300, 5000)
	rep.Paging = Paging{BlockTokens: some(1, 2, 4, 16, 32), Full: some(1, 1, 1, 2, 3), PrefixCache: !one(3)}
	if one(3) {
		rep.LongPrompt = some(1, 5, 32, 100)
	} else {
		rep.WholePrompts = one(6)
	}
	if one(4) {
		rep.Window, rep.Rows = some(1, 2, 5), some(1, 2, 7)
	}
	if one(5) {
		rep.Fixed = some(1, 3)
	}
	if one(6) {
		rep.MaxLength = some(20, 100, 400)
	}
	if one(6) {
		rep.Front = func(prompt int64) float64 { return 1e-6 * float64(prompt*7%50) }
	}
	longest := some(1, 8, 60, 300)
	rows := (2*longest + rep.BlockTokens - 1) / rep.BlockTokens
	rep.Blocks = rows*rep.Full + rep.Window*rep.Rows + rep.Fixed + r.Int64N(1+rows*rep.Full*some(0, 1, 2, 5, 20))
	if one(8) {
		rep.Blocks = max(1, rep.Blocks/2)
	}
	rep.Promise, rep.WholeRoom = one(6), one(2)
	if one(8) {
		rep.PrefixCache = false
		rep.Reserve = func(r *workload.Request) int64 { return (r.Prompt + r.Output + rep.BlockTokens - 1) / rep.BlockTokens }
	}
	f = Fleet{Router: []Router{RoundRobin(), LeastLoaded(), PrefixAware()}[r.IntN(3)]}
	for range some(1, 1, 2, 3) {
		f.Replicas = append(f.Replicas, rep)
	}
	turns := some(1, 1, 3)
	prefixes := r.Int64N(4)
	gap := float64(some(0, 1, 10, 300)) * 1e-4
	var now time.Duration
	var sessions [][]workload.Request
	id := int64(0)
	for user := range uint64(10 + r.IntN(60)) {
		if one(3) {
			now += time.Duration(1e9 * gap * r.ExpFloat64() * 3)
		}
		var list []workload.Request
		for turn := range 1 + r.Int64N(turns) {
			q := workload.Request{ID: id, Arrival: now, User: user, Output: 1 + r.Int64N(longest)}
			id++
			if one(4) {
				q.Output = 1
			}
			if turns > 1 {
				q.Own = uint64(q.ID)<<1 | 1
			}
			if turn == 0 {
				q.Prompt = 1 + r.Int64N(longest)
				if one(6) {
					q.Prompt = 1
				}
				q.Spans = beginnings(r, prefixes, q.Prompt)
			}
			list = append(list, q)
		}
		sessions = append(sessions, list)
	}
	think := time.Duration(r.IntN(2)) * time.Millisecond
	return f, func() workload.Source { return &scripted{sessions: sessions, at: map[uint64]int{}, think: think} }
}

// beginnings of a prompt: spans of a few names, of lengths that differ.
func beginnings(r *rand.Rand, names, prompt int64) (spans []workload.Span) {
	for names > 0 && r.IntN(3) > 0 && len(spans) < 4 {
		name := r.Int64N(names)
		s := workload.Span{ID: uint64(2 + 2*name), Tokens: 3 + 13*name + int64(len(spans))}
		if r.IntN(8) == 0 {
			s.Tokens = 1 + r.Int64N(s.Tokens)
		}
		s.Tokens = min(s.Tokens, prompt)
		if prompt -= s.Tokens; s.Tokens == 0 {
			break
		}
		spans = append(spans, s)
	}
	return spans
}

// agree compares Run with the twin.
func agree(t *testing.T, seed uint64) (preempted, cached int64) {
	t.Helper()
	f, source := anything(seed)
	if f.Replicas[0].Reserve == nil && seed%5 < 2 {
		for i := range f.Replicas {
			f.Replicas[i].Policy, f.Replicas[i].Mixed = PromptsFirst, seed%5 == 0
		}
	}
	if rep := &f.Replicas[0]; seed%4 == 3 && rep.Reserve == nil && !rep.Promise {
		disaggregate(&f, seed)
	}
	w := newTwin(&f, source())
	w.most = 200_000
	w.run()
	if w.steps == w.most {
		t.Fatalf("seed %d: the twin does not end", seed)
	}
	got := map[int64]Done{}
	r, err := Run(&f, source(), Options{Each: func(d *Done) {
		c := *d
		q := *d.Request
		c.Request = &q
		got[q.ID] = c
	}})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	bad := 0
	for id, want := range w.done {
		have, ok := got[id]
		a, b := have, want
		a.Request, b.Request = nil, nil
		if !ok || a != b {
			if bad++; bad <= 3 {
				t.Errorf("seed %d request %d: %+v, the twin has %+v", seed, id, a, b)
			}
		}
	}
	if len(got) != len(w.done) {
		t.Errorf("seed %d: %d requests, the twin has %d", seed, len(got), len(w.done))
	}
	if r.Steps != w.steps || r.Busy != w.busy {
		t.Errorf("seed %d: %d steps in %v, the twin has %d in %v", seed, r.Steps, r.Busy, w.steps, w.busy)
	}
	var sum float64
	for _, g := range w.gaps {
		sum += float64(g)
	}
	if r.Gap.N() != int64(len(w.gaps)) || math.Abs(r.Gap.sum-sum) > 1e-9*sum {
		t.Errorf("seed %d: %d gaps of %v, the twin has %d of %v", seed, r.Gap.N(), r.Gap.sum, len(w.gaps), sum)
	}
	return r.Preemptions, r.Cached
}

// TestTwin: the simulator and its twin agree on everything that each request sees.
func TestTwin(t *testing.T) {
	n := uint64(3000)
	if testing.Short() {
		n = 300
	}
	var preempted, cached int64
	for seed := range n {
		p, c := agree(t, seed)
		preempted, cached = preempted+p, cached+c
		if t.Failed() {
			return
		}
	}
	if preempted < int64(n) || cached < int64(n) {
		t.Errorf("%d preemptions and %d cached tokens in %d workloads try too little", preempted, cached, n)
	}
}
