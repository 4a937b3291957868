package quality

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/datatest"
)

// TestRows: what the tables hold, and that nothing of them is out of reach.
func TestRows(t *testing.T) {
	tab := published()
	if len(tab.rows) < 1390 || len(tab.models) < 70 || len(FormatNames()) < 210 {
		t.Errorf("%d rows, %d models, %d formats", len(tab.rows), len(tab.models), len(FormatNames()))
	}
	used := map[*Format]bool{}
	for i := range tab.rows {
		r := &tab.rows[i]
		used[r.Format] = true
		if r.Source.Citation == "" || r.Format.Target == "" {
			t.Errorf("%+v has no source or target", r)
		}
	}
	for _, f := range tab.formats {
		if !used[f] {
			t.Errorf("no row has the format %s", f.Name)
		}
		if f.How == Same && f.Target == Weights && f.Activations == 0 && strings.HasPrefix(f.As, "fp8") {
			t.Errorf("%s: engines quantise the activations of %s", f.Name, f.As)
		}
	}
}

// TestDeltas: the change of every row of a resolved format follows from its own two figures, by the questions that
// users ask.
func TestDeltas(t *testing.T) {
	tab, asked := published(), 0
	for i := range tab.rows {
		r := &tab.rows[i]
		want, ok := r.Delta()
		if !ok || r.Refused != "" || r.Source.Baseline != "" || r.Format.Target == Both {
			continue
		}
		b := bench{metric: r.Metric, source: r.Source, rows: []*Row{r}}
		got := b.pairs(side{wide: true, id: none}, side{own: true, id: r.Format.own}, nil)
		if len(got) != 1 || math.Abs(got[0].mid-want) > 1e-9 || !(got[0].low <= want && want <= got[0].high) {
			t.Errorf("%s of %s in %s: %+v, want %g", r.Metric.Name, r.Model(), r.Format.Name, got, want)
		}
		asked++
	}
	if asked < 1000 {
		t.Errorf("only %d rows are asked", asked)
	}
}

// TestOneBaseline: rows of one bench that print baselines agree on them, so that any two compare; those that do not
// are refused and say why.
func TestOneBaseline(t *testing.T) {
	tab, refused := published(), 0
	for _, s := range tab.models {
		for _, list := range s.benches {
			for _, b := range list {
				for _, r := range b.rows {
					if r.Based && b.rows[0].Based && !oneBaseline(b.rows[0], r) {
						t.Errorf("%s, %s of %s: baselines %v and %v", b.source.ID, b.metric.Name, s.name, b.rows[0].Baseline.Number,
							r.Baseline.Number)
					}
				}
			}
		}
	}
	for i := range tab.rows {
		if tab.rows[i].Refused != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no row is refused, and one prints the perplexity of 16 bits for 2")
	}
	if c := OfWeights(Model{ID: "llama-2-7b"}, "bf16", "q2_k").Perplexity; c != nil && c.Mid < 1 {
		t.Errorf("the refused row answers: %+v", c)
	}
}

// TestFamilies: the family of a name is that of the table.
func TestFamilies(t *testing.T) {
	for id, want := range map[string]string{
		"llama-3.1-8b": "llama-3", "llama-3-70b": "llama-3", "llama-7b": "llama", "qwen2.5-72b": "qwen2", "qwen3-30b-a3b": "qwen3",
		"gemma-3-27b": "gemma-3", "gpt-oss-20b": "gpt-oss",
		"phi-4": "phi-4", "mistral-7b-v0.3": "mistral", "deepseek-v3.2": "deepseek-v3", "smollm2-135m": "smollm2",
		"mixtral-8x7b": "mixtral-8x7b", "": "",
	} {
		if got := familyName(id); got != want {
			t.Errorf("%s is of %q, want %q", id, got, want)
		}
	}
	apart := map[string]bool{"DeepSeek-R1-Distill-Qwen-1.5B": true} // named after its teacher
	for _, s := range published().models {
		if got := familyName(s.catalog); s.catalog != "" && got != s.family && !apart[s.name] {
			t.Errorf("%s is of %q, its name says %q", s.name, s.family, got)
		}
	}
}

// good are small tables that parse.
var good = files{
	sources: "source\tbaseline\tcitation\ns\t\ta paper\n",
	metrics: "metric\tkind\tbetter\tnoise\nppl\tperplexity\tlower\t\n",
	models:  "model\tcatalog\tfamily\tparams_b\nM\tm\tm\t7\n",
	formats: "format\ttarget\tas\thow\tactivations\tnote\tsource\nq4\tweights\tq4_0\tsame\t\t\t\nkv\tkv\tq8_0/f16\tsame\t\t\t\n",
	rows:    "model\tformat\ttarget\tbits\tmetric\tbaseline\tvalue\tsource\trefused\nM\tq4\tweights\t4.5\tppl\t5.0\t6.0\ts\t\n",
}

