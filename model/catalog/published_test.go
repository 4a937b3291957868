package catalog

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/dtype"
)

// TestPublishedAs: each row is of an entry, in a recipe that is known and that the entry's own repository does not have.
func TestPublishedAs(t *testing.T) {
	rows := 0
	for line := range strings.Lines(publishedText) {
		repo := strings.TrimSpace(line)
		if repo == "" || repo[0] == '#' {
			continue
		}
		rows++
		r, err := Read(repo)
		if err != nil || r.Assumed || dtype.FindRecipe(r.Format) == nil || r.Format == r.Weights || r.Repo != repo {
			t.Errorf("%s: %+v, %v", repo, r, err)
		} else if r.PublishedAs(r.Format) == "" {
			t.Errorf("%s is not found: %s is called %s", repo, r.ID, r.Hub)
		}
	}
	e, err := Find("qwen2.5-72b")
	if err != nil || rows < 80 {
		t.Fatalf("%v, %d rows", err, rows)
	}
	if got := e.PublishedAs("awq"); got != "Qwen/Qwen2.5-72B-Instruct-AWQ" {
		t.Errorf("%q", got)
	}
	if got := e.PublishedAs("q4_k_m"); got != "" {
		t.Errorf("a file of GGUF is %q", got)
	}
}
