package diagnose

import (
	"strings"
	"sync"
)

// A log has millions of lines and next to none is about memory or the run's settings, so that one pass over its bytes must
// say which may be.
// finder is the automaton of Aho and Corasick (1975) over the beginnings of all words that rules look for.

// finder steps from state to state with each byte.
type finder struct {
	class [256]uint8 // bytes that no word holds are of class 0
	next  []int16    // by state × classes + class
	width int
	ends  []bool // states in which a word's beginning was read
}

// headOf is how much of a word is looked for: the rule itself reads the rest.
const headOf = 8

var words = sync.OnceValue(func() *finder {
	var all []string
	for _, rules := range families {
		for i := range rules {
			first, _, _ := strings.Cut(rules[i].words, "…")
			all = append(all, first)
		}
	}
	for i := range arguments {
		all = append(all, arguments[i].name)
	}
	return newFinder(append(append(all, gauges...), starters...))
})

// worth reports whether any rule may hold of a line, or a setting stand in it.
func worth(text string) bool { return words().in(text) }

func (f *finder) in(text string) bool {
	state := 0
	for i := 0; i < len(text); i++ {
		state = int(f.next[state*f.width+int(f.class[text[i]])])
		if f.ends[state] {
			return true
		}
	}
	return false
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
	for _, w := range all {
		f.add(head(w))
	}
	f.link()
	return f
}

func head(w string) string { return w[:min(len(w), headOf)] }

// state makes a new one, which leads nowhere.
func (f *finder) state() int {
	for range f.width {
		f.next = append(f.next, -1)
	}
	f.ends = append(f.ends, false)
	return len(f.ends) - 1
}

func (f *finder) add(w string) {
	at := 0
	for _, c := range []byte(w) {
		to := at*f.width + int(f.class[c])
		if f.next[to] < 0 {
			n := f.state()
			f.next[to] = int16(n)
		}
		at = int(f.next[to])
	}
	f.ends[at] = true
}

// link leads every state that a byte does not continue to where the longest end of what was read goes on.
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
		f.ends[at] = f.ends[at] || f.ends[fail[at]]
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
