package validation

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
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
	boundCalls(t, r.Calls, held)
	boundOrders(t, r.Orders, held)
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
	for i := range r.Orders {
		b.WriteString(writeOrder(&r.Orders[i], held))
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		o := held[callBound(c)]
		fmt.Fprintf(&b, "%s\t0.0000\t0.0000\t0.0000\t%.4f\t%.4f\t%d\n", callBound(c), max(c.RightShare(), o.equal), max(c.Decided(), o.cover), max(c.Used(), o.used))
	}
	if err := os.WriteFile(boundsFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestExact: what follows from rules alone is equal on every row of the dry runs.
func TestExact(t *testing.T) {
	for _, s := range report(t).Scores {
		switch strings.Replace(s.Measure.Name, ", own headers:", "", 1) {
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
	rest, lost := r.Used+r.Refused, r.Refused
	for _, s := range speeds {
		all, refused := rowsRefused(t, s.compare)
		if float64(refused) > s.most*float64(all) {
			t.Errorf("%d of %d rows of %s are refused, more than %.0f %%", refused, all, s.name, 100*s.most)
		}
		rest, lost = rest-all, lost-refused
	}
	if float64(lost) > 0.05*float64(rest) {
		t.Errorf("%d of %d rows are refused, more than 5 %%", lost, rest)
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

// speeds are the sets whose predictions are stored, and the share of their rows that may be refused.
var speeds = []struct {
	name    string
	compare func() ([]Comparison, error)
	most    float64
}{
	// benchmarks run fine-tunes that no catalog has, and report rates of several kinds
	{"single streams", rowsOf(func() (Set, []Comparison, error) { return CompareStreams(&memwall.Asker{}) }), 0.2},
	// a sixth of the runs at fixed concurrency are of disaggregated plans of which the source says too little, others the
	// same run twice
	{"serving", func() ([]Comparison, error) {
		sets, err := Load()
		if err != nil {
			return nil, err
		}
		return CompareServing(sets)
	}, 0.28},
	// a third of the runs drain for as long as nobody says
	{"largest throughput", rowsOf(CompareThroughput), 0.37},
	// caches that stay in L2, and programs that launch kernels one by one
	{"kernels", rowsOf(CompareKernels), 0.23},
	// headers of scripts and tables of documents leave out lengths, layers and groups
	{"training memory", rowsOf(CompareTraining), 0.33},
	// many do not say how long their sequences are
	{"training speed", rowsOf(CompareTrainSpeeds), 0.15},
}

func rowsOf(compare func() (Set, []Comparison, error)) func() ([]Comparison, error) {
	return func() ([]Comparison, error) {
		_, all, err := compare()
		return all, err
	}
}

// rowsRefused counts rows, and those of which no figure is compared.
func rowsRefused(t *testing.T, compare func() ([]Comparison, error)) (all, refused int) {
	t.Helper()
	compared, err := compare()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for i := range compared {
		name := compared[i].Row.Name()
		rows[name] = rows[name] || compared[i].Refused == ""
	}
	for _, used := range rows {
		refused += count(!used)
	}
	return len(rows), refused
}
