package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// pasted is a row of testdata/names.tsv.
type pasted struct{ text, id, format, repo, said string }

func corpus(t testing.TB) (out []pasted) {
	text, err := os.ReadFile("testdata/names.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if c := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(c) == 5 && !strings.HasPrefix(line, "#") {
			out = append(out, pasted{c[0], c[1], c[2], c[3], c[4]})
		}
	}
	return out
}

// TestCorpus: what people paste is read as they mean it, and nothing as another model or format without a word.
func TestCorpus(t *testing.T) {
	rows := corpus(t)
	wrong, silent := 0, 0
	for _, c := range rows {
		r, err := Read(c.text)
		switch {
		case err != nil && c.id == "-":
			continue
		case err != nil:
			wrong++
			t.Logf("%s: %v, want %s", c.text, err, c.id)
			continue
		case r.ID == c.id && r.Format == c.format && r.Repo == c.repo && (c.said == "" || r.Why != ""):
			continue
		}
		wrong++
		t.Logf("%s: %s %q %s %q, want %s %q %s", c.text, r.ID, r.Format, r.Repo, r.Why, c.id, c.format, c.repo)
		if r.Why == "" && (r.ID != c.id || r.Format != c.format) {
			silent++
			t.Errorf("%s is read as %s in %q without a word", c.text, r.ID, r.Format)
		}
	}
	if len(rows) < 100 || wrong*50 > len(rows) {
		t.Errorf("%d of %d are read otherwise than meant", wrong, len(rows))
	}
	t.Logf("%d of %d as meant", len(rows)-wrong, len(rows))
}

// TestTheLibraryByItsMaker: of several names of an entry the maker's own is the one that is written.
func TestTheLibraryByItsMaker(t *testing.T) {
	for id, want := range map[string]string{"llama-3.1-8b": "llama3.1:8b", "phi-4": "phi4:14b", "gemma-3-27b": "gemma3:27b", "olmo3-32b": "olmo-3:32b"} {
		if got := InLibrary(id, usualFormat); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// TestTheLibraryNamesEntries: each tag of ollama.tsv stands for an entry, and is read as it.
func TestTheLibraryNamesEntries(t *testing.T) {
	for name, list := range library() {
		for i, tag := range list {
			if byID()[tag.id] == nil {
				t.Errorf("%s:%s stands for %s, which is not an entry", name, tag.tag, tag.id)
				continue
			}
			text := name + ":" + tag.tag
			if r, err := Read(text); err != nil || r.ID != tag.id || r.Format != tag.format || !r.Said.Ollama {
				t.Errorf("%s: %+v, %v", text, r, err)
			}
			if i > 0 && tag.tag == list[0].tag {
				t.Errorf("%s stands there twice", text)
			}
		}
	}
}

// BenchmarkFindPath is a path of another machine.
func BenchmarkFindPath(b *testing.B) {
	for b.Loop() {
		if _, err := Find("./models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestRepositoriesHaveRecipes: each row of repos.tsv is of an entry, in a recipe that is known, with a source.
func TestRepositoriesHaveRecipes(t *testing.T) {
	for repo, recipe := range storedIn() {
		r, err := Read(repo)
		if err != nil || r.Format != recipe || dtype.FindRecipe(recipe) == nil {
			t.Errorf("%s in %s: %+v, %v", repo, recipe, r, err)
		}
	}
	if len(storedIn()) < 30 {
		t.Errorf("%d rows", len(storedIn()))
	}
}
