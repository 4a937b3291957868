package render

import (
	"strings"
	"unicode/utf8"
)

// span is a piece of a line in one ink, text a line or a cell.
type span struct {
	s   string
	ink ink
	to  *Place // where faces that have links lead from here
}

type text []span

// say makes a text of one span. Like join it is not inlined, which would be 70 kB in the six hundred places that call them.
//
//go:noinline
func say(s string, i ...ink) text {
	if len(i) == 0 {
		return text{{s: s}}
	}
	return text{{s: s, ink: i[0]}}
}

// join makes one text of several.
//
//go:noinline
func join(parts ...text) (out text) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// cells is the width of a text on the screen.
func cells(s string) (n int) {
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// runeCells is 2 for the scripts that terminals draw wide, 0 for marks that combine.
func runeCells(r rune) int {
	switch {
	case r >= 0x300 && r < 0x370, r == 0x200b, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

func (x text) cells() (n int) {
	for _, s := range x {
		n += cells(s.s)
	}
	return n
}

func (x text) string() string {
	var b strings.Builder
	for _, s := range x {
		b.WriteString(s.s)
	}
	return b.String()
}

// clean makes all spans safe to print and, with only, plain ASCII.
func (x text) clean(only bool) text {
	out := make(text, len(x))
	for i, s := range x {
		out[i] = span{clean(s.s, only), s.ink, s.to}
	}
	return out
}

// cut shortens a text to n cells with an ellipsis at its end.
func (x text) cut(n int, ellipsis string) text {
	if x.cells() <= n {
		return x
	}
	left := max(0, n-cells(ellipsis))
	var out text
	for _, s := range x {
		head := s.s[:prefix(s.s, left)]
		out = append(out, span{head, s.ink, s.to})
		left -= cells(head)
		if len(head) < len(s.s) {
			break
		}
	}
	return append(out, span{s: ellipsis})
}

// prefix is how many bytes of s fit in n cells.
func prefix(s string, n int) int {
	for i, r := range s {
		if n -= runeCells(r); n < 0 {
			return i
		}
	}
	return len(s)
}

// shorten takes letters out of the middle of a name until it has n cells, at a hyphen when one is near.
func shorten(s string, n int, ellipsis string) string {
	if cells(s) <= n || n < cells(ellipsis)+2 {
		return s
	}
	keep := n - cells(ellipsis)
	head := s[:prefix(s, keep-keep/2)]
	if i := strings.LastIndexByte(head, '-'); i >= len(head)-6 && i > 0 {
		head = head[:i+1]
	}
	tail := lastCells(s, keep-cells(head))
	if i := strings.IndexByte(tail, '-'); i >= 0 && i < 6 {
		tail = tail[i:]
	}
	return head + ellipsis + tail
}

func lastCells(s string, n int) string {
	i := len(s)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= runeCells(r); n < 0 {
			break
		}
		i -= size
	}
	return s[i:]
}

// words breaks a text into words that stay whole, each with its ink.
func (x text) words() (out []text) {
	var word text
	for _, s := range x {
		for i, part := range strings.Split(s.s, " ") {
			if i > 0 && len(word) > 0 {
				out, word = append(out, word), nil
			}
			if part != "" {
				word = append(word, span{part, s.ink, s.to})
			}
		}
	}
	if len(word) > 0 {
		out = append(out, word)
	}
	return out
}

// widest is the width of a text's longest word.
func (x text) widest() (n int) {
	for _, w := range x.words() {
		n = max(n, w.cells())
	}
	return n
}

// wrap breaks a text into lines of at most n cells, at spaces where it can.
func (x text) wrap(n int) (lines []text) {
	var line text
	for _, w := range x.words() {
		for w.cells() > n {
			if len(line) > 0 {
				lines, line = append(lines, line), nil
			}
			var head text
			head, w = w.split(n)
			lines = append(lines, head)
		}
		switch {
		case len(line) == 0:
			line = w
		case line.cells()+1+w.cells() <= n:
			line = append(append(line, between(line, w)), w...)
		default:
			lines, line = append(lines, line), w
		}
	}
	return append(lines, line)
}

// between is a space: in the ink of both words when they share one, and to where both lead.
func between(a, b text) span {
	out := span{s: " "}
	if len(a) == 0 || len(b) == 0 {
		return out
	}
	last, first := &a[len(a)-1], &b[0]
	if last.ink == first.ink {
		out.ink = first.ink
	}
	if last.to == first.to {
		out.to = first.to
	}
	return out
}

// split cuts a word that is wider than n cells.
func (x text) split(n int) (head, rest text) {
	for i, s := range x {
		k := prefix(s.s, n)
		if k < len(s.s) {
			k = max(k, firstRune(s.s, len(head)))
			return append(head, span{s.s[:k], s.ink, s.to}), append(text{{s.s[k:], s.ink, s.to}}, x[i+1:]...)
		}
		head = append(head, s)
		n -= cells(s.s)
	}
	return head, nil
}

// firstRune makes sure that a cut takes at least one letter when nothing stands before it.
func firstRune(s string, before int) int {
	if before > 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}
