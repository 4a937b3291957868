package render

import (
	"slices"
	"strings"
)

// side is how a column is aligned.
type side uint8

const (
	left side = iota
	right
	decimal // on the decimal point
)

const gap = 2 // cells between columns, and the margin

// table is rows of cells. The last column may be a remark, which wraps.
type table struct {
	sides  []side
	rows   [][]text
	lead   []int // rows that wrapped added, without their further lines
	remark bool
	picked int // the row that the answer speaks of; 0 is none
	// early: a remark may begin in the column before its own when that is empty.
	early bool
	// most bounds the width of a column; longer texts are shortened in the middle. 0 is no bound.
	most map[int]int
}

func (tb *table) row(cellsOf ...text) { tb.rows = append(tb.rows, cellsOf) }

// wrapped adds a row whose cell at a column goes on in rows below it where it is wider than n.
func (tb *table) wrapped(at, n int, cellsOf ...text) {
	lines := cellsOf[at].wrap(n)
	cellsOf[at] = lines[0]
	tb.row(cellsOf...)
	tb.lead = append(tb.lead, len(tb.rows)-1)
	for _, l := range lines[1:] {
		rest := make([]text, at+1)
		rest[at] = l
		tb.row(rest...)
	}
}

// column puts one in front of a column, with its head and the cells of the rows that wrapped added.
func (tb *table) column(at int, s side, head text, cell func(int) text) {
	tb.sides = slices.Insert(tb.sides, at, s)
	tb.rows[0] = slices.Insert(tb.rows[0], at, head)
	for i, r := range tb.lead {
		tb.rows[r] = slices.Insert(tb.rows[r], at, cell(i))
	}
}

// add writes the table on a page.
func (p *page) add(tb *table) {
	if p.st.endless {
		p.put(tb.grid())
		return
	}
	tb.clean(p)
	tb.layout()
	for _, r := range tb.rows {
		p.row(tb, r)
	}
}

func (tb *table) clean(p *page) {
	for _, r := range tb.rows {
		for i := range r {
			r[i] = r[i].clean(p.st.ASCII)
			if n := tb.most[i]; n > 0 && len(r[i]) == 1 {
				r[i] = text{{shorten(r[i][0].s, n, p.ellipsis()), r[i][0].ink, r[i][0].to}}
			}
		}
	}
}

// layout aligns the cells of each column.
func (tb *table) layout() {
	for c, s := range tb.sides {
		var column []*text
		for _, r := range tb.rows {
			if c < len(r) {
				column = append(column, &r[c])
			}
		}
		if tb.remark && c == len(tb.sides)-1 {
			continue
		}
		align(column, s)
	}
}

// align pads the cells of a column to one width. Column heads have no digits and are set right over
// numbers.
func align(column []*text, s side) {
	width := 0
	before, after := points(column, s)
	for _, x := range column {
		if s == decimal && numeric(x.string()) {
			i, f := point(x.string())
			*x = join(pad(before-i), *x, pad(after-f))
		}
		width = max(width, x.cells())
	}
	for _, x := range column {
		n := width - x.cells()
		if s == left {
			*x = join(*x, pad(n))
		} else {
			*x = join(pad(n), *x)
		}
	}
}

// points gives the widest parts of numbers before and after the decimal point.
func points(column []*text, s side) (before, after int) {
	if s != decimal {
		return 0, 0
	}
	for _, x := range column {
		if v := x.string(); numeric(v) {
			i, f := point(v)
			before, after = max(before, i), max(after, f)
		}
	}
	return before, after
}

// point gives the cells of a number before its decimal point, and from it on.
func point(s string) (before, after int) {
	i := strings.IndexByte(s, '.')
	if i < 0 {
		return cells(s), 0
	}
	return cells(s[:i]), cells(s[i:])
}

func numeric(s string) bool {
	s = strings.TrimLeft(s, "<>=≥+-−~ ")
	return s != "" && s[0] >= '0' && s[0] <= '9'
}

func pad(n int) text {
	if n <= 0 {
		return nil
	}
	return say(strings.Repeat(" ", n))
}

// row writes one row; a remark wraps in its column, or stands below when the column is narrow.
func (p *page) row(tb *table, r []text) {
	line := pad(gap)
	for c, x := range r {
		if tb.remark && c >= len(tb.sides)-2 && lastWord(tb, r) <= c {
			break
		}
		if c > 0 {
			line = join(line, pad(gap))
		}
		line = join(line, x)
	}
	if !tb.remark || len(r) < len(tb.sides) || r[len(r)-1].cells() == 0 {
		p.line(line)
		return
	}
	p.remark(line, 2*gap, r[len(r)-1])
}

// lastWord is the column where a row's remark begins: one further left when the cell before it is empty.
func lastWord(tb *table, r []text) int {
	n := len(tb.sides) - 1
	if tb.early && len(r) > n && r[n].cells() > 0 && strings.TrimSpace(r[n-1].string()) == "" {
		return n - 1
	}
	return n
}

// least cells for a column of remarks.
const least = 16

func (p *page) remark(line text, below int, x text) {
	room := p.st.width() - line.cells() - gap
	if room >= x.cells() || room >= least && room >= x.widest() {
		p.hang(join(line, pad(gap)), line.cells()+gap, x)
		return
	}
	p.line(line)
	p.para(pad(below), x)
}
