package score

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
)

// TestTable: every row is of a model of the catalog and says its source and month; no two say the same benchmark of a model.
func TestTable(t *testing.T) {
	tab, err := parse(benchmarksText, scoresText, specialText)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range catalog.All() {
		known[e.ID] = true
	}
	seen := map[string]bool{}
	for _, r := range tab.rows {
		key := r.Model + " " + r.Benchmark.ID
		if !known[r.Model] || seen[key] || r.Source == "" || len(r.Date) != 7 {
			t.Errorf("%s: known %v, twice %v, source %q, date %q", key, known[r.Model], seen[key], r.Source, r.Date)
		}
		seen[key] = true
	}
	for m, use := range tab.special {
		if !known[m] || !slices.Contains(Uses(), use) {
			t.Errorf("%s for %s", m, use)
		}
	}
	for _, bad := range []string{"head\nx\taa-index\t1\t2026-01", "head\nx\tno-such\t1\t2026-01\ts", "head\nx\taa-index\t100\t2026-01\ts",
		"head\nx\taa-index\tNaN\t2026-01\ts"} {
		if _, err := parse(benchmarksText, bad, specialText); err == nil || !strings.Contains(err.Error(), "scores.tsv:2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestLeftOut: a published figure that is taken away is estimated from the others. The bounds are of what public scores allow:
// how they were run differs.
func TestLeftOut(t *testing.T) {
	whole := fitted()
	var off, plain []float64
	for i := range whole.rows {
		r := whole.rows[i]
		if whole.scales[r.Benchmark.ID] == nil || len(Rows(r.Model)) < 2 {
			continue
		}
		left := &table{benchmarks: whole.benchmarks, special: whole.special, rows: slices.Delete(slices.Clone(whole.rows), i, i+1)}
		s := left.fit()
		a := ability(left.scaledRows(r.Model, s), s, r.Benchmark.Uses[0])
		sc := s[r.Benchmark.ID]
		off = append(off, math.Abs(r.Benchmark.value(sc.at+sc.slope*a)-r.Value))
		plain = append(plain, math.Abs(r.Benchmark.value(sc.at)-r.Value))
	}
	slices.Sort(off)
	slices.Sort(plain)
	t.Logf("%d figures left out: median %.1f points off, p90 %.1f; the mean of a benchmark is %.1f and %.1f off", len(off), off[len(off)/2],
		off[len(off)*9/10], plain[len(plain)/2], plain[len(plain)*9/10])
	if off[len(off)/2] > plain[len(plain)/2]/2 {
		t.Errorf("median %.1f points, the mean alone %.1f", off[len(off)/2], plain[len(plain)/2])
	}
}

// TestOrder: pairs of models whose order nobody doubts.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ use, better, worse string }{
		{Chat, "qwen3.6-27b", "qwen3-32b"}, {Chat, "qwen3-32b", "qwen3-8b"}, {Chat, "gpt-oss-120b", "gpt-oss-20b"},
		{Chat, "gemma-4-31b", "gemma-3-27b"},
		{Chat, "llama-3.3-70b", "llama-3.1-8b"}, {Chat, "qwen3.5-9b", "qwen2.5-7b"}, {Coding, "qwen3.5-27b", "qwen3.5-4b"},
		{Coding, "devstral-2-123b", "llama-3.1-8b"},
		{Reasoning, "qwen3.6-35b-a3b", "gemma-3-12b"}, {Agents, "qwen3.5-35b-a3b", "qwen3-30b-a3b-2507"},
		{Vision, "gemma-4-31b", "qwen3.5-2b"},
		{Embedding, "qwen3-embedding-8b", "bge-m3"}, {LongContext, "qwen3.5-27b", "gemma-3-4b"},
	} {
		b, ok := Of(c.better, c.use)
		w, also := Of(c.worse, c.use)
		if !ok || !also || b.Value <= w.Value {
			t.Errorf("%s: %s %.1f, %s %.1f", c.use, c.better, b.Value, c.worse, w.Value)
		}
	}
	if s, ok := Of("gpt2", Chat); ok {
		t.Errorf("gpt2: %+v, of which nothing is published", s)
	}
	if s, ok := Of("qwen3.6-27b", Chat); !ok || s.Row == nil || s.Value != 46 {
		t.Errorf("a published figure is itself: %+v", s)
	}
}

func BenchmarkOf(b *testing.B) {
	fitted()
	for b.Loop() {
		Of("qwen3.5-9b", Reasoning)
	}
}

func BenchmarkFit(b *testing.B) {
	t := fitted()
	for b.Loop() {
		t.fit()
	}
}

// TestElder: a release without a score in a use's own benchmark is taken for the one before it, moved by what both have.
func TestElder(t *testing.T) {
	for _, c := range []struct {
		model, line string
		version     []string
	}{
		{"qwen3.8-27b", "qwen-27b", []string{"3.8"}}, {"qwen3.6-35b-a3b", "qwen-35b-a3b", []string{"3.6"}},
		{"glm-5.2", "glm-", []string{"5.2"}},
		{"kimi-k2.6", "kimi-k", []string{"2.6"}}, {"deepseek-v4-flash", "deepseek-v-flash", []string{"4"}},
		{"gpt-oss-20b", "gpt-oss-20b", nil},
	} {
		if line, version := lineOf(c.model); line != c.line || !slices.Equal(version, c.version) {
			t.Errorf("%s: %s %v", c.model, line, version)
		}
	}
	if !olderThan([]string{"3.6"}, []string{"3.10"}) || olderThan([]string{"4"}, []string{"3.8"}) || olderThan(nil, nil) {
		t.Error("releases are out of order")
	}
	before, _ := Of("qwen3.6-27b", Chat)
	after, ok := Of("qwen3.8-27b", Chat)
	if !ok || after.Row != nil || after.Value <= before.Value || after.Value > before.Value+10 {
		t.Errorf("Qwen3.8 27B: %+v, after %+v: SWE-bench Pro rose from 53.5 to 61.7", after, before)
	}
}

// Rows are all that is published of a model.
func Rows(model string) (out []Row) {
	t := fitted()
	for i := range t.rows {
		if t.rows[i].Model == model {
			out = append(out, t.rows[i])
		}
	}
	return out
}
