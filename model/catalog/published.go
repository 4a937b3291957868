package catalog

import (
	_ "embed" // published.tsv
	"strings"
)

//go:embed published.tsv
var publishedText string

// PublishedAs is a repository that has an entry in a recipe which its own does not have, the first of the table; "" where none is
// known. Only rows that hold the entry's own name are read.
func (e *Entry) PublishedAs(recipe string) string {
	own := Bare(e.Hub)
	for line := range strings.Lines(publishedText) {
		repo := strings.TrimSpace(line)
		if repo == "" || repo[0] == '#' || !strings.HasPrefix(Bare(repo), own) {
			continue
		}
		if r, err := Read(repo); err == nil && r.ID == e.ID && r.Format == recipe {
			return repo
		}
	}
	return ""
}
