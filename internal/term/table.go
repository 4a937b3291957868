package term

import (
	"strings"
)

// Side is the alignment of a column.
type Side uint8

const (
	Left Side = iota
	Right
	Decimal // on the decimal point
)

const Gap = 2 // cells between columns, and the margin

// Table is a table of cells. The last column may be a remark, which wraps.
type Table struct {
	Sides  []Side
	Rows   [][]Text
	Remark bool
	Picked int // the row that the answer is about; 0 for none
	// Early lets a remark begin in the previous column if that is empty.
	Early bool
	// Most bounds the width of columns; longer texts are shortened in the middle. 0 means no bound.
	Most map[int]int
	// Give are the columns that a narrow page drops, in order, before the last ones.
	Give []int
	// continued marks rows that continue a wrapped cell of the row above.
	continued map[int]bool
}

// Row adds a row; a nil cell is empty.
func (tb *Table) Row(cellsOf ...Text) { tb.Rows = append(tb.Rows, cellsOf) }

// Wrapped adds a row whose cell at column at wraps into rows below it if wider than n.
func (tb *Table) Wrapped(at, n int, cellsOf ...Text) {
	lines := cellsOf[at].Wrap(n)
	cellsOf[at] = lines[0]
	tb.Row(cellsOf...)
	for _, l := range lines[1:] {
		rest := make([]Text, at+1)
		rest[at] = l
		if tb.continued == nil {
			tb.continued = map[int]bool{}
		}
		tb.continued[len(tb.Rows)] = true
		tb.Row(rest...)
	}
}

// Add writes the table to a page.
func (p *Page) Add(tb *Table) {
	if p.Style.Endless {
		p.Put(tb.grid())
		return
	}
	tb.clean(p)
	tb.layout()
	tb.narrow(p.Style.Cells())
	var below Text // a remark without room beside its row goes below all lines of the row
	for i, r := range tb.Rows {
		if rest := p.row(tb, r); rest != nil {
			below = rest
		}
		if below != nil && !tb.continued[i+1] {
			p.Para(Pad(2*Gap), below)
			below = nil
		}
	}
}

func (tb *Table) clean(p *Page) {
	for _, r := range tb.Rows {
		for i := range r {
			r[i] = r[i].Clean(p.Style.ASCII)
			if n := tb.Most[i]; n > 0 && len(r[i]) == 1 {
				r[i] = Text{{Shorten(r[i][0].Text, n, p.Ellipsis()), r[i][0].Ink, r[i][0].to}}
			}
		}
	}
}

// layout aligns the cells of each column.
func (tb *Table) layout() {
	for c, s := range tb.Sides {
		var column []*Text
		for _, r := range tb.Rows {
			if c < len(r) {
				column = append(column, &r[c])
			}
		}
		if tb.Remark && c == len(tb.Sides)-1 {
			continue
		}
		align(column, s)
	}
}

// align pads the cells of a column to one width. Column heads have no digits and are right-aligned over numbers.
func align(column []*Text, s Side) {
	width := 0
	before, after := points(column, s)
	for _, x := range column {
		if s == Decimal && Numeric(x.String()) {
			i, f := point(x.String())
			*x = Join(Pad(before-i), *x, Pad(after-f))
		}
		width = max(width, x.Cells())
	}
	for _, x := range column {
		n := width - x.Cells()
		if s == Left {
			*x = Join(*x, Pad(n))
		} else {
			*x = Join(Pad(n), *x)
		}
	}
}

// points returns the largest widths of numbers before and after the decimal point.
func points(column []*Text, s Side) (before, after int) {
	if s != Decimal {
		return 0, 0
	}
	for _, x := range column {
		if v := x.String(); Numeric(v) {
			i, f := point(v)
			before, after = max(before, i), max(after, f)
		}
	}
	return before, after
}

// point returns the widths of a number before its decimal point, and from it on.
func point(s string) (before, after int) {
	i := strings.IndexByte(s, '.')
	if i < 0 {
		return Cells(s), 0
	}
	return Cells(s[:i]), Cells(s[i:])
}

// Numeric reports whether a cell is a number, aligned on its decimal point.
func Numeric(s string) bool {
	s = strings.TrimLeft(s, "<>=≥+-−~ ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

// Pad returns n spaces.
func Pad(n int) Text {
	if n <= 0 {
		return nil
	}
	return Say(strings.Repeat(" ", n))
}

// row writes one row with its remark wrapped in its column, or returns the remark if the column is too narrow.
func (p *Page) row(tb *Table, r []Text) Text {
	line := Pad(Gap)
	for c, x := range r {
		if tb.Remark && c >= len(tb.Sides)-2 && lastWord(tb, r) <= c {
			break
		}
		if c > 0 {
			line = Join(line, Pad(Gap))
		}
		line = Join(line, x)
	}
	if !tb.Remark || len(r) < len(tb.Sides) || r[len(r)-1].Cells() == 0 {
		p.Line(line)
		return nil
	}
	x := r[len(r)-1]
	room := p.Style.Cells() - line.Cells() - Gap
	if room >= x.Cells() || room >= least && room >= x.widest() {
		p.Hang(Join(line, Pad(Gap)), line.Cells()+Gap, x)
		return nil
	}
	p.Line(line)
	return x
}

// lastWord returns the column where a row's remark begins: one earlier if the preceding cell is empty.
func lastWord(tb *Table, r []Text) int {
	n := len(tb.Sides) - 1
	if tb.Early && len(r) > n && r[n].Cells() > 0 && strings.TrimSpace(r[n-1].String()) == "" {
		return n - 1
	}
	return n
}

// least is the minimum width of a remark column, in cells.
const least = 16

// Column aligns cells in a column outside of a table.
func Column(list []Text, how Side) {
	refs := make([]*Text, len(list))
	for i := range list {
		refs[i] = &list[i]
	}
	align(refs, how)
}
