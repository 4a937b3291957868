package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	faces "github.com/memwall/memwall/internal/page"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/plan"
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

// badly are phrases that no screen of training has, whatever is asked.
var badly = regexp.MustCompile(`\bby full\b|\b1 sequences\b|\b0 B for each\b|\bproducts [0-9.]+ (s|ms)\b`)

// TestTrainingIsSaidWell: screens and pages of training, whatever trains and on how many devices, and what their answers call things.
func TestTrainingIsSaidWell(t *testing.T) {
	data, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	words, a := avoided(t, string(data)), &memwall.Asker{}
	site := faces.Site{Asker: a}
	for _, r := range []memwall.Request{{Hardware: "8xh100"}, {Hardware: "h100"},
		{Hardware: "8xh100", Training: plan.Training{Method: "lora"}}, {Hardware: "rtx-4090", Training: plan.Training{Method: "qlora"}}} {
		r.Ask, r.Model = "train", "llama-3.1-8b"
		answer, err := a.Ask(&r)
		if err != nil {
			t.Fatal(err)
		}
		labels, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		page := site.Page(t.Context(), "/train", "model=llama-3.1-8b&on="+r.Hardware+"&method="+r.Method, "").HTML
		for _, text := range []string{render.Train(answer, render.FitOptions{}, term.Style{Width: 80}), string(labels), page} {
			flat := strings.Join(strings.Fields(text), " ")
			if hits := append(said(flat, words), badly.FindAllString(flat, -1)...); len(hits) > 0 {
				t.Errorf("%s by %q says %q", r.Hardware, r.Method, hits)
			}
		}
	}
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
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/guides/*.md", "../../docs/case-studies/*.md", "../render/testdata/golden/*.txt"} {
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
