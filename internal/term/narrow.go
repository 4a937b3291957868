package term

import "slices"

// narrow leaves columns out of a table that is laid out and wider than a page: those that give way, then the last ones. A number is
// shown whole or not at all. The first two columns stay, and so do remarks, which wrap.
func (tb *Table) narrow(cells int) {
	for tb.width() > cells {
		last := len(tb.Sides) - 1
		if tb.Remark {
			last--
		}
		if len(tb.Give) > 0 {
			last, tb.Give = tb.Give[0], slices.Clone(tb.Give[1:])
		}
		if last < 2 && len(tb.Sides) <= 2 || last < 1 {
			return
		}
		tb.drop(last)
	}
}

// width of the columns, without remarks.
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

func (tb *Table) drop(c int) {
	tb.Sides = slices.Delete(slices.Clone(tb.Sides), c, c+1)
	for i, r := range tb.Rows {
		if c < len(r) {
			tb.Rows[i] = slices.Delete(slices.Clone(r), c, c+1)
		}
	}
	for i, g := range tb.Give {
		if g > c {
			tb.Give[i]--
		}
	}
}
