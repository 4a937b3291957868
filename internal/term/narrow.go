package term

import "slices"

// narrow drops columns of a table wider than the page: those in Give, then the last ones. Numbers are never truncated. The first
// two columns stay unless in Give, and so do remarks, which wrap.
func (tb *Table) narrow(cells int) {
	for tb.width() > cells {
		last := len(tb.Sides) - 1
		if tb.Remark {
			last--
		}
		switch {
		case len(tb.Give) > 0:
			tb.Without(tb.Give[0])
		case last >= 2:
			tb.Without(last)
		default:
			return
		}
	}
}

// width returns the width of the columns, without remarks.
func (tb *Table) width() (n int) {
	for c := range tb.Sides {
		if tb.Remark && c == len(tb.Sides)-1 {
			break
		}
		n += Gap + tb.columnCells(c)
	}
	return n
}

func (tb *Table) columnCells(c int) (n int) {
	for _, r := range tb.Rows {
		if c < len(r) {
			n = max(n, r[c].Cells())
		}
	}
	return n
}

// Without removes a column.
func (tb *Table) Without(c int) {
	tb.Sides = slices.Delete(slices.Clone(tb.Sides), c, c+1)
	for i, r := range tb.Rows {
		if c < len(r) {
			tb.Rows[i] = slices.Delete(slices.Clone(r), c, c+1)
		}
	}
	tb.Give = slices.DeleteFunc(slices.Clone(tb.Give), func(g int) bool { return g == c })
	for i, g := range tb.Give {
		if g > c {
			tb.Give[i]--
		}
	}
}
