package render

import (
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// part is a stretch of a bar.
type part struct {
	family family
	bytes  unit.Bytes
}

// parts sums a ledger by family, in the order of bars. Room that a pool leaves is not among them.
func parts(items []memwall.Item) []part {
	var sum [families]unit.Bytes
	for i := range items {
		if it := &items[i]; familyFor(it.ID) != spare {
			sum[familyFor(it.ID)] += it.Bytes
		}
	}
	var out []part
	for f, b := range sum {
		if b > 0 {
			out = append(out, part{family(f), b})
		}
	}
	return out
}

// share gives n cells to amounts by the largest remainder; every amount above zero gets at least one as
// long as there are cells enough.
func share(n int, amounts []unit.Bytes) []int {
	out := make([]int, len(amounts))
	total := unit.Bytes(0)
	for _, a := range amounts {
		total += max(0, a)
	}
	if total == 0 || n <= 0 {
		return out
	}
	rest := make([]float64, len(amounts))
	left := n
	for i, a := range amounts {
		exact := float64(max(0, a)) / float64(total) * float64(n)
		out[i] = int(exact)
		rest[i] = exact - float64(out[i])
		left -= out[i]
	}
	for ; left > 0; left-- {
		i := largest(rest)
		out[i]++
		rest[i]--
	}
	atLeastOne(out, amounts)
	return out
}

func largest(x []float64) (at int) {
	for i := range x {
		if x[i] > x[at] {
			at = i
		}
	}
	return at
}

// atLeastOne takes cells from the widest for amounts that got none.
func atLeastOne(out []int, amounts []unit.Bytes) {
	for i, a := range amounts {
		if a <= 0 || out[i] > 0 {
			continue
		}
		widest := 0
		for j := range out {
			if out[j] > out[widest] {
				widest = j
			}
		}
		if out[widest] < 2 {
			return
		}
		out[widest]--
		out[i]++
	}
}

// bar is a picture of one device: parts on a scale, the limit, and what lies over it.
type bar struct {
	parts  []part
	usable unit.Bytes // 0: no limit
	whole  unit.Bytes // what all cells together stand for, at least usable and the parts
}

func barOf(d *memwall.Device) bar {
	b := bar{parts: parts(d.Ledger), usable: d.Usable, whole: max(d.Capacity, d.Usable)}
	b.whole = max(b.whole, b.sum())
	return b
}

func (b *bar) sum() (n unit.Bytes) {
	for _, p := range b.parts {
		n += p.bytes
	}
	return n
}

// drawn is a bar in cells and where its marks stand.
type drawn struct {
	x      text
	limit  int // cell of the limit, -1 for none
	starts []int
}

// draw fills n cells. The limit takes one of them.
func (b *bar) draw(n int) drawn {
	out := drawn{limit: -1}
	amounts, free := b.amounts()
	if b.usable > 0 {
		n--
	}
	counts := share(n, amounts)
	for i, p := range b.parts {
		out.starts = append(out.starts, out.x.cells())
		out.x = append(out.x, span{s: strings.Repeat(string(looks[p.family].glyph), counts[i]), ink: looks[p.family].ink})
	}
	k := len(b.parts)
	out.x = append(out.x, span{s: strings.Repeat("·", counts[k]), ink: inkFree}, span{s: strings.Repeat("─", counts[k+1]), ink: inkFree})
	if b.usable == 0 {
		return out
	}
	out.limit = n - counts[k+1]
	if free < 0 {
		out.limit = min(n-1, share(n, []unit.Bytes{b.usable, b.whole - b.usable})[0])
	}
	out.x = out.x.limited(out.limit, out.limit+b.over(n))
	return out
}

// amounts are the parts, the room below the limit and what lies above it: nothing when the parts cross it.
func (b *bar) amounts() (amounts []unit.Bytes, free unit.Bytes) {
	for _, p := range b.parts {
		amounts = append(amounts, p.bytes)
	}
	if b.usable == 0 {
		return append(amounts, b.whole-b.sum(), 0), 0
	}
	if free = b.usable - b.sum(); free < 0 {
		return append(amounts, 0, b.whole-b.sum()), free
	}
	return append(amounts, free, b.whole-b.usable), free
}

// over is how many cells lie over the limit.
func (b *bar) over(n int) int {
	short := b.sum() - b.usable
	if short <= 0 {
		return 0
	}
	return max(1, share(n, []unit.Bytes{b.usable, short, b.whole - b.usable - short})[1])
}

// limited puts the limit before cell at and hatches the cells from there to end.
func (x text) limited(at, end int) text {
	var runes []rune
	var inks []ink
	for _, s := range x {
		for _, r := range s.s {
			runes, inks = append(runes, r), append(inks, s.ink)
		}
	}
	var out text
	for i := range runes {
		if i == at {
			out = append(out, span{s: "│"})
		}
		if i >= at && i < end {
			out = append(out, span{s: "╳", ink: inkOver})
		} else {
			out = append(out, span{s: string(runes[i]), ink: inks[i]})
		}
	}
	if at >= len(runes) {
		out = append(out, span{s: "│"})
	}
	return out
}

// barCells is how wide bars are: 60 cells on 80 columns, 100 on 120.
func (p *page) barCells(label int) int {
	w := p.st.width()
	return max(8, min(w-20, w-gap-gap-label))
}

// picture draws the bar of a device with the size of its scale and a word at the limit: who sets it.
func (p *page) picture(d *memwall.Device, who string) {
	if p.st.width() < narrow || len(d.Ledger) == 0 {
		return
	}
	b := barOf(d)
	label := scaleLabel(b.whole)
	x := b.draw(p.barCells(cells(label)))
	p.blank()
	p.line(pad(gap), x.x, pad(gap), say(label, dim))
	p.under(d, who, &b, x)
}

func scaleLabel(b unit.Bytes) string {
	v, _, name := pair(banded{b, b, b}, b)
	return v + " " + name
}

// under names what the limit is, or the parts when they cross it.
func (p *page) under(d *memwall.Device, who string, b *bar, x drawn) {
	if d.Headroom < 0 && b.usable > 0 {
		p.labels(d, b, x)
		return
	}
	if d.Limit == "" {
		return
	}
	for _, word := range []string{who + " may use ", "may use "} {
		if at := x.limit - cells(word); at >= 0 {
			p.line(pad(gap+at), say(word, dim), say("┘"))
			return
		}
	}
}

// labels stand under the largest parts, and what is short at the right end.
func (p *page) labels(d *memwall.Device, b *bar, x drawn) {
	short := gib(-d.Headroom, needed(d).decimals()) + " short"
	end := x.x.cells()
	line := make([]rune, end)
	for i := range line {
		line[i] = ' '
	}
	copy(line[max(0, end-cells(short)):], []rune(short))
	room := end - cells(short) - 1
	order := make([]int, len(b.parts))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return b.parts[order[i]].bytes > b.parts[order[j]].bytes })
	for _, i := range order {
		label := []rune(familyNames[b.parts[i].family] + " " + gib(b.parts[i].bytes, needed(d).decimals()))
		at := x.starts[i]
		if at+len(label) < room && blankCells(line, at-2, at+len(label)+2) {
			copy(line[at:], label)
		}
	}
	p.line(pad(gap), say(string(line[:max(0, room+1)]), dim), say(string(line[max(0, room+1):]), inkOver))
}

var familyNames = [families]string{"weights", "training state", "working", "system", "cache", "free"}

func blankCells(line []rune, from, to int) bool {
	for i := max(0, from); i < min(to, len(line)); i++ {
		if line[i] != ' ' {
			return false
		}
	}
	return true
}

// shareBar draws a share of a scale in the cells that a line leaves; what is not nothing has one cell at least.
func (p *page) shareBar(share float64, taken int) text {
	room := max(8, p.st.width()-taken-2*gap)
	n := int(share*float64(room) + 0.5)
	if share > 0 {
		n = max(1, n)
	}
	return say(strings.Repeat(string(looks[weights].glyph), n), inkWeights)
}
