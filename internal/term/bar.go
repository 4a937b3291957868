package term

import (
	"sort"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/unit"
)

// part is a stretch of a bar.
type part struct {
	family Family
	bytes  unit.Bytes
}

// parts sums a ledger by family, in the order of bars, without unused pool space.
func parts(items []memwall.Item) []part {
	var sum [Families]unit.Bytes
	for i := range items {
		if it := &items[i]; FamilyFor(it.ID) != Spare {
			sum[FamilyFor(it.ID)] += it.Bytes
		}
	}
	var out []part
	for f, b := range sum {
		if b > 0 {
			out = append(out, part{Family(f), b})
		}
	}
	return out
}

// Apportion divides n cells among amounts by the largest remainder method; every amount above zero gets at least one if there are
// enough cells.
func Apportion(n int, amounts []unit.Bytes) []int {
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

// atLeastOne moves cells from the widest to amounts that got none.
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

// Bar is a picture of one device: parts on a scale, the limit, and the excess over it.
type Bar struct {
	parts  []part
	usable unit.Bytes // 0 for no limit
	Scale  unit.Bytes // the value of all cells together, at least usable and the parts
}

// BarOf returns the bar of a device, scaled to its memory.
func BarOf(d *memwall.Device) Bar {
	b := Bar{parts: parts(d.Ledger), usable: d.Usable, Scale: max(d.Capacity, d.Usable)}
	b.Scale = max(b.Scale, b.sum())
	return b
}

func (b *Bar) sum() (n unit.Bytes) {
	for _, p := range b.parts {
		n += p.bytes
	}
	return n
}

// Drawn is a bar in cells with the positions of its marks.
type Drawn struct {
	Cells  Text
	limit  int // cell of the limit; -1 for none
	starts []int
}

// Draw fills n cells, one of which is the limit's.
func (b *Bar) Draw(n int) Drawn {
	out := Drawn{limit: -1}
	amounts, free := b.amounts()
	if b.usable > 0 {
		n--
	}
	counts := Apportion(n, amounts)
	for i, p := range b.parts {
		out.starts = append(out.starts, out.Cells.Cells())
		out.Cells = append(out.Cells, Span{Text: strings.Repeat(string(Looks[p.family].Glyph), counts[i]), Ink: Looks[p.family].Ink})
	}
	k := len(b.parts)
	out.Cells = append(out.Cells, Span{Text: strings.Repeat("·", counts[k]), Ink: InkFree},
		Span{Text: strings.Repeat("─", counts[k+1]), Ink: InkFree})
	if b.usable == 0 {
		return out
	}
	out.limit = n - counts[k+1]
	if free < 0 {
		out.limit = min(n-1, Apportion(n, []unit.Bytes{b.usable, b.Scale - b.usable})[0])
	}
	out.Cells = out.Cells.limited(out.limit, out.limit+b.over(n))
	return out
}

// amounts returns the parts, and the free space below the limit or the space above it; neither if the parts cross it.
func (b *Bar) amounts() (amounts []unit.Bytes, free unit.Bytes) {
	for _, p := range b.parts {
		amounts = append(amounts, p.bytes)
	}
	if b.usable == 0 {
		return append(amounts, b.Scale-b.sum(), 0), 0
	}
	if free = b.usable - b.sum(); free < 0 {
		return append(amounts, 0, b.Scale-b.sum()), free
	}
	return append(amounts, free, b.Scale-b.usable), free
}

// over returns the number of cells over the limit.
func (b *Bar) over(n int) int {
	short := b.sum() - b.usable
	if short <= 0 {
		return 0
	}
	return max(1, Apportion(n, []unit.Bytes{b.usable, short, b.Scale - b.usable - short})[1])
}

// limited inserts the limit before cell at and hatches the cells from there to end.
func (x Text) limited(at, end int) Text {
	var runes []rune
	var inks []Ink
	for _, s := range x {
		for _, r := range s.Text {
			runes, inks = append(runes, r), append(inks, s.Ink)
		}
	}
	var out Text
	for i := range runes {
		if i == at {
			out = append(out, Span{Text: "│"})
		}
		if i >= at && i < end {
			out = append(out, Span{Text: "╳", Ink: InkOver})
		} else {
			out = append(out, Span{Text: string(runes[i]), Ink: inks[i]})
		}
	}
	if at >= len(runes) {
		out = append(out, Span{Text: "│"})
	}
	return out
}

// BarCells returns the width of bars: 60 cells on 80 columns, 100 on 120.
func (p *Page) BarCells(label int) int {
	w := p.Style.Cells()
	return max(8, min(w-20, w-Gap-Gap-label))
}

// Picture draws the bar of a device with its scale, and who sets the limit.
func (p *Page) Picture(d *memwall.Device, who string) {
	if p.Style.Cells() < Narrow || len(d.Ledger) == 0 {
		return
	}
	b := BarOf(d)
	label := scaleLabel(b.Scale)
	x := b.Draw(p.BarCells(Cells(label)))
	p.Blank()
	p.Line(Pad(Gap), x.Cells, Pad(Gap), Say(label, Dim))
	p.under(d, who, &b, x)
}

func scaleLabel(b unit.Bytes) string {
	v, _, name := Pair(Banded{b, b, b}, b)
	return v + " " + name
}

// under labels the limit, or the parts if they cross it.
func (p *Page) under(d *memwall.Device, who string, b *Bar, x Drawn) {
	if d.Headroom < 0 && b.usable > 0 {
		p.labels(d, b, x)
		return
	}
	if d.Limit == "" {
		return
	}
	for _, word := range []string{who + " may use ", "may use "} {
		if at := x.limit - Cells(word); at >= 0 {
			p.Line(Pad(Gap+at), Say(word, Dim), Say("┘"))
			return
		}
	}
}

// labels draws labels under the largest parts, and the shortage at the right end.
func (p *Page) labels(d *memwall.Device, b *Bar, x Drawn) {
	short := GiB(-d.Headroom, Needed(d).Decimals()) + " short"
	end := x.Cells.Cells()
	line := make([]rune, end)
	for i := range line {
		line[i] = ' '
	}
	copy(line[max(0, end-Cells(short)):], []rune(short))
	room := end - Cells(short) - 1
	order := make([]int, len(b.parts))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return b.parts[order[i]].bytes > b.parts[order[j]].bytes })
	for _, i := range order {
		label := []rune(FamilyNames[b.parts[i].family] + " " + GiB(b.parts[i].bytes, Needed(d).Decimals()))
		at := x.starts[i]
		if at+len(label) < room && blankCells(line, at-2, at+len(label)+2) {
			copy(line[at:], label)
		}
	}
	p.Line(Pad(Gap), Say(string(line[:max(0, room+1)]), Dim), Say(string(line[max(0, room+1):]), InkOver))
}

var FamilyNames = [Families]string{"weights", "training state", "working", "system", "cache", "free"}

func blankCells(line []rune, from, to int) bool {
	for i := max(0, from); i < min(to, len(line)); i++ {
		if line[i] != ' ' {
			return false
		}
	}
	return true
}

// ShareBar draws a share of a scale in the remaining cells of a line; a share above zero has at least one cell.
func (p *Page) ShareBar(share float64, taken int) Text {
	room := max(8, p.Style.Cells()-taken-2*Gap)
	n := int(share*float64(room) + 0.5)
	if share > 0 {
		n = max(1, n)
	}
	return Say(strings.Repeat(string(Looks[Weights].Glyph), n), inkWeights)
}

// Needed returns a device's need with the edges of its band.
func Needed(d *memwall.Device) Banded { return Banded{d.Needed, d.NeededLow, d.NeededHigh} }
