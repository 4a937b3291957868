package validation

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/memwall/memwall"
)

var (
	update  = flag.Bool("update", false, "write docs/accuracy.md")
	tighten = flag.Bool("tighten", false, "write bounds.tsv where scores are better than it says")
)

var run = sync.OnceValues(func() (*Report, error) { return Run(&memwall.Asker{}, "") })

func report(t *testing.T) *Report {
	t.Helper()
	r, err := run()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAccuracyPage: docs/accuracy.md is what the program gives today.
func TestAccuracyPage(t *testing.T) {
	const path = "../docs/accuracy.md"
	want := []byte(report(t).Markdown())
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): go test ./validation -update", path, err)
	}
}

// bound is what a measure may be at worst. Bounds only ever tighten.
type bound struct {
	median, p90, max float64
	equal            float64 // least share of equal figures
	cover            float64 // least coverage, for measures with a band
	used             int     // least number of figures
}

const boundsFile = "bounds.tsv"

func bounds(t *testing.T) map[string]bound {
	t.Helper()
	data, err := os.ReadFile(boundsFile)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bound{}
	for _, row := range rows[1:] {
		var x [5]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i+1], 64); err != nil {
				t.Fatal(err)
			}
		}
		n, err := strconv.Atoi(row[6])
		if err != nil {
			t.Fatal(err)
		}
		out[row[0]] = bound{x[0], x[1], x[2], x[3], x[4], n}
	}
	return out
}

// slackBound is by how much a figure may be worse than its bound before the test fails: bounds are printed
// with four digits.
const slackBound = 1e-4

// TestBounds: no measure is worse than it was.
func TestBounds(t *testing.T) {
	held := bounds(t)
	r := report(t)
	if *tighten {
		writeBounds(t, r, held)
		return
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		b, ok := held[s.Measure.Name]
		if !ok {
			t.Errorf("%s has no bounds: go test ./validation -tighten", s.Measure.Name)
			continue
		}
		for _, x := range []struct {
			name  string
			worse bool
		}{
			{"median", s.Median > b.median+slackBound}, {"p90", s.P90 > b.p90+slackBound}, {"max", s.Max > b.max+slackBound},
			{"share of equal figures", s.EqualShare() < b.equal-slackBound}, {"coverage", s.Coverage() < b.cover-slackBound}, {"number of figures", s.Used < b.used},
		} {
			if x.worse {
				t.Errorf("%s: %s is worse than %s allows: median %.4f, p90 %.4f, max %.4f, equal %.4f, cover %.4f, %d figures", s.Measure.Name, x.name, boundsFile, s.Median, s.P90, s.Max, s.EqualShare(), s.Coverage(), s.Used)
			}
		}
	}
}

func writeBounds(t *testing.T, r *Report, held map[string]bound) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, "measure\tmedian\tp90\tmax\tequal\tcover\tfigures")
	for i := range r.Scores {
		s := &r.Scores[i]
		n := bound{s.Median, s.P90, s.Max, s.EqualShare(), s.Coverage(), s.Used}
		if o, ok := held[s.Measure.Name]; ok {
			n = bound{min(n.median, o.median), min(n.p90, o.p90), min(n.max, o.max), max(n.equal, o.equal), max(n.cover, o.cover), max(n.used, o.used)}
		}
		fmt.Fprintf(&b, "%s\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%d\n", s.Measure.Name, n.median, n.p90, n.max, n.equal, n.cover, n.used)
	}
	if err := os.WriteFile(boundsFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestExact: what follows from rules alone is equal on every row of the dry runs.
func TestExact(t *testing.T) {
	for _, s := range report(t).Scores {
		switch s.Measure.Name {
		case "parameters", "llama.cpp weights", "llama.cpp KV cache", "llama.cpp state", "llama.cpp output":
			if s.Used == 0 || s.Equal != s.Used {
				t.Errorf("%s: %d of %d equal; worst %s: measured %s, ours %s", s.Measure.Name, s.Equal, s.Used, s.Worst[0].Row.Name(), s.Worst[0].Measured.Text, s.Worst[0].OursText())
			}
		}
	}
}

// TestRefused: few rows are refused, and each says why.
func TestRefused(t *testing.T) {
	r := report(t)
	all, refused := predicted(t, CompareStreams)
	served, lost := servings(t)
	trained, out := predicted(t, CompareTrainSpeeds)
	if n, of := r.Refused-refused-lost-out, r.Used+r.Refused-all-served-trained; float64(n) > 0.05*float64(of) {
		t.Errorf("%d of %d rows are refused, more than 5 %%", n, of)
	}
	// benchmarks of single streams run fine-tunes that no catalog has, and report rates of several kinds
	if float64(refused) > 0.2*float64(all) {
		t.Errorf("%d of %d rows of single streams are refused, more than 20 %%", refused, all)
	}
	// a quarter of the runs at fixed concurrency are of disaggregated plans, others the same run twice
	if float64(lost) > 0.36*float64(served) {
		t.Errorf("%d of %d rows of serving are refused, more than 36 %%", lost, served)
	}
	// of runs of training many do not say how long their sequences are
	if float64(out) > 0.15*float64(trained) {
		t.Errorf("%d of %d rows of training are refused, more than 15 %%", out, trained)
	}
	for _, x := range r.Reasons {
		if x.Text == "" {
			t.Errorf("%d rows are refused without a reason", x.Rows)
		}
	}
}

// TestSources: every row says where it comes from.
func TestSources(t *testing.T) {
	for _, s := range report(t).Sets {
		if s.About == "" || len(s.Rows) == 0 {
			t.Errorf("set %s says nothing", s.Name)
		}
		for i := range s.Rows {
			if r := &s.Rows[i]; r.Source == "" || len(r.Got) == 0 {
				t.Errorf("%s has no source or no figure", r.Name())
			}
		}
	}
}

// predicted counts the rows of a table that predictions are stored for, and those refused.
func predicted(t *testing.T, compare func() (Set, []Comparison, error)) (all, refused int) {
	t.Helper()
	set, compared, err := compare()
	if err != nil {
		t.Fatal(err)
	}
	used := map[int]bool{}
	for i := range compared {
		if compared[i].Refused == "" {
			used[compared[i].Row.Line] = true
		}
	}
	return len(set.Rows), len(set.Rows) - len(used)
}

// servings counts the rows of serving, and those refused.
func servings(t *testing.T) (all, refused int) {
	t.Helper()
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	compared, err := CompareServing(sets)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[*Row]bool{}
	for i := range compared {
		rows[compared[i].Row] = rows[compared[i].Row] || compared[i].Refused == ""
	}
	for _, used := range rows {
		refused += count(!used)
	}
	return len(rows), refused
}
