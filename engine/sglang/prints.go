package sglang

import (
	"math"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// level gives every rank the pool of the rank with the least, and the lines of the start-up log.
func (s *sizer) level(ranks []engine.Rank) {
	least, low, high := capacity{tokens: -1}, capacity{}, capacity{}
	for i := range ranks {
		p, r := &s.ranks[i], &ranks[i]
		if c := p.pool.capacity(r.KV.Pool); least.tokens < 0 || c.tokens < least.tokens {
			less, more := s.spread(p, r)
			least, low, high = c, p.pool.capacity(r.KV.Pool-less), p.pool.capacity(r.KV.Pool+more)
		}
	}
	for i := range ranks {
		r, p := &ranks[i], &s.ranks[i]
		r.KV.Tokens, r.KV.Blocks = least.tokens, least.tokens/p.pool.page
		if r.Unlimited || !p.pool.keepsTokens() {
			r.KV.Tokens, r.KV.Blocks = -1, 0
		}
		r.Prints = s.prints(r, p, least)
		if n := len(r.Prints); n > 0 && p.pool.keepsTokens() {
			// a larger pool may give its states more and its tokens a few less
			r.Prints[n-1].Low, r.Prints[n-1].High = float64(min(low.tokens, least.tokens)), float64(max(high.tokens, least.tokens))
			bandSizes(r.Prints, &r.Prints[n-1])
		}
	}
}

// bandSizes gives the sizes of a pool the band of its tokens.
func bandSizes(prints []engine.Print, tokens *engine.Print) {
	for i := range prints {
		switch p := &prints[i]; p.Name {
		case "K size", "V size", "KV size":
			p.Low, p.High = p.Value*tokens.Low/max(1, tokens.Value), p.Value*tokens.High/max(1, tokens.Value)
		}
	}
}

// capacity of a rank's pools.
type capacity struct{ tokens, sliding, states int64 }

func (p *pool) capacity(bytes unit.Bytes) (c capacity) {
	var cells unit.Bytes
	c.states, cells = p.split(max(0, bytes))
	c.tokens, c.sliding = p.tokens(cells)
	return c
}

// spread is by how much the pool may be smaller or larger than stated: what loading leaves, and the share
// of what the driver takes and of the device's total. The sources differ, so that they add in quadrature.
func (s *sizer) spread(p *prepared, r *engine.Rank) (less, more unit.Bytes) {
	f := share(s.job)
	if r.Unlimited || f == 0 {
		return 0, 0
	}
	c, _ := s.driver(&p.pl)
	l, total := ledger.Find(r.Items, "fragmentation"), s.job.Device(r.Index).Usable
	of := func(b unit.Bytes) float64 { return f * float64(b) }
	less = inQuadrature(float64(l.High-l.Bytes), of(gib(c.high-c.value)), of(total.Value-total.Low))
	more = inQuadrature(float64(l.Bytes-l.Low), of(gib(c.value-c.low)), of(total.High-total.Value))
	return less, more
}

func inQuadrature(x, y, z float64) unit.Bytes { return unit.Bytes(math.Sqrt(x*x + y*y + z*z)) }

// prints are the lines of SGLang's start-up log; its GB are GiB. The last is max_total_num_tokens.
func (s *sizer) prints(r *engine.Rank, p *prepared, n capacity) []engine.Print {
	d := s.job.Device(r.Index)
	if r.Unlimited || d == nil {
		return nil
	}
	c, _ := s.driver(&p.pl)
	total := d.Usable.Value - unit.Bytes(s.job.Plan.Reserved)
	free := total - gib(c.value)
	begin := gibPrint("Load weight begin. avail mem", free)
	begin.Low, begin.High = (total - gib(c.high)).GiB(), (total - gib(c.low)).GiB()
	loaded := free - (ledger.Sum(r.Items).Bytes - r.KV.Needed)
	out := []engine.Print{begin, s.loadedPrint(r, loaded, gib(c.high-c.value), gib(c.value-c.low))}
	pools, used := p.pool.prints(n)
	out = append(out, pools...)
	if !p.pool.keepsTokens() {
		return append(out, gibPrint("Memory pool end. avail mem", loaded-used))
	}
	out = append(out, s.leftPrint(loaded-used-s.tableBytes(n.tokens), gib(c.high-c.value), gib(c.value-c.low)))
	return append(out, countPrint("max_total_num_tokens", n.tokens))
}

// loadedPrint is what is free after loading: what loading leaves and what was free before it vary, each for itself.
func (s *sizer) loadedPrint(r *engine.Rank, loaded, more, less unit.Bytes) engine.Print {
	out := gibPrint("Load weight end. avail mem", loaded)
	l, total := ledger.Find(r.Items, "fragmentation"), s.job.Device(r.Index).Usable
	out.Low = (loaded - inQuadrature(float64(l.High-l.Bytes), float64(more), float64(total.Value-total.Low))).GiB()
	out.High = (loaded + inQuadrature(float64(l.Bytes-l.Low), float64(less), float64(total.High-total.Value))).GiB()
	return out
}

// smallTables are what an attention backend allocates with the pool: up to 0.3 GiB on public logs; some have as much more left, where
// what was free before loading varies between the ranks.
const smallTables, moreLeft = 0.3, 0.25

// leftPrint is what is free once pools and tables lie there: the pool has taken all but the share that is kept free.
func (s *sizer) leftPrint(left, more, less unit.Bytes) engine.Print {
	out := gibPrint("Memory pool end. avail mem", left)
	kept := func(b unit.Bytes) float64 { return (1 - share(s.job)) * float64(b) }
	out.Low = (left - inQuadrature(float64(gib(smallTables)), kept(more), 0)).GiB()
	out.High = (left + inQuadrature(float64(gib(moreLeft)), kept(less), 0)).GiB()
	return out
}

// prints of the pools, and what they take: every pool has one page more than it says.
func (p *pool) prints(n capacity) (out []engine.Print, used unit.Bytes) {
	if p.state > 0 {
		used = unit.Bytes(n.states+p.rule.spare) * p.state
		out = append(out, countPrint("max_mamba_cache_size", n.states))
	}
	f, w := perToken(p.full), perToken(p.sliding)
	size := unit.Bytes(n.tokens+p.page) * f
	switch {
	case f == 0:
	case p.latent:
		out = append(out, gibPrint("KV size", size))
	default:
		out = append(out, gibPrint("K size", size/2), gibPrint("V size", size/2))
	}
	if w > 0 {
		out = append(out, countPrint("full_layer_tokens", n.tokens), countPrint("swa_layer_tokens", n.sliding))
		used += unit.Bytes(n.sliding+p.page) * w
	}
	return out, used + size
}

func gibPrint(name string, b unit.Bytes) engine.Print {
	return engine.Print{Name: name, Value: b.GiB(), Text: strconv.FormatFloat(b.GiB(), 'f', 2, 64), Unit: "GB"}
}

func countPrint(name string, n int64) engine.Print {
	return engine.Print{Name: name, Value: float64(n), Text: strconv.FormatInt(n, 10), Unit: "tokens"}
}
