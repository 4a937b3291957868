package validation

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/validation/packed"
)

// Published rates of servers whose experts are spread over many ranks. No coefficient is fitted to any of them: each source is
// left out whole.
const wideRows packed.File = "rows/wide.tsv"

var widePrompts = Measure{Name: "wide EP, prompts", Bandless: true, Target: 0.15,
	About: "tokens/s of a device that computes prompts, experts over many ranks; no row is fitted to"}

var wideAnswers = Measure{Name: "wide EP, answers", Bandless: true, Target: 0.15,
	About: "tokens/s of a device that generates, experts over many ranks; no row is fitted to"}

// WideMeasures are the measures in the order of the report.
var WideMeasures = []*Measure{&widePrompts, &wideAnswers}

const wideFigure = "tokens_per_s"

// wide is a published rate.
type wide struct {
	Row
	prompts bool
	// each is how many sequences a rank decodes in a step, or how many tokens of prompts it computes; length what is cached of
	// each sequence on average, or the tokens of a prompt.
	each, length int64
}

const wideCells = 15

// wides reads them. The error names the line.
func wides() (out []wide, err error) {
	err = eachRow(wideRows, func(line int, cells []string) error {
		w, err := readWide(cells)
		w.Line = line
		out = append(out, w)
		return err
	})
	return out, err
}

func readWide(cells []string) (w wide, err error) {
	if len(cells) != wideCells {
		return w, fmt.Errorf("%d cells, want %d", len(cells), wideCells)
	}
	var n [4]int64
	for i, at := range []int{6, 7, 10, 11} {
		if n[i], err = strconv.ParseInt(cells[at], 10, 64); err != nil || n[i] < 0 {
			return w, fmt.Errorf("%q is not a number", cells[at])
		}
	}
	rate, err := strconv.ParseFloat(cells[12], 64)
	if err != nil || !(rate > 0) {
		return w, fmt.Errorf("%q is not a rate", cells[12])
	}
	w.prompts, w.each, w.length = cells[0] == "prefill", n[2], n[3]
	w.Set, w.Source, w.Refused = "wide", cells[14], cells[13]
	w.Got = map[string]Value{wideFigure: {Text: unit.Fixed(rate, 0), Mid: rate}}
	a := &w.Ask
	a.Ask, a.Model, a.Hardware, a.Engine, a.Weights, a.KV = "fit", cells[1], cells[2], cells[3], cells[4], cells[5]
	a.TP, a.EP, a.DP, a.RedundantExperts, a.All2All = 1, n[0], n[0], plan.Int(n[1]), cells[8]
	if cells[9] == "yes" {
		on := true
		a.TwoBatches = &on
	}
	a.Sequences, a.Context = plan.Int(n[0]), plan.Int(2*n[3])
	return w, nil
}

// rate is ours: tokens a second of a device in steps like the published ones.
func (w *wide) rate(asker *memwall.Asker) (float64, error) {
	m, err := asker.Served(&w.Ask)
	if err != nil {
		return 0, err
	}
	if w.prompts {
		n := max(1, w.each/w.length)
		return float64(w.each) / m.Together(speed.Batch{Prefill: w.each, Prompts: n, Finished: n}), nil
	}
	return float64(w.each) / m.Step(speed.Batch{Decodes: w.each, Context: w.length}), nil
}

// CompareWide compares predicted rates with the published ones.
func CompareWide(asker *memwall.Asker) (Set, []Comparison, error) {
	all, err := wides()
	if err != nil {
		return Set{}, nil, err
	}
	set := Set{Name: "wide", File: "wide.tsv", About: "published rates of servers whose experts are spread over many ranks",
		Rows: make([]Row, len(all))}
	var out []Comparison
	for i := range all {
		w := &all[i]
		set.Rows[i] = w.Row
		c := Comparison{Measure: &wideAnswers, Row: &set.Rows[i], Figure: wideFigure, Measured: w.Got[wideFigure], Refused: w.Refused}
		if w.prompts {
			c.Measure = &widePrompts
		}
		ours, err := w.rate(asker)
		if err != nil {
			c.Refused = cmp.Or(c.Refused, err.Error())
		} else if c.Ours = exactly(ours); c.Refused == "" {
			c.Error = ours/c.Measured.Mid - 1
		}
		out = append(out, c)
	}
	return set, out, nil
}

// wideTable shows every published rate beside ours, also those whose source leaves out what they depend on.
func wideTable(b *strings.Builder, all []Comparison) {
	b.WriteString("\n## Experts over many ranks, beside what was published\n\nTokens/s of a device, each source left out of every fit. " +
		"The exchange of tokens is by DeepEP's own measurements, experts are taken as evenly\nbusy as its balancer makes them. " +
		"Rows with a reason are not scored.\n\n| rows | step of a rank | published | ours | error | not scored |\n|---|---|---:|---:|---:|---|\n")
	for i := range all {
		c := &all[i]
		ours, off := "—", "—"
		if c.Ours.Mid > 0 {
			ours, off = unit.Count(int64(c.Ours.Mid)), signed(c.Ours.Mid/c.Measured.Mid-1, Percent)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", wideName(c.Row), wideStep(c), unit.Count(int64(c.Measured.Mid)), ours, off,
			c.Refused)
	}
}

func wideName(r *Row) string {
	return fmt.Sprintf("%s, %s, %s, EP %d: %s", r.Ask.Model, r.Ask.Hardware, r.Ask.Weights, r.Ask.EP, r.Source)
}

func wideStep(c *Comparison) string {
	r := c.Row
	if c.Measure == &widePrompts {
		return fmt.Sprintf("prompts of %d", r.Ask.Context/2)
	}
	return fmt.Sprintf("answers at %d", r.Ask.Context/2)
}
