package catalog

import (
	_ "embed" // published.tsv
	"strings"
	"sync"
)

//go:embed published.tsv
var publishedText string

// PublishedAs is a repository that has an entry in a recipe which its own does not have, the first of the table; "" where none is known.
func PublishedAs(id, recipe string) string {
	return published()[[2]string{id, recipe}]
}

var published = sync.OnceValue(func() map[[2]string]string {
	all := map[[2]string]string{}
	for line := range strings.Lines(publishedText) {
		repo, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id, recipe, _ := strings.Cut(of, "\t")
		if key := [2]string{id, recipe}; all[key] == "" {
			all[key] = repo
		}
	}
	return all
})
