// Package planfile writes the plans of an answer as CSV, one row per plan: what it is, whether it meets the goal, and
// its time, cost, energy and quality. Unknown figures are empty cells.
//
// See columns.go for the columns.
package planfile

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
)

// row is a plan of an answer.
type row struct {
	*memwall.Candidate
	a  *memwall.Answer
	at int // in the answer's list
}

// Write writes the names of the columns and all plans.
func Write(w io.Writer, a *memwall.Answer) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns()); err != nil {
		return err
	}
	for i := range a.Candidates {
		r := row{&a.Candidates[i], a, i}
		cells := make([]string, len(columns))
		for j := range columns {
			cells[j] = columns[j].of(&r)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Columns are the names of the columns.
func Columns() (names []string) {
	for i := range columns {
		names = append(names, columns[i].name)
	}
	return names
}

// text is a cell that spreadsheets do not take for a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func integer[N ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// given is a count that is not 0.
func given[N ~int64](n N) string {
	if n == 0 {
		return ""
	}
	return integer(n)
}

func counted(n *int64) string {
	if n == nil {
		return ""
	}
	return integer(*n)
}

func figure(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func known(x *float64) string {
	if x == nil {
		return ""
	}
	return figure(*x)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// onFront: no other plan that was played is as good in everything. Empty where plans were not compared.
func onFront(r *row) string {
	if len(r.a.Pareto) == 0 || r.Fleet != nil && r.Simulated == nil {
		return ""
	}
	return yes(slices.Contains(r.a.Pareto, r.at))
}

// command that runs the plan; of several, by their names.
func command(r *row) string {
	var names, out []string
	for name := range r.Flags {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, r.Flags[name])
	}
	return strings.Join(out, "\n")
}
