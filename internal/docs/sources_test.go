package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/model/catalog"
)

// mention is a page of this repository that code or an answer names, perhaps with an anchor.
var mention = regexp.MustCompile(`\bdocs/(?:guides/|decisions/)?[a-z0-9-]+\.md(?:#[a-z0-9-]+)?`)

// badMentions lists pages and anchors that a text names and that do not exist.
func badMentions(where, text string, all map[string]*page) (out []string) {
	for _, m := range mention.FindAllString(text, -1) {
		name, anchor, _ := strings.Cut(m, "#")
		switch p := all[name]; {
		case p == nil:
			out = append(out, fmt.Sprintf("%s: %s does not exist", where, name))
		case anchor != "" && !p.anchors()[anchor]:
			out = append(out, fmt.Sprintf("%s: %s has no heading #%s", where, name, anchor))
		}
	}
	return out
}

// foreign are pages of other projects that comments cite by their path there.
var foreign = map[string]bool{"docs/gguf.md": true, "docs/api.md": true}

func mentionsOf(data []byte) string {
	text := string(data)
	for name := range foreign {
		text = strings.ReplaceAll(text, name, "")
	}
	return text
}

// TestPagesNamedInCode: every page that Go code names exists, and has the heading.
func TestPagesNamedInCode(t *testing.T) {
	all := pages(t)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasPrefix(name, "internal/docs/") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		for _, s := range badMentions(name, mentionsOf(data), all) {
			t.Error(s)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPrintedSources: the pages that answers name as their sources exist, over engines and kinds of model.
func TestPrintedSources(t *testing.T) {
	all := pages(t)
	asker := &memwall.Asker{Models: memwall.Catalog{}}
	seen := map[string]bool{}
	for _, engine := range []string{"vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers", "generic"} {
		for _, id := range []string{"llama-3.1-8b", "deepseek-v2-lite", "gemma-3-4b", "falcon-mamba-7b", "qwen3-next-80b-a3b",
			"gpt-oss-20b"} {
			if _, err := catalog.Find(id); err != nil {
				continue
			}
			r := &memwall.Request{Ask: "fit", Model: id, Hardware: "h100-sxm-80gb", Explain: true}
			r.Engine = engine
			a, err := asker.Ask(r)
			if err != nil {
				continue // not every engine takes every model
			}
			for at, e := range a.Explain {
				for _, s := range badMentions(engine+" "+id+" "+at, e.Source, all) {
					t.Error(s)
				}
				if strings.Contains(e.Source, "docs/formulas.md#") {
					seen[e.Source] = true
				}
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d sections are named by answers: %v", len(seen), seen)
	}
}

// TestBadMentionIsSeen: the checks above can fail.
func TestBadMentionIsSeen(t *testing.T) {
	all := map[string]*page{"docs/formulas.md": newPage("docs/formulas.md", "# KV cache")}
	got := badMentions("x.go", "docs/formulas.md#kv-cache docs/formulas.md#nothing docs/guides/none.md", all)
	if len(got) != 2 || !strings.Contains(got[0], "#nothing") || !strings.Contains(got[1], "none.md") {
		t.Errorf("%q", got)
	}
}
