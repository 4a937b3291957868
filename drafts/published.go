package drafts

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/stat"
)

// Row is a published acceptance.
type Row struct {
	Method, Model, Drafter, Workload string
	Shape                            Shape
	Survival                         []float64 // nil where only the length is told
	Length                           float64   // tokens of a step on average
	Source                           string

	chance float64 // of the drafter's first choice
}

//go:embed acceptance.tsv
var table string

// Published rows, in the order of the table.
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
	x, _ := strconv.ParseFloat(s, 64) // of the table, which a test reads
	return x
}

// Chances that a drafter's first choice is right, by what was published.
type Chances struct {
	Low, Mid, High float64
	Rows           int
	// Of is what they are of: the model itself, or only the method.
	Model bool
}

// fewest rows that make an edge of their own.
const fewest = 3

// Find gives the chances of a method with a model: the median of what was published of both, else of the method, with their least and most;
// false where it is of too few.
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

// alike are methods that draft alike: what repeats in a text is found by either.
func alike(a, b string) bool { return a == b || Repeats(a) && Repeats(b) }

// Methods that draft what the text repeats.
const (
	NGram  = "ngram"
	Suffix = "suffix"
)

// Repeats reports whether a method drafts what the text repeats, and so only where it does.
func Repeats(method string) bool { return method == NGram || method == Suffix }

// Kept is the share of what is drafted that is accepted where drafts are as long as their chances let them be: suffix trees propose
// what was seen often enough (57 % of it accepted, github.com/vllm-project/vllm-ascend/pull/7349, HumanEval), n-grams whole
// stretches where the last tokens stood before (3,562 of 4,960, github.com/vllm-project/vllm/pull/24344).
func Kept(method string) float64 {
	if method == Suffix {
		return 0.5743
	}
	return 3562.0 / 4960
}
