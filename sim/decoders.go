package sim

import "github.com/memwall/memwall/search"

// decoders are the sequences that decode one token per step. They advance in lockstep, which avoids work per sequence:
// a sequence that joined at tick j with c tokens has c + (tick - j) now.
type decoders struct {
	n, sum   int64 // number of sequences, and the sum of their contexts before the next tick
	left     int64 // tokens still to be generated
	unfilled int64 // free places in the last rows of all
	tick     int64 // next tick
	all      turns // all sequences by when they need their next row
	windowed turns // those of them whose windows are still growing
	// full and window are the blocks that a sequence allocates per row.
	full, window int64
	ends         heap[due] // of their last tokens
	fills        heap[due] // when their windows fill up
}

// turns counts sequences by the tick at which they need a row, modulo the tokens per row.
type turns struct {
	by    []int64
	total int64
}

func (t *turns) add(joined, context, n int64) {
	b := int64(len(t.by))
	t.by[((joined-context)%b+b)%b] += n
	t.total += n
}

// within returns the rows needed in the n ticks from tick on.
func (t *turns) within(tick, n int64) int64 {
	b := int64(len(t.by))
	rows := n / b * t.total
	for i := range n % b {
		rows += t.by[(tick+i)%b]
	}
	return rows
}

func newDecoders(p *Paging, reserved bool) decoders {
	d := decoders{all: turns{by: make([]int64, p.BlockTokens)}, full: p.Full, window: p.Window}
	if reserved {
		d.full, d.window = 0, 0
	}
	if d.window > 0 {
		d.windowed.by = make([]int64, p.BlockTokens)
	}
	return d
}

// join adds a sequence with some context; windowed ones have windows that still grow.
func (d *decoders) join(context, remaining int64, windowed bool) {
	d.n++
	d.sum += context
	d.left += remaining
	d.unfilled += d.rest(context)
	d.all.add(d.tick, context, 1)
	if windowed {
		d.windowed.add(d.tick, context, 1)
	}
}

// leave removes a sequence that joined at a tick with some context.
func (d *decoders) leave(joined, context, remaining int64, windowed bool) {
	now := context + d.tick - joined
	d.n--
	d.sum -= now
	d.left -= remaining
	d.unfilled -= d.rest(now)
	d.all.add(joined, context, -1)
	if windowed {
		d.windowed.add(joined, context, -1)
	}
}

// rest returns the free places in a context's last row.
func (d *decoders) rest(context int64) int64 {
	b := int64(len(d.all.by))
	return (b - context%b) % b
}

// needs returns the blocks needed in the next n ticks.
func (d *decoders) needs(n int64) int64 {
	blocks := d.full * d.all.within(d.tick, n)
	if d.windowed.total > 0 {
		blocks += d.window * d.windowed.within(d.tick, n)
	}
	return blocks
}

// most returns the number of ticks, up to n, for which the given blocks suffice.
func (d *decoders) most(n, blocks int64) int64 {
	if d.needs(n) <= blocks {
		return n
	}
	return search.Largest(0, n-1, 0, func(n int64) bool { return d.needs(n) <= blocks })
}

// pass advances n ticks, or goes back if n is negative.
func (d *decoders) pass(n int64) {
	if d.tick += n; n < 0 {
		d.unfilled -= int64(len(d.all.by))*d.all.within(d.tick, -n) + n*d.n
	} else {
		d.unfilled += int64(len(d.all.by))*d.all.within(d.tick-n, n) - n*d.n
	}
	d.sum += n * d.n
	d.left -= n * d.n
}

// due is an event of a slot at a tick. Ties go to the one admitted first.
type due struct {
	tick, turn int64
	slot       int32
	gen        uint32
}

func (a due) before(b due) bool { return a.tick < b.tick || a.tick == b.tick && a.turn < b.turn }
