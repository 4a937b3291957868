package catalog

import (
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/spell"
)

// suggested is how many ids an unknown name is answered with.
const suggested = 3

// folded are the names of all entries without marks, each once, and whose they are.
var folded = sync.OnceValue(func() (f struct {
	names []string
	owner map[string]string
}) {
	f.owner = map[string]string{}
	for _, h := range headers() {
		for _, n := range h.names {
			key := fold(n)
			if _, ok := f.owner[key]; !ok {
				f.owner[key] = h.names[0]
				f.names = append(f.names, key)
			}
		}
	}
	return f
})

// near gives up to three ids: those that begin with the name, which is short of a size, then those spelt nearly like it.
func near(name string) []string {
	var out []string
	all, n := folded(), fold(name)
	const letters = 3 // fewer begin too many names
	if len(n) >= letters {
		for _, f := range all.names {
			if id := all.owner[f]; strings.HasPrefix(f, n) && len(out) < suggested && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	for _, f := range spell.Nearest(n, all.names) {
		if id := all.owner[f]; len(out) < suggested && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
