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

// near gives up to three ids: those that begin with the name, which is short of a size; those that share words with it, the word of a
// family among them; those spelt nearly like it that share a stem. Names of no family that is here have none.
func near(name string) []string {
	var out []string
	all, n := folded(), fold(name)
	add := func(id string) {
		if len(out) < suggested && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	const letters = 3 // fewer begin too many names
	if len(n) >= letters {
		for _, f := range all.names {
			if strings.HasPrefix(f, n) {
				add(all.owner[f])
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	asked := wordsOf(name)
	const slips = 2 // letters that are mistyped, in a name of some
	bare := n[strings.LastIndexByte(n, '/')+1:]
	spelt := spell.Nearest(bare, all.names)
	for _, f := range spelt {
		if spell.Distance(bare, f) <= min(slips, len(bare)/4) {
			add(all.owner[f])
		}
	}
	for _, p := range sharing(asked) {
		add(p.head.id())
	}
	for _, f := range spelt {
		if id := all.owner[f]; kindred(stemsOf(asked), stemsOf(wordsOf(id))) {
			add(id)
		}
	}
	for _, id := range alike(n) {
		if kindred(stemsOf(asked), stemsOf(wordsOf(id))) {
			add(id)
		}
	}
	return out
}

// sharing are entries that have most of the words of a name, newest first: a family's word and one more at least.
func sharing(asked []string) (out []place) {
	most := 2
	for _, family := range stemsOf(asked) {
		for _, w := range wordings()[family] {
			n := 0
			for _, word := range asked {
				if slices.Contains(w.words, word) {
					n++
				}
			}
			switch {
			case n < most || w.otherwise(asked):
			case n > most:
				out, most = []place{w.place}, n
			default:
				out = with(out, w.place)
			}
		}
	}
	return newestFirst(out)
}

// otherwise reports whether an entry is of another use than the words that are asked: a drafter, a reader of images.
func (w *wording) otherwise(asked []string) bool {
	return slices.ContainsFunc(w.words, func(word string) bool { return otheruse.MatchString(word) && !slices.Contains(asked, word) })
}

// isStem tells the word of a family from a size, a version and a word of many families.
func isStem(word string) bool {
	const letters = 3
	return len(word) >= letters && word[0] >= 'a' && word[0] <= 'z' && !othershape.MatchString(word) && !fillers[word]
}

func stemsOf(words []string) (out []string) {
	for _, w := range words {
		if isStem(w) {
			out = append(out, w)
		}
	}
	return out
}

// kindred reports whether two names share the word of a family, its beginning, or its spelling but for a letter.
func kindred(a, b []string) bool {
	const stem, slip = 4, 5
	for _, x := range a {
		for _, y := range b {
			switch {
			case x == y, common(x, y) >= stem:
				return true
			case min(len(x), len(y)) >= slip-1 && spell.Distance(x, y) <= min(2, min(len(x), len(y))-slip+2):
				return true
			}
		}
	}
	return false
}

// alike are ids whose names begin with as many letters of a name as any does, at least four.
func alike(n string) (out []string) {
	n = n[strings.LastIndexByte(n, '/')+1:]
	all, most := folded(), 4
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
