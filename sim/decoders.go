package sim

import "github.com/memwall/memwall/search"

// decoders are the sequences that go on by a token in each step. They advance in lockstep, so that nothing is done for
// each of them: a sequence that joined at tick j with c tokens has c + (tick - j) at a tick.
type decoders struct {
	n, sum   int64 // sequences, and the tokens that they have cached before the next tick
	left     int64 // tokens that they will still generate
	unfilled int64 // places in the last rows of all
	tick     int64 // the next one
	all      turns // sequences by when they take their next row
	windowed turns // those of them whose windows are not full yet
	// full and window are the blocks that a sequence takes for a row.
	full, window int64
	ends         heap[due] // their last tokens
	fills        heap[due] // when their windows are full
}

// turns are sequences by the remainder of the ticks at which they take a row, to the tokens of a row.
type turns struct {
	by    []int64
	total int64
}

func (t *turns) add(joined, context, n int64) {
	b := int64(len(t.by))
	t.by[((joined-context)%b+b)%b] += n
	t.total += n
}

// within n ticks from one on they take so many rows.
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

// join a sequence of some context; windowed ones have windows that are not full.
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

// leave one that joined at a tick with a context.
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

// rest are the places of a context's last row that are empty.
func (d *decoders) rest(context int64) int64 {
	b := int64(len(d.all.by))
	return (b - context%b) % b
}

// needs are the blocks that the next n ticks take.
func (d *decoders) needs(n int64) int64 {
	blocks := d.full * d.all.within(d.tick, n)
	if d.windowed.total > 0 {
		blocks += d.window * d.windowed.within(d.tick, n)
	}
	return blocks
}

// most ticks, up to n, for which so many blocks are enough.
func (d *decoders) most(n, blocks int64) int64 {
	if d.needs(n) <= blocks {
		return n
	}
	return search.Largest(0, n-1, 0, func(n int64) bool { return d.needs(n) <= blocks })
}

// pass n ticks, or take as many back where n is negative.
func (d *decoders) pass(n int64) {
	if d.tick += n; n < 0 {
		d.unfilled -= int64(len(d.all.by))*d.all.within(d.tick, -n) + n*d.n
	} else {
		d.unfilled += int64(len(d.all.by))*d.all.within(d.tick-n, n) - n*d.n
	}
	d.sum += n * d.n
	d.left -= n * d.n
}

// due is something that happens to a slot at a tick. Of several at a tick the first admitted comes first.
type due struct {
	tick, turn int64
	slot       int32
	gen        uint32
}

func (a due) before(b due) bool { return a.tick < b.tick || a.tick == b.tick && a.turn < b.turn }
