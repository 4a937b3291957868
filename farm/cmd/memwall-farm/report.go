package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/internal/study"
)

// reportFlags are the flags of report.
type reportFlags struct {
	of, per  []string
	csv, svg string
	all      bool
	held     bool
}

func (a *app) report() *cobra.Command {
	f := &reportFlags{}
	c := &cobra.Command{
		Use: "report RESULTS", Short: "what the answers come to so far: the front, what explains them, what they risk",
		Args: one("results", "memwall-farm report study.db"),
		Example: "memwall-farm report study.db\nmemwall-farm report study.db --of usd_per_hour,ttft_p99_ms,output_tokens_per_s --svg " +
			"front.svg --csv designs.csv",
		RunE: func(c *cobra.Command, args []string) error { return a.runReport(c.Context(), f, args[0]) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringSliceVar(&f.of, "of", nil, "figures to compare by, the first two of them in the picture")
	fl.StringSliceVar(&f.per, "per", nil, "factors that say what is wanted; designs are compared where these are the same: model, "+
		"workload and goal where nothing is said, none for no such factor")
	fl.StringVar(&f.csv, "csv", "", "a file with a row for each design")
	fl.StringVar(&f.svg, "svg", "", "a picture of the designs")
	fl.BoolVar(&f.all, "all", false, "all designs, not the front and some after it")
	fl.BoolVar(&f.held, "held", false, "only designs that do what is wanted with all seeds: meet the goal, hold the load, fit")
	return c
}

func (a *app) runReport(ctx context.Context, f *reportFlags, where string) error {
	r, err := reportOf(ctx, where, f.of, f.per)
	if err != nil {
		return err
	}
	if f.svg != "" {
		if len(r.Measures) < 2 {
			return bad("svg", f.svg, "a picture needs two figures that differ between the answers", "--of usd_per_hour,ttft_p99_ms")
		}
		if err := write("svg", f.svg, svg.Study(r)); err != nil {
			return err
		}
	}
	if f.csv != "" {
		if err := writeCSV(f.csv, r); err != nil {
			return err
		}
	}
	if a.json {
		return a.print(r)
	}
	_, err = fmt.Fprint(a.out, cards.Study(r, cards.StudyOptions{All: f.all, Held: f.held}, a.style()))
	return err
}

// reportOf results as they are now, whoever still writes to them.
func reportOf(ctx context.Context, where string, of, per []string) (*card.Study, error) {
	file, err := studyfile.Open(ctx, where)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	about := file.Study()
	s, err := study.Read("the study in "+where, about.Text)
	if err != nil {
		return nil, err
	}
	tally := study.NewTally(s)
	for row, err := range file.All(ctx, false) {
		if err != nil {
			return nil, err
		}
		figures, err := judged(ctx, file, s.Ask, row)
		if err != nil {
			return nil, err
		}
		tally.Add(row.Index, row.Verdict, row.Failure, figures)
	}
	r, err := tally.Report(of, per)
	if err == nil {
		r.ID, r.Tables = about.ID, about.Tables
	}
	return r, err
}

// judged figures of a row: those of results that an older memwall-farm wrote are read from the answer.
func judged(ctx context.Context, file *studyfile.File, ask string, row *studyfile.Row) (study.Figures, error) {
	if row.Failure != "" || row.Figures.Judged(ask) {
		return row.Figures, nil
	}
	whole, err := file.Row(ctx, row.Index)
	if err != nil || whole == nil {
		return nil, err
	}
	g, err := study.GistOf(ask, whole.Answer)
	if err != nil {
		return nil, err
	}
	return g.Figures, nil
}

func write(flag, name string, data []byte) error {
	if err := os.WriteFile(name, data, 0o644); err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: flag, Value: name,
			Message: fmt.Sprintf("--%s: %s cannot be written", flag, name), Hint: "a file in a folder that exists and can be written"}
	}
	return nil
}

// writeCSV has a row for each design: its levels, and each measure with its spread and its band.
func writeCSV(name string, r *card.Study) error {
	var b strings.Builder
	w := csv.NewWriter(&b)
	head := append([]string{"pareto", "seeds", "held"}, r.Factors...)
	for _, m := range r.Measures {
		for _, part := range []string{"", "_p5", "_p50", "_p95", "_low", "_high"} {
			head = append(head, m.Name+part)
		}
	}
	if err := w.Write(head); err != nil {
		return err
	}
	for i := range r.Designs {
		if err := w.Write(cells(&r.Designs[i])); err != nil {
			return err
		}
	}
	w.Flush()
	return write("csv", name, []byte(b.String()))
}

func cells(d *card.Design) []string {
	row := []string{map[bool]string{true: "yes", false: "no"}[d.Front], strconv.FormatInt(d.Seeds, 10), strconv.FormatInt(d.Held, 10)}
	for _, l := range d.Levels {
		if l != "" && strings.ContainsRune("=+-@\t\r", rune(l[0])) { // what spreadsheets take for a formula
			l = "'" + l
		}
		row = append(row, l)
	}
	number := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'g', -1, 64)
	}
	for _, s := range d.Spreads {
		if s == nil {
			row = append(row, "", "", "", "", "", "")
			continue
		}
		row = append(row, number(&s.Mean), number(&s.P5), number(&s.P50), number(&s.P95), number(s.Low), number(s.High))
	}
	return row
}
