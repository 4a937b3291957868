package card

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/quality"
	"github.com/memwall/memwall/source"
)

// TestMeasuredModels: ids that rows of quality carry are the catalog's, of models of that size.
func TestMeasuredModels(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range quality.FormatNames() {
		for _, r := range quality.Named(name) {
			id := r.CatalogID()
			if id == "" || seen[r.Model()] {
				continue
			}
			seen[r.Model()] = true
			e, err := catalog.Find(id)
			if err != nil || e.ID != id {
				t.Errorf("%s is %q, which is not in the catalog: %v", r.Model(), id, err)
				continue
			}
			s, err := e.Spec()
			if err != nil {
				t.Fatal(err)
			}
			if n := float64(s.Model(id).Params()) / 1e9; math.Abs(math.Log(n/r.Billions())) > math.Log(1.25) {
				t.Errorf("%s has %.3gB parameters, %s of the catalog %.3gB", r.Model(), r.Billions(), id, n)
			}
		}
	}
	if len(seen) < 45 {
		t.Errorf("only %d measured models are in the catalog", len(seen))
	}
}

// known are the engines whose rules memwall has; others that methods name (mlx) are not asked.
var known = []string{"llama.cpp", "vllm", "sglang", "tensorrt-llm", "transformers"}

// TestEnginesLoad: what guidance says that an engine loads, the engine's own rules do not refuse.
func TestEnginesLoad(t *testing.T) {
	asked := 0
	for _, m := range quality.Methods() {
		for _, engine := range m.Engines {
			if !slices.Contains(known, engine) {
				continue
			}
			for _, text := range requests(&m, engine) {
				asked++
				r, err := memwall.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				var e *memwall.Error
				if _, err := memwall.Ask(r); errors.As(err, &e) && !inOlderVersions(m.ID, engine) {
					t.Errorf("%s with %s: %s", m.ID, engine, e.Message)
				}
			}
		}
	}
	if asked < 80 {
		t.Errorf("only %d plans were asked", asked)
	}
}

// inOlderVersions: TensorRT-LLM keeps int8 caches in engines that are built ahead, not in the backend of today.
func inOlderVersions(method, engine string) bool {
	return method == "kv-int8" && engine == "tensorrt-llm"
}

// requests of a method: each of its formats.
func requests(m *quality.Method, engine string) (out []string) {
	for _, r := range m.Recipes {
		// llama.cpp has mxfp4 as a file type of its own, and the others have no GGUF files
		if gguf := r.Store == dtype.GGUF; gguf == (engine == "llama.cpp") {
			out = append(out, fmt.Sprintf(`{"ask":"fit","model":"gpt-oss-20b","hardware":"b200","engine":%q,"weights":%q}`, engine, r.Name))
		}
	}
	for _, f := range m.Formats {
		out = append(out, fmt.Sprintf(`{"ask":"fit","model":"llama-3.1-8b","hardware":"b200","engine":%q,"kv":%q}`, engine, f.Name))
	}
	return out
}

// TestComputesIn: architectures are named by the rates of the catalog.
func TestComputesIn(t *testing.T) {
	has := func(m *Method, arch string) bool {
		return slices.ContainsFunc(m.On, func(o OnChip) bool { return slices.Contains(o.Architectures, arch) })
	}
	for _, c := range []struct {
		method string
		in     []string
		not    []string
	}{
		{"fp8", []string{"ada", "hopper", "blackwell", "cdna3", "rdna4"}, []string{"ampere", "turing", "cdna2", "m4"}},
		{"nvfp4", []string{"blackwell", "cdna4"}, []string{"hopper", "ada", "cdna3"}},
		{"gguf-k", []string{"turing", "ampere"}, []string{"maxwell"}},
	} {
		list := Methods(c.method)
		at := slices.IndexFunc(list, func(m *Method) bool { return m.ID == c.method })
		if at < 0 {
			t.Fatalf("no method %s", c.method)
		}
		for _, a := range c.in {
			if !has(list[at], a) {
				t.Errorf("%s does not compute on %s", c.method, a)
			}
		}
		for _, a := range c.not {
			if has(list[at], a) {
				t.Errorf("%s computes on %s", c.method, a)
			}
		}
	}
}

// TestUnresolvedHaveCards: a name that memwall sizes nothing of is still found, with its rows.
func TestUnresolvedHaveCards(t *testing.T) {
	names := quality.Unresolved()
	if len(names) < 60 {
		t.Errorf("only %d names", len(names))
	}
	for _, name := range names {
		if p := PublishedOf(name); p == nil || p.Name != name || p.As != "" || len(p.Quality) == 0 || p.Models == 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, name := range quality.FormatNames() {
		if FormatOf(name) == nil && RecipeOf(name) == nil && PublishedOf(name) == nil {
			t.Errorf("%s has no card", name)
		}
	}
	if PublishedOf("no-such") != nil || PublishedOf("") != nil {
		t.Error("a name that nobody uses has a card")
	}
}

// TestQualityOfCards: a card's percent is value over baseline, and is null without a baseline.
func TestQualityOfCards(t *testing.T) {
	r := RecipeOf("q4_k_m")
	shown := 0
	for _, q := range r.Quality {
		if q.Shown {
			shown++
		}
		if q.Percent == nil {
			continue
		}
		if want := 100 * (q.Value/(*q.Baseline) - 1); math.Abs(*q.Percent-want) > 1e-9 {
			t.Errorf("%+v: want %g", q, want)
		}
	}
	if shown < 5 || r.Method == nil || r.Method.ID != "gguf-k" {
		t.Errorf("%d rows are shown, %+v", shown, r.Method)
	}
	if RecipeOf("mlx-4bit").Quality != nil {
		t.Error("nobody measured MLX's 4 bits, and its card has rows")
	}
}

// TestOrderOf: every format that shrinks a model stands once, the published one first, known losses rising; what
// nobody measured is null and a guess.
func TestOrderOf(t *testing.T) {
	src := source.New(source.Options{})
	for _, id := range []string{"llama-3-8b", "qwen3-30b-a3b", "gpt-oss-20b", "deepseek-v3", "mamba-2.8b", "bge-m3"} {
		o, err := OrderOf(src, id, "")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		last := 0.
		for i, f := range o.Formats {
			if seen[f.Recipe] || f.Bytes <= 0 || f.Published && i > 0 {
				t.Errorf("%s: %+v at place %d", id, f, i)
			}
			seen[f.Recipe] = true
			if known := f.Guess == "" && !f.Published; known != (f.Perplexity != nil && f.Perplexity.Metric == "ppl-wikitext2" &&
				!f.Published) {
				t.Errorf("%s: %s is not a guess: %v, with %+v", id, f.Recipe, known, f.Perplexity)
			} else if known {
				if f.Perplexity.Mid < last && last > 0 {
					t.Errorf("%s: %s loses %.3f %% behind %.3f", id, f.Recipe, f.Perplexity.Mid, last)
				}
				last = max(0, f.Perplexity.Mid)
			}
		}
		if len(o.Formats) < 40 || !o.Formats[0].Published {
			t.Errorf("%s: %d formats, the first %+v", id, len(o.Formats), o.Formats[0])
		}
	}
	if _, err := OrderOf(src, "no-such-model", ""); err == nil {
		t.Error("an unknown model has formats")
	}
}
