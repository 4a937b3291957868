package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	faces "github.com/memwall/memwall/internal/page"
)

// avoided are the words of the last column of the glossary.
func avoided(t *testing.T, text string) (out []string) {
	t.Helper()
	for l := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(l), "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "term" {
			continue
		}
		for w := range strings.SplitSeq(cells[3], ",") {
			out = append(out, strings.ToLower(strings.TrimSpace(w)))
		}
	}
	return out
}

// said are the avoided words that a text says. Single words have other meanings too, and are left.
func said(text string, words []string) (out []string) {
	flat := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, w := range words {
		if strings.Contains(w, " ") && strings.Contains(flat, w) {
			out = append(out, w)
		}
	}
	return out
}

// TestGlossary: documents, screens as their goldens have them, and pages use the words of the glossary.
func TestGlossary(t *testing.T) {
	data, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	words := avoided(t, string(data))
	if len(words) < 15 || len(said("a model that is far\naway", words)) != 1 {
		t.Fatalf("%d words, and they are not found", len(words))
	}
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/guides/*.md", "../render/testdata/golden/*.txt"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if hits := said(string(text), words); len(hits) > 0 && filepath.Base(name) != "glossary.md" {
				t.Errorf("%s says %q", name, hits)
			}
		}
	}
	site := faces.Site{Asker: &memwall.Asker{}}
	for _, path := range []string{"/", "/fit", "/plan", "/pick", "/train", "/sim", "/diagnose", "/learn", "/nowhere"} {
		if hits := said(site.Page(t.Context(), path, "", "").HTML, words); len(hits) > 0 {
			t.Errorf("%s says %q", path, hits)
		}
	}
}
