package score

import (
	"cmp"
	"slices"
	"strings"
)

// A release that nobody has scored yet in a use's own benchmark is taken for the one before it of the same line and size, moved by what
// the benchmarks say that both have: makers publish those on the day.

// fromElder is the score of a model by the release before it; false where none is scored, or where the model has scores of its own
// and none of them beside it.
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

// elder is the row in a benchmark of the newest release before a model, of its line and size; nil where there is none.
func (t *table) elder(model string, b *Benchmark) (found *Row) {
	line, version := lineOf(model)
	for i := range t.rows {
		r := &t.rows[i]
		if r.Benchmark != b || r.Model == model || otherWord(r.Model, model) {
			continue
		}
		if l, v := lineOf(r.Model); l == line && olderThan(v, version) && (found == nil || !olderThan(v, versionOf(found.Model))) {
			found = r
		}
	}
	return found
}

// otherWord reports whether the first letters of two ids differ, which is most pairs, and costs nothing to see.
func otherWord(a, b string) bool {
	letter := func(s string) byte {
		if s == "" || s[0] >= '0' && s[0] <= '9' {
			return 0
		}
		return s[0]
	}
	return letter(a) != letter(b)
}

func versionOf(model string) []string { _, v := lineOf(model); return v }

// lineOf parts an id into its line with the size, qwen-27b, and its numbers, 3.8: of the first word, and of words like v4, k2.6 and
// 5.2. Sizes and active sizes, which end in b, are of the line.
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

// olderThan compares numbers of releases: 3.6 before 3.10, and before 3.8.
func olderThan(a, b []string) bool {
	return slices.CompareFunc(a, b, func(x, y string) int {
		return slices.CompareFunc(strings.Split(x, "."), strings.Split(y, "."), func(m, n string) int {
			return cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n))
		})
	}) < 0
}
