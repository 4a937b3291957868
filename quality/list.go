package quality

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
)

// Published is a list of rows, most informative first: those of the exact format, and perplexities before accuracies.
type Published []*Row

// OfRecipe returns every row that stands for a recipe, however it was made.
func OfRecipe(r *dtype.Recipe) Published {
	return published().sorted(func(f *Format) bool { return f.Target == Weights && f.As == r.Name })
}

// OfCacheFormat returns every row of caches that hold keys, values or both in a format; for 16 bits, both.
func OfCacheFormat(f *dtype.Format) Published {
	return published().sorted(func(g *Format) bool {
		if g.Target != KVCache || g.As == "" {
			return false
		}
		k, v, _ := strings.Cut(g.As, "/")
		return (k == f.Name || v == f.Name) && (k == v || !wideFormat(f))
	})
}

// Named returns the rows with a name that sources use, or none.
func Named(name string) Published {
	return published().sorted(func(f *Format) bool { return strings.EqualFold(f.Name, name) })
}

// Unresolved returns the names of formats that correspond to nothing memwall sizes.
func Unresolved() (names []string) {
	for _, f := range published().formats {
		if f.As == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// FormatNames returns every format name in the rows.
func FormatNames() (names []string) {
	for _, f := range published().formats {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *table) sorted(keep func(*Format) bool) (out Published) {
	for i := range t.rows {
		if keep(t.rows[i].Format) {
			out = append(out, &t.rows[i])
		}
	}
	stable.Sort(out, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.Format.How.order(), b.Format.How.order()), cmp.Compare(a.Metric.order, b.Metric.order))
	})
	return out
}

func (h How) order() int { return slices.Index([]How{Same, Near, Made, ""}, h) }

// Typical returns one row per model and format: that of its first metric with a change. For caches it keeps every
// metric, since the cost of a quantized cache shows in some metrics only (long reasoning, but not short sums).
func (p Published) Typical() (out Published) {
	type key struct {
		model  *subject
		metric *Metric
		format string
	}
	seen := map[key]bool{}
	for _, r := range p {
		k := key{model: r.model, format: r.Format.Name}
		if r.Format.Target == KVCache {
			k.metric = r.Metric
		}
		if _, ok := r.Delta(); !ok || r.Refused != "" || r.Source.Baseline != "" || seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, r)
	}
	return out
}
