package drafts

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/stat"
)

// Row is a published acceptance rate.
type Row struct {
	Method, Model, Drafter, Workload string
	Shape                            Shape
	Survival                         []float64 // nil if only the length is published
	Length                           float64   // mean tokens per step
	Source                           string

	chance float64 // of the drafter's first choice
}

//go:embed acceptance.tsv
var table string

// Published returns the published rows, in table order.
func Published() []Row { return published() }

var published = sync.OnceValue(func() (out []Row) {
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 10 {
			continue
		}
		r := Row{Method: f[0], Model: f[1], Drafter: f[2], Workload: f[3], Length: number(f[8]), Source: f[9],
			Shape: Shape{Tokens: int64(number(f[4])), Steps: int64(number(f[5])), Branches: int64(number(f[6]))}}
		if f[7] != "-" {
			for p := range strings.SplitSeq(f[7], ",") {
				r.Survival = append(r.Survival, number(p))
			}
		}
		r.chance, _ = r.Shape.Chance(r.Length)
		out = append(out, r)
	}
	return out
})

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64) // of the table, which a test parses
	return x
}

// Chances are the published probabilities that a drafter's first choice is right.
type Chances struct {
	Low, Mid, High float64
	Rows           int
	// Model reports that they are of the model itself rather than only of the method.
	Model bool
}

// fewest is the minimum number of rows for a range of its own.
const fewest = 3

// Find returns the chances of a method with a model: the median over rows of both, or else of the method, with minimum
// and maximum; false if there are too few rows.
func Find(method, model string) (Chances, bool) {
	for _, named := range []bool{true, false} {
		var found []float64
		for _, r := range Published() {
			if alike(r.Method, method) && (!named || r.Model == model) {
				found = append(found, r.chance)
			}
		}
		if len(found) >= fewest {
			return Chances{slices.Min(found), stat.Median(found), slices.Max(found), len(found), named}, true
		}
	}
	return Chances{}, false
}

// alike reports whether two methods draft alike, as those that repeat the text do.
func alike(a, b string) bool { return a == b || Repeats(a) && Repeats(b) }

// Methods that draft from repetitions in the text.
const (
	NGram  = "ngram"
	Suffix = "suffix"
)

// Repeats reports whether a method drafts from repetitions in the text, and so only where there are any.
func Repeats(method string) bool { return method == NGram || method == Suffix }

// Kept returns the accepted share of drafts whose length depends on their probability: suffix trees propose what
// occurred often enough (57 % accepted, github.com/vllm-project/vllm-ascend/pull/7349, HumanEval), n-grams whole
// continuations of an earlier match (3,562 of 4,960, github.com/vllm-project/vllm/pull/24344).
func Kept(method string) float64 {
	if method == Suffix {
		return 0.5743
	}
	return 3562.0 / 4960
}
