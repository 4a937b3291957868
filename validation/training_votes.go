package validation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
	"github.com/memwall/memwall/train"
)

// Vote summarizes a measure with one vote per reporter, however many rows they published: a row is weighted by the inverse of its
// reporter's rows. Rows has the same figures row by row.
type Vote struct {
	Measure *Measure
	// Group is a framework; "" is all of them.
	Group   string
	Makers  int
	Sources Tally
	Rows    Tally
	Used    int
}

// Tally holds errors of a measure, relative to the measurements, and the share of measurements within the bands.
type Tally struct{ Median, P90, Cover float64 }

// maker is who measured a row: the repository that its source names.
func maker(r *Row) string { name, _, _ := strings.Cut(r.Source, ":"); return name }

// frameworkOf is the framework by whose rules a training row was sized.
func frameworkOf(r *Row) string {
	name, _, _ := strings.Cut(r.Ask.Framework, "@")
	if f := train.FindFramework(name); f != nil {
		return f.Name
	}
	return name
}

// TrainingVotes summarizes measures of training memory, overall and by framework.
func TrainingVotes(all []Comparison) (out []Vote) {
	for _, m := range TrainingMeasures {
		if m != &trainFits {
			out = append(out, votes(m, all, frameworkOf, maker)...)
		}
	}
	return out
}

// votes counts the comparisons of a measure: all of them, and each group.
func votes(m *Measure, all []Comparison, group, maker func(*Row) string) (out []Vote) {
	of := map[string][]*Comparison{}
	for i := range all {
		if c := &all[i]; c.Measure == m && c.Refused == "" {
			name := group(c.Row)
			of[""], of[name] = append(of[""], c), append(of[name], c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, vote(m, name, of[name], maker))
	}
	return out
}

// vote counts those who measured by what maker calls them.
func vote(m *Measure, group string, all []*Comparison, maker func(*Row) string) Vote {
	rows := map[string]float64{}
	for _, c := range all {
		rows[maker(c.Row)]++
	}
	return Vote{
		Measure: m, Group: group, Makers: len(rows), Used: len(all),
		Sources: tally(all, func(c *Comparison) float64 { return 1 / rows[maker(c.Row)] }),
		Rows:    tally(all, func(*Comparison) float64 { return 1 }),
	}
}

func tally(all []*Comparison, weight func(*Comparison) float64) Tally {
	errors := make([]stat.Weighted, len(all))
	var inside, sum float64
	for i, c := range all {
		w := weight(c)
		errors[i] = stat.Weighted{Value: math.Abs(c.Error), Weight: w}
		sum += w
		inside += w * float64(count(c.Inside))
	}
	return Tally{stat.WeightedQuantile(errors, 0.5), stat.WeightedQuantile(errors, 0.9), inside / sum}
}

// voteTable writes the votes, and why training rows are not used.
func voteTable(b *strings.Builder, votes []Vote, v Verdicts, refused []Reason) {
	b.WriteString("\n## Training memory, a vote for each source\n\nOne benchmark family is most of the rows of training memory. Here a *source* is a repository with all that it measured; its constants and bands\nnever saw it, and each source weighs the same, whatever it published. Rules were read from frameworks' code and checked on these rows, so that a framework\nunseen is harder still. Models are described from catalogs and sources; what is counted as measured was printed by a run.\n\n")
	writeVotes(b, "framework | sources", votes, func(name string) string { return strings.TrimPrefix(name, "training, ") })
	fmt.Fprintf(b, "\n**Runs or not.** Of %d runs that ran %d are said not to fit (%s), of %d that ran out of memory %d to fit beyond doubt (%s); %d and %d are tight. Counting tight as\nrunning, balanced accuracy is %s; by the best estimate, %s.\n",
		v.Ran, v.RanDenied, Percent(share(v.RanDenied, v.Ran)), v.Out, v.OutSaid, Percent(share(v.OutSaid, v.Out)), v.RanTight, v.OutTight,
		Percent(v.Balanced()), Percent(v.BestEstimate()))
	b.WriteString("\n**Rows that are not used**, by reason:")
	for i := range refused {
		sep := ";"
		if i == 0 {
			sep = ""
		}
		fmt.Fprintf(b, "%s %s (%d)", sep, refused[i].Text, refused[i].Rows)
	}
	b.WriteString(".\n")
}

// writeVotes writes a table of votes. The columns are named after what a group is, and those who vote; figure is what a measure is
// called, nil where all are of one.
func writeVotes(b *strings.Builder, columns string, votes []Vote, figure func(string) string) {
	head, line := "| ", "|"
	if figure != nil {
		head, line = "| figure | ", "|---|"
	}
	one := columns[strings.LastIndex(columns, " ")+1 : len(columns)-1]
	fmt.Fprintf(b, "%s%s | rows | median by %s | p90 | cover | median by row | p90 | cover |\n%s---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
		head, columns, one, line)
	for i := range votes {
		x := &votes[i]
		if figure != nil {
			fmt.Fprintf(b, "| %s ", figure(x.Measure.Name))
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s | %s | %s | %s | %s | %s |\n", cmp.Or(x.Group, "**all**"), x.Makers, x.Used,
			Percent(x.Sources.Median), Percent(x.Sources.P90), Percent(x.Sources.Cover),
			Percent(x.Rows.Median), Percent(x.Rows.P90), Percent(x.Rows.Cover))
	}
}

// trainingRefused counts training rows that are not used, by reason, the most frequent first.
func trainingRefused(all []Comparison) []Reason {
	why := map[*Row]string{}
	for i := range all {
		if c := &all[i]; c.Row.Set == trainingSet && c.Refused != "" {
			why[c.Row] = c.Refused
		}
	}
	n := map[string]int{}
	for _, text := range why {
		n[text]++
	}
	out := make([]Reason, 0, len(n))
	for text, rows := range n {
		out = append(out, Reason{text, rows})
	}
	stable.Sort(out, byRows)
	return out
}
