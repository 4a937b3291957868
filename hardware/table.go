package hardware

import (
	_ "embed" // the catalog
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

//go:embed catalog/devices.tsv
var devicesText string

//go:embed catalog/nodes.tsv
var nodesText string

//go:embed catalog/prices.tsv
var pricesText string

//go:embed catalog/levels.tsv
var levelsText string

//go:embed catalog/conflicts.tsv
var conflictsText string

//go:embed catalog/metal.tsv
var metalText string

//go:embed catalog/defaults.tsv
var defaultsText string

//go:embed catalog/sources.tsv
var sourcesText string

// A table is one catalog file: a header line, then one line per row, cells separated by tabs, the first cell being the
// row's name.
type table struct{ name, text string }

var (
	devices = table{"devices", devicesText}
	nodes   = table{"nodes", nodesText}
	prices  = table{"prices", pricesText}
	levels  = table{"levels", levelsText}
	metal   = table{"metal", metalText}

	conflicts = table{"conflicts", conflictsText}

	defaults = table{"defaults", defaultsText}
	sources  = table{"sources", sourcesText}
)

// lines iterates over the rows without parsing them: the first cell and the row.
func (t table) lines() iter.Seq2[string, row] {
	return func(yield func(string, row) bool) {
		head, body, _ := strings.Cut(t.text, "\n")
		for body != "" {
			var line string
			line, body, _ = strings.Cut(body, "\n")
			if line == "" {
				continue
			}
			id, _, _ := strings.Cut(line, "\t")
			if !yield(id, row{table: t.name, head: head, line: line}) {
				return
			}
		}
	}
}

func (t table) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, r := range t.lines() {
			if !yield(r) {
				return
			}
		}
	}
}

func (t table) row(id string) (row, bool) {
	for have, r := range t.lines() {
		if have == id {
			return r, true
		}
	}
	return row{}, false
}

func (t table) ids() []string {
	var ids []string
	for id := range t.lines() {
		ids = append(ids, id)
	}
	return ids
}

// A row returns its cells by column header.
type row struct {
	table      string
	head, line string
}

// text returns a cell verbatim, or "".
func (r row) text(column string) string {
	head, line := r.head, r.line
	for head != "" {
		var h, c string
		h, head, _ = strings.Cut(head, "\t")
		c, line, _ = strings.Cut(line, "\t")
		if h == column {
			return c
		}
	}
	return ""
}

// second returns the second cell, which holds the aliases of devices and nodes.
func (r row) second() string {
	_, rest, _ := strings.Cut(r.line, "\t")
	s, _, _ := strings.Cut(rest, "\t")
	return s
}

func (r row) id() string {
	id, _, _ := strings.Cut(r.line, "\t")
	return id
}

// A figure is a parsed cell: "24", "79.11..79.22" or "44.5..44.6..47.5", followed by a mark for its basis and, after an
// @, its source. Without a mark it is a datasheet figure from the row's first source.
type figure struct {
	low, value, high float64
	basis            ledger.Basis
	source           string
	known            bool
}

var marks = map[string]ledger.Basis{"~": ledger.Derived, "!": ledger.Measured, "?": ledger.Assumed}

// recalled is the source of assumed figures that name none.
const recalled = "recalled"

// rangeOf parses "a", "low..high" (with the midpoint as value) or "low..a..high".
func rangeOf(s string) (low, value, high float64, err error) {
	parts := strings.Split(s, "..")
	var x [3]float64
	if len(parts) > 3 {
		return 0, 0, 0, strconv.ErrSyntax
	}
	for i, p := range parts {
		if x[i], err = strconv.ParseFloat(p, 64); err != nil {
			return 0, 0, 0, err
		}
	}
	switch len(parts) {
	case 1:
		return x[0], x[0], x[0], nil
	case 2:
		return x[0], (x[0] + x[1]) / 2, x[1], nil
	}
	return x[0], x[1], x[2], nil
}

// A reader reads the cells of one row, most efficiently in column order, and remembers the first one that is invalid.
type reader struct {
	row
	restHead, restLine string // what follows the last cell read
	first              string // the row's first source
	err                error
}

// text returns a cell verbatim, searching from the last one read.
func (r *reader) text(column string) string {
	for range 2 {
		for r.restHead != "" {
			var h, c string
			h, r.restHead, _ = strings.Cut(r.restHead, "\t")
			c, r.restLine, _ = strings.Cut(r.restLine, "\t")
			if h == column {
				return c
			}
		}
		r.restHead, r.restLine = r.head, r.line
	}
	return ""
}

// figure parses a cell.
func (r *reader) figure(column string) figure {
	cell := r.text(column)
	if cell == "" {
		return figure{}
	}
	number, basis, source := r.marked(cell)
	f := figure{basis: basis, source: source, known: true}
	var err error
	if f.low, f.value, f.high, err = rangeOf(number); err != nil {
		r.fail(column, cell)
		return figure{}
	}
	return f
}

// marked splits a cell into number, basis and source.
func (r *reader) marked(cell string) (number string, basis ledger.Basis, source string) {
	number, source, _ = strings.Cut(cell, "@")
	basis = ledger.Vendor
	if b, ok := marks[number[max(0, len(number)-1):]]; ok {
		basis, number = b, number[:len(number)-1]
	}
	switch {
	case source != "":
	case basis == ledger.Assumed:
		source = recalled
	default:
		if r.first == "" {
			r.first, _, _ = strings.Cut(r.row.text("sources"), " ")
		}
		source = r.first
	}
	return number, basis, source
}

func (r *reader) fail(column, cell string) {
	if r.err == nil {
		r.err = fmt.Errorf("catalog/%s.tsv, %s, column %s: %q cannot be read", r.table, r.id(), column, cell)
	}
}

// size parses a size in the given unit.
func (r *reader) size(column string, of unit.Bytes) Fact[unit.Bytes] {
	f := r.figure(column)
	if !f.known {
		return Fact[unit.Bytes]{}
	}
	return fact(bytesOf(f.value, of), f.basis, f.source).band(bytesOf(f.low, of), bytesOf(f.high, of))
}

// countFact parses a count.
func (r *reader) countFact(column string) Fact[int] {
	f := r.figure(column)
	if !f.known {
		return Fact[int]{}
	}
	return fact(int(f.value), f.basis, f.source)
}

// rate parses a rate, or watts, in the given unit.
func rate[T ~float64](r *reader, column string, of float64) Fact[T] {
	f := r.figure(column)
	if !f.known {
		return Fact[T]{}
	}
	return fact(T(f.value*of), f.basis, f.source).band(T(f.low*of), T(f.high*of))
}

func (r *reader) count(column string) int {
	s := r.text(column)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		r.fail(column, s)
	}
	return n
}
