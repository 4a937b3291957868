package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// StreamVotes summarizes single streams with one vote per report, each held out of the fit as a whole: overall, and by engine.
func StreamVotes(all []Comparison) (out []Vote) {
	for _, m := range []*Measure{&decodeReports, &promptReports} {
		of := map[string][]*Comparison{}
		for i := range all {
			if c := &all[i]; c.Measure == m && c.Refused == "" {
				of[""] = append(of[""], c)
				of[c.Row.Ask.Engine] = append(of[c.Row.Ask.Engine], c)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			out = append(out, vote(m, name, of[name], streamReporter))
		}
	}
	return out
}

// streamReporter is who measured, and on which device.
func streamReporter(r *Row) string { return r.Source + " on " + r.Ask.Hardware }

func streamTable(b *strings.Builder, votes []Vote) {
	b.WriteString("\n## Single streams, a vote for each report\n\nTokens/s that nobody fitted to: of every row, all that its source measured on that " +
		"device was left out. Two projects\nare half of the rows; here each report weighs the same.\n\n")
	b.WriteString("| figure | engine | reports | rows | median by report | p90 | cover | median by row | p90 | cover |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for i := range votes {
		x := &votes[i]
		name := x.Group
		if name == "" {
			name = "**all**"
		}
		figure, _, _ := strings.Cut(x.Measure.Name, ",")
		fmt.Fprintf(b, "| %s | %s | %d | %d | %s |\n", figure, name, x.Makers, x.Used, strings.Join([]string{
			Percent(x.Sources.Median), Percent(x.Sources.P90), Percent(x.Sources.Cover),
			Percent(x.Rows.Median), Percent(x.Rows.P90), Percent(x.Rows.Cover)}, " | "))
	}
}
