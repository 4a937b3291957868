package coef

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// header of a table. A row with an empty level is the start value of the coefficient; one with the key "*"
// the prior deviation of a level's offsets, in logarithms; a coefficient "spread" belongs to a band.
const header = "coefficient\tlevel\tkey\tvalue\tstderr\trows"

// Parse reads a table as Write writes it. The error names the line.
func Parse(data []byte) (*Table, error) {
	t := NewTable()
	scan := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; scan.Scan(); n++ {
		if n == 1 || scan.Text() == "" || strings.HasPrefix(scan.Text(), "#") {
			continue
		}
		if err := t.row(strings.Split(scan.Text(), "\t")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return t, scan.Err()
}

func (t *Table) row(cells []string) error {
	if len(cells) != 6 {
		return fmt.Errorf("%d cells, want 6", len(cells))
	}
	v, err := strconv.ParseFloat(cells[3], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("value %q is not a number", cells[3])
	}
	name, level, key := cells[0], cells[1], cells[2]
	switch {
	case name == "spread":
		return t.spread(level, key, v, cells[5])
	case level == "":
		t.start[name] = v
	case key == "*":
		t.expect(name, level, v)
	default:
		o := Offset{Value: v}
		if o.StdErr, err = strconv.ParseFloat(cells[4], 64); err != nil {
			return fmt.Errorf("stderr %q is not a number", cells[4])
		}
		if o.Rows, err = strconv.Atoi(cells[5]); err != nil {
			return fmt.Errorf("rows %q is not a count", cells[5])
		}
		t.put(term{name, level, key}, o)
	}
	return nil
}

// Write gives the table as text, in an order of its own, rounded so that the same rows give the same bytes on
// any machine.
func (t *Table) Write() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, header)
	for _, name := range slices.Sorted(maps.Keys(t.start)) {
		fmt.Fprintf(&b, "%s\t\t\t%s\t\t\n", name, short(t.start[name]))
		t.writeOffsets(&b, name)
	}
	for _, kind := range slices.Sorted(maps.Keys(t.spreads)) {
		t.spreads[kind].write(&b, kind)
	}
	return b.Bytes()
}

func (t *Table) writeOffsets(b *bytes.Buffer, name string) {
	for _, level := range slices.Sorted(maps.Keys(t.priors)) {
		if s := deviation(t.priors[level], name); s > 0 {
			fmt.Fprintf(b, "%s\t%s\t*\t%s\t\t\n", name, level, short(s))
		}
	}
	offsets := t.offsetsOf(name)
	for _, k := range slices.SortedFunc(maps.Keys(offsets), compareTerms) {
		o := offsets[k]
		fmt.Fprintf(b, "%s\t%s\t%s\t%.3f\t%.3f\t%d\n", name, k.level, k.key, o.Value+0, o.StdErr, o.Rows)
	}
}

// offsetsOf are a coefficient's.
func (t *Table) offsetsOf(name string) map[term]Offset {
	out := map[term]Offset{}
	for at, list := range t.offsets {
		if o := find(list, name); o != nil {
			out[term{name, at.level, at.key}] = *o
		}
	}
	return out
}

func compareTerms(a, b term) int {
	return cmp.Or(cmp.Compare(a.coef, b.coef), cmp.Compare(a.level, b.level), cmp.Compare(a.key, b.key))
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
