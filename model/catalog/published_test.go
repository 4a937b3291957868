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
		if line[0] == '#' {
			continue
		}
		rows++
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		r, err := Read(c[0])
		if err != nil || len(c) != 3 || r.Assumed || r.ID != c[1] || r.Format != c[2] || dtype.FindRecipe(r.Format) == nil || r.Format == r.Weights ||
			r.Repo != c[0] || PublishedAs(c[1], c[2]) == "" {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
	}
	if got := PublishedAs("qwen2.5-72b", "awq"); got != "Qwen/Qwen2.5-72B-Instruct-AWQ" || rows < 80 {
		t.Errorf("%q of %d rows", got, rows)
	}
	if got := PublishedAs("qwen2.5-72b", "q4_k_m"); got != "" {
		t.Errorf("a file of GGUF is %q", got)
	}
}
