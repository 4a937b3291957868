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
	f := s.job.Plan.MemFractionStatic
	if r.Unlimited || f == nil {
		return 0, 0
	}
	c, _ := s.driver(&p.pl)
	l, total := ledger.Find(r.Items, "fragmentation"), s.job.Device(r.Index).Usable
	share := func(b unit.Bytes) float64 { return *f * float64(b) }
	less = inQuadrature(float64(l.High-l.Bytes), share(gib(c.high-c.value)), share(total.Value-total.Low))
	more = inQuadrature(float64(l.Bytes-l.Low), share(gib(c.value-c.low)), share(total.High-total.Value))
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
	out := []engine.Print{begin, gibPrint("Load weight end. avail mem", loaded)}
	pools, used := p.pool.prints(n)
	out = append(out, pools...)
	out = append(out, gibPrint("Memory pool end. avail mem", loaded-used))
	if !p.pool.keepsTokens() {
		return out
	}
	return append(out, countPrint("max_total_num_tokens", n.tokens))
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