// TestBadRows: what cannot be read is named with its file, its line and its column.
func TestBadRows(t *testing.T) {
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, with, says string }{
		{"s\t\ta paper", "s\t\t", `sources.tsv, line 2: column source: "s" is not understood`},
		{"perplexity\tlower", "entropy\tlower", `metrics.tsv, line 2: column kind: "entropy"`},
		{"perplexity\tlower", "perplexity\tsmaller", `metrics.tsv, line 2: column better: "smaller"`},
		{"m\tm\t7", "m\tm\tseven", `models.tsv, line 2: column params_b: "seven"`},
		{"q4_0\tsame", "q9_0\tsame", `formats.tsv, line 2: column as: "q9_0"`},
		{"q4_0\tsame", "Q4_0\tsame", `formats.tsv, line 2: column as: "Q4_0"`},
		{"q4_0\tsame", "q4_0\t", `formats.tsv, line 2: column how: ""`},
		{"q8_0/f16", "q8_0/f15", `formats.tsv, line 3: column as: "q8_0/f15"`},
		{"weights\tq4_0", "wights\tq4_0", `formats.tsv, line 2: column target: "wights"`},
		{"same\t\t\t\nkv", "same\tfour\t\t\nkv", `formats.tsv, line 2: column activations: "four"`},
		{"same\t\t\t\nkv", "same\t\t\tx\nkv", `formats.tsv, line 2: column source: "x"`},
		{"M\tq4", "N\tq4", `rows.tsv, line 2: column model: "N"`},
		{"M\tq4", "M\tq5", `rows.tsv, line 2: column format: "q5"`},
		{"4.5\tppl", "4.5\tkld", `rows.tsv, line 2: column metric: "kld"`},
		{"6.0\ts", "6.0\tt", `rows.tsv, line 2: column source: "t"`},
		{"5.0\t6.0", "5.0\t", `rows.tsv, line 2: column value: ""`},
		{"5.0\t6.0", "five\t6.0", `rows.tsv, line 2: column baseline: "five"`},
		{"5.0\t6.0", "5.0\t-6.0", `rows.tsv, line 2: a ppl of -6.0, from 5.0`},
		{"5.0\t6.0", "5.0\tNaN", `rows.tsv, line 2: a ppl of NaN`},
		{"5.0\t6.0", "0\t6.0", `rows.tsv, line 2: a ppl of 6.0, from 0`},
		{"M\tq4\tweights", "M\tq4", `rows.tsv, line 2: 8 cells under 9 heads`},
	} {
		f := good
		for _, text := range []*string{&f.sources, &f.metrics, &f.models, &f.formats, &f.rows} {
			*text = strings.Replace(*text, c.old, c.with, 1)
		}
		if _, err := parse(f); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q instead of %q: %v, want %q", c.with, c.old, err, c.says)
		}
	}
}

// TestTwoBadRows: every bad line is named, not the first alone.
func TestTwoBadRows(t *testing.T) {
	f := good
	f.rows += "X\tq4\tweights\t\tppl\t\t6\ts\t\nM\tq4\tweights\t\tppl\t\tsix\ts\t\n"
	if _, err := parse(f); err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
}

// TestMethods: bits are those of dtype, every hub and GGUF recipe that shrinks a model has guidance, and bad lines
// are named.
func TestMethods(t *testing.T) {
	for _, m := range Methods() {
		least, most := m.Bits()
		if any := len(m.Recipes)+len(m.Formats) == 0; any != (most == 0) || least > most || most > 9 {
			t.Errorf("%s has %g to %g bits", m.ID, least, most)
		}
		for _, r := range m.Recipes {
			if got := MethodOf(r); got == nil || got.ID != m.ID {
				t.Errorf("%s stands in two methods", r.Name)
			}
		}
		for _, f := range m.Formats {
			if got := MethodOfCache(f); got == nil || got.ID != m.ID {
				t.Errorf("a cache of %s stands in two methods", f.Name)
			}
		}
	}
	for _, r := range dtype.Recipes() {
		special := r.StandsFor != "" || strings.HasSuffix(r.Name, "-experts") || strings.HasPrefix(r.Name, "tq") || r.Name == "q1_0" || r.Name == "q2_0" || r.Name == "sparse-2:4"
		if !Wide(r) && !special && MethodOf(r) == nil {
			t.Errorf("no guidance about %s", r.Name)
		}
	}
	head, first, _ := strings.Cut(methodsText, "\n")
	first, _, _ = strings.Cut(first, "\n")
	for old, says := range map[string]string{"q4_0": "column formats", "none": "column calibration", "\ti8\t": "column arithmetic",
		"weights": "column formats", "GGUF legacy blocks": "column name"} {
		with := "\tx\t"
		if old != "\ti8\t" {
			with = map[bool]string{true: "", false: "x"}[says == "column name"]
		}
		if _, err := parseMethods(head + "\n" + strings.Replace(first, old, with, 1)); err == nil ||
			!strings.Contains(err.Error(), "methods.tsv, line 2: "+says) {
			t.Errorf("without %q: %v", old, err)
		}
	}
	if _, err := parseMethods(head + "\n" + first + "\n" + first); err == nil || !strings.Contains(err.Error(), "line 3: column method") {
		t.Errorf("a method twice: %v", err)
	}
}

// TestCollected: every collected row is here, with its figures and its printed change.
func TestCollected(t *testing.T) {
	lines := datatest.Shared(t, "quality.csv")
	if lines == nil {
		return
	}
	rows := published().rows
	if len(rows) != len(lines) {
		t.Fatalf("%d rows of %d", len(rows), len(lines))
	}
	for i, l := range lines {
		r := &rows[i]
		if r.Model() != l["model"] || r.Format.Name != l["format"] || string(r.Format.Target) != l["target"] || r.Metric.Name != l["metric"] ||
			r.Source.Citation != l["source"] {
			t.Errorf("line %d: %+v", i+2, r)
		}
		printed, err := strconv.ParseFloat(l["delta_pct"], 64)
		if d, ok := r.Delta(); err == nil && r.Metric.Kind != Divergence && (!ok || math.Abs(d-printed) > 0.0006) {
			t.Errorf("line %d changes by %.4f %%, printed %s", i+2, d, l["delta_pct"])
		}
	}
}
