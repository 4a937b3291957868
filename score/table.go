package score

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed benchmarks.tsv
var benchmarksText string

//go:embed scores.tsv
var scoresText string

//go:embed special.tsv
var specialText string

// Benchmark is a public test of models. Values are in percent, from Chance, the score of guessing, to 100.
type Benchmark struct {
	ID, Name, What string
	Uses           []string
	Chance         float64
}

// Row is a published score of a catalog model. A source that begins with "recalled: " was cited from memory.
type Row struct {
	Model     string
	Benchmark *Benchmark
	Value     float64
	Date      string // year and month of the source
	Source    string
	line      string   // of the model
	version   []string // within its line
}

// table holds the rows and the benchmarks; the first benchmark of each use case sets its scale.
type table struct {
	benchmarks []Benchmark
	rows       []Row
	special    map[string]string
	scales     map[string]*scale
}

var published = sync.OnceValue(func() *table {
	t, err := parse(benchmarksText, scoresText, specialText)
	if err != nil {
		panic("score: " + err.Error()) // embedded: a test parses them
	}
	return t
})

// fitted is published with scales, which who only asks for a special use does not wait for.
var fitted = sync.OnceValue(func() *table {
	t := *published()
	t.scales = t.fit()
	return &t
})

func parse(benchmarks, scores, special string) (*table, error) {
	t := &table{special: map[string]string{}}
	return t, errors.Join(
		lines("benchmarks.tsv", benchmarks, 5, t.benchmark),
		lines("scores.tsv", scores, 5, t.row),
		lines("special.tsv", special, 2, func(c []string) error { t.special[c[0]] = c[1]; return nil }))
}

// lines parses all lines but the first and adds the line number to any error.
func lines(file, text string, columns int, read func(cells []string) error) error {
	var wrong []error
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		switch {
		case i == 0:
		case len(cells) != columns:
			wrong = append(wrong, fmt.Errorf("%s:%d: %d cells, want %d", file, i+1, len(cells), columns))
		default:
			if err := read(cells); err != nil {
				wrong = append(wrong, fmt.Errorf("%s:%d: %w", file, i+1, err))
			}
		}
	}
	return errors.Join(wrong...)
}

func (t *table) benchmark(c []string) error {
	chance, err := strconv.ParseFloat(c[3], 64)
	t.benchmarks = append(t.benchmarks, Benchmark{ID: c[0], Name: c[1], Uses: strings.Fields(c[2]), Chance: chance, What: c[4]})
	return err
}

func (t *table) row(c []string) error {
	i := slices.IndexFunc(t.benchmarks, func(b Benchmark) bool { return b.ID == c[1] })
	if i < 0 {
		return fmt.Errorf("no benchmark %q", c[1])
	}
	v, err := strconv.ParseFloat(c[2], 64)
	if err == nil && !(0 < v && v < 100) {
		err = fmt.Errorf("%g is not a percentage", v)
	}
	r := Row{Model: c[0], Benchmark: &t.benchmarks[i], Value: v, Date: c[3], Source: c[4]}
	r.line, r.version = lineOf(r.Model)
	t.rows = append(t.rows, r)
	return err
}

// scaledRows returns the rows of a model whose benchmarks have a scale.
func (t *table) scaledRows(model string, scales map[string]*scale) (out []*Row) {
	for i := range t.rows {
		if r := &t.rows[i]; r.Model == model && scales[r.Benchmark.ID] != nil {
			out = append(out, r)
		}
	}
	return out
}
