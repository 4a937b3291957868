package score

import (
	"cmp"
	"slices"
	"strings"
)

// A release without a score in a use case's own benchmark is assumed to score like the previous release of the same
// family and size, adjusted by the benchmarks that both have, which vendors publish at release.

// fromElder estimates a model's score from the previous release; false if none is scored, or the two share no
// benchmark.
func (t *table) fromElder(model, use string, b *Benchmark, s *scale) (Score, bool) {
	elder := t.elder(model, b)
	if elder == nil {
		return Score{}, false
	}
	own := t.scaledRows(model, t.scales)
	weight, shift, shared := 1.0, 0.0, 0
	for _, r := range own {
		i := slices.IndexFunc(t.rows, func(o Row) bool { return o.Model == elder.Model && o.Benchmark == r.Benchmark })
		if i < 0 {
			continue
		}
		shared++
		line := t.scales[r.Benchmark.ID]
		w := line.slope * line.slope / (line.spread * line.spread)
		if !slices.Contains(r.Benchmark.Uses, use) {
			w *= otherUse
		}
		weight, shift = weight+w, shift+w*(r.Benchmark.logit(r.Value)-r.Benchmark.logit(t.rows[i].Value))/line.slope
	}
	if shared == 0 && len(own) > 0 {
		return Score{}, false
	}
	return Score{Value: b.value(b.logit(elder.Value) + s.slope*shift/weight), Benchmark: b, Rows: shared + 1}, true
}

// elder returns the row in a benchmark of the newest earlier release of the same family and size, or nil.
func (t *table) elder(model string, b *Benchmark) (found *Row) {
	line, version := lineOf(model)
	for i := range t.rows {
		r := &t.rows[i]
		if r.Benchmark == b && r.line == line && olderThan(r.version, version) && (found == nil || !olderThan(r.version, found.version)) {
			found = r
		}
	}
	return found
}

// lineOf splits an id into its family with the size (qwen-27b) and its version numbers (3.8), taken from the first word
// and from words such as v4, k2.6 and 5.2. Sizes and active sizes, ending in b, belong to the family.
func lineOf(model string) (line string, version []string) {
	words := strings.Split(model, "-")
	for i, w := range words {
		if stem := strings.TrimRight(w, "0123456789."); stem != w && (i == 0 || len(stem) <= 1) {
			version = append(version, w[len(stem):])
			words[i] = stem
		}
	}
	return strings.Join(words, "-"), version
}

// olderThan compares version numbers: 3.6 is older than 3.8, which is older than 3.10.
func olderThan(a, b []string) bool {
	return slices.CompareFunc(a, b, func(x, y string) int {
		return slices.CompareFunc(strings.Split(x, "."), strings.Split(y, "."), func(m, n string) int {
			return cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n))
		})
	}) < 0
}
