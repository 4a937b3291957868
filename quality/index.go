package quality

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall/internal/stable"
)

// index files rows by model, then by target, source and metric.
func (t *table) index() {
	for _, s := range t.models {
		s.benches = map[Target][]bench{}
	}
	for i := range t.rows {
		r := &t.rows[i]
		if r.Refused != "" || r.Metric.Kind == Divergence {
			continue
		}
		list := r.model.benches[r.Format.Target]
		at := slices.IndexFunc(list, func(b bench) bool { return b.metric == r.Metric && b.source == r.Source })
		if at < 0 {
			at, list = len(list), append(list, bench{metric: r.Metric, source: r.Source})
		}
		list[at].rows = append(list[at].rows, r)
		r.model.benches[r.Format.Target] = list
	}
	for _, s := range t.models {
		for _, list := range s.benches {
			stable.Sort(list, func(a, b bench) int { return cmp.Compare(a.metric.order, b.metric.order) })
		}
	}
}

// familyOf returns the family of a model, from models.tsv or else from the name.
func (t *table) familyOf(id string) string {
	for _, s := range t.models {
		if id != "" && (s.catalog == id || s.name == id) {
			return s.family
		}
	}
	return familyName(id)
}

// familyName returns what precedes the size in a model's name, up to the major version: "llama-3" for llama-3.1-8b,
// "qwen2" for qwen2.5-7b, "gpt-oss" for gpt-oss-120b. Versions within a family share their architecture, and mostly
// their data.
func familyName(id string) string {
	var words []string
	for word := range strings.SplitSeq(strings.ToLower(id), "-") {
		if isSize(word) {
			break
		}
		major, versioned := majorOf(word)
		words = append(words, major)
		if versioned {
			break
		}
	}
	return strings.Join(words, "-")
}

// isSize reports whether a word is a size: "8b", "1.5b", "125m", "a3b".
func isSize(word string) bool {
	digits := strings.TrimPrefix(word, "a")
	digits, billions := strings.CutSuffix(digits, "b")
	digits, millions := strings.CutSuffix(digits, "m")
	return billions != millions && digits != "" && strings.Trim(digits, "0123456789.") == ""
}

// majorOf truncates "qwen2.5" to "qwen2".
func majorOf(word string) (major string, versioned bool) {
	name := strings.TrimRight(word, "0123456789.")
	if name == word {
		return word, false
	}
	major, _, _ = strings.Cut(word[len(name):], ".")
	return name + major, true
}
