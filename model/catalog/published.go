package catalog

import (
	_ "embed" // published.tsv
	"strings"
)

//go:embed published.tsv
var publishedText string

// PublishedAs is a repository that has an entry in a recipe which its own does not have, the first of the table; "" where none is known.
func PublishedAs(id, recipe string) string {
	repo, _, ok := strings.Cut(publishedText, "\t"+id+"\t"+recipe+"\n")
	if !ok {
		return ""
	}
	return repo[strings.LastIndexByte(repo, '\n')+1:]
}
