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

// near gives up to three ids: those that begin with the name, which is short of a size, then those spelt nearly like it, or
// those that begin like it.
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
	if len(out) == 0 {
		return alike(n)
	}
	return out
}

// alike are ids whose names begin with as many letters of a name as any does, at least three.
func alike(n string) (out []string) {
	n = n[strings.LastIndexByte(n, '/')+1:]
	all, most := folded(), 3
	for _, f := range all.names {
		switch k := common(n, f); {
		case k > most:
			out, most = []string{all.owner[f]}, k
		case k == most && len(out) < suggested && !slices.Contains(out, all.owner[f]):
			out = append(out, all.owner[f])
		}
	}
	return out
}

// common is how many letters two names begin with alike.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
