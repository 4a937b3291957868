package diagnose

import (
	"strings"
	"sync"
)

// A log may have millions of lines, hardly any of them about memory or settings, so one pass over its bytes must tell
// which may be, and which words they may contain: searching for each word separately would take a pass per word.

// finder is the Aho-Corasick automaton (1975) over the beginnings of all words that rules look for.
type finder struct {
	class [256]uint8 // class 0 is bytes that occur in no word
	next  []int16    // by state × classes + class
	width int
	ends  [][]int16 // word beginnings that end at each state
}

// headOf is the number of leading bytes of a word in the automaton; the rule checks the rest.
const headOf = 8

// hits is the set of word beginnings in a text.
type hits [8]uint64

func (h *hits) has(id int16) bool { return h[id>>6]&(1<<(id&63)) != 0 }
func (h *hits) set(id int16)      { h[id>>6] |= 1 << (id & 63) }

func (h *hits) any(of *hits) bool {
	for i := range h {
		if h[i]&of[i] != 0 {
			return true
		}
	}
	return false
}

// vocabulary holds all words, by purpose, as indexes of their beginnings.
type vocabulary struct {
	finder
	rules, arguments, gauges, starters, makers, frames, stages []int16

	loading int16 // of loadingBar
	worth   hits  // words of rules and settings, which make a line relevant
	numbers map[string]int16
	heads   []string
}

var words = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{numbers: map[string]int16{}}
	for _, r := range rules() {
		first, _, _ := strings.Cut(r.words, "…")
		v.rules = append(v.rules, v.number(first))
	}
	for i := range arguments {
		v.arguments = append(v.arguments, v.number(arguments[i].name))
	}
	for i := range gauges {
		v.gauges = append(v.gauges, v.number(gauges[i].words))
	}
	v.starters = v.numbersOf(starters)
	for id := range v.heads {
		v.worth.set(int16(id))
	}
	for i := range makers {
		v.makers = append(v.makers, v.number(makers[i].words))
	}
	for i := range frames {
		v.frames = append(v.frames, v.number(frames[i].words))
	}
	for i := range stages {
		v.stages = append(v.stages, v.number(stages[i].words))
	}
	v.loading = v.number(loadingBar)
	v.finder = *newFinder(v.heads)
	return v
})

// number returns the index of a word's beginning.
func (v *vocabulary) number(word string) int16 {
	h := head(word)
	id, ok := v.numbers[h]
	if !ok {
		id = int16(len(v.heads))
		v.numbers[h], v.heads = id, append(v.heads, h)
	}
	return id
}

func (v *vocabulary) numbersOf(words []string) (out []int16) {
	for _, w := range words {
		out = append(out, v.number(w))
	}
	return out
}

// scan returns the word beginnings that a text contains.
func scan(text string) (h hits) {
	f := &words().finder
	state := 0
	for i := 0; i < len(text); i++ {
		state = int(f.next[state*f.width+int(f.class[text[i]])])
		for _, id := range f.ends[state] {
			h.set(id)
		}
	}
	return h
}

func newFinder(all []string) *finder {
	f := &finder{width: 1}
	for _, w := range all {
		for _, c := range []byte(head(w)) {
			if f.class[c] == 0 {
				f.class[c] = uint8(f.width)
				f.width++
			}
		}
	}
	f.state()
	for id, w := range all {
		f.add(head(w), int16(id))
	}
	f.link()
	return f
}

func head(w string) string { return w[:min(len(w), headOf)] }

// state adds a state without transitions.
func (f *finder) state() int {
	for range f.width {
		f.next = append(f.next, -1)
	}
	f.ends = append(f.ends, nil)
	return len(f.ends) - 1
}

func (f *finder) add(w string, id int16) {
	at := 0
	for _, c := range []byte(w) {
		to := at*f.width + int(f.class[c])
		if f.next[to] < 0 {
			n := f.state()
			f.next[to] = int16(n)
		}
		at = int(f.next[to])
	}
	f.ends[at] = append(f.ends[at], id)
}

// link completes missing transitions by following the longest suffix.
func (f *finder) link() {
	fail := make([]int, len(f.ends))
	var queue []int
	for c := range f.width {
		if to := int(f.next[c]); to > 0 {
			queue = append(queue, to)
		} else {
			f.next[c] = 0
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		f.ends[at] = append(f.ends[at], f.ends[fail[at]]...)
		for c := range f.width {
			to, other := &f.next[at*f.width+c], f.next[fail[at]*f.width+c]
			if *to < 0 {
				*to = other
				continue
			}
			fail[*to] = int(other)
			queue = append(queue, int(*to))
		}
	}
}
