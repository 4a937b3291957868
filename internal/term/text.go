package term

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is a piece of a line in one ink.
type Span struct {
	Text string
	Ink  Ink
	to   *Place // link target, for faces that have links
}

// Text is a line or a cell, in spans.
type Text []Span

// Say returns a text of one span. Like Join it is not inlined, which would cost 70 kB over six hundred calls.
//
//go:noinline
func Say(s string, i ...Ink) Text {
	if len(i) == 0 {
		return Text{{Text: s}}
	}
	return Text{{Text: s, Ink: i[0]}}
}

// Join concatenates texts.
//
//go:noinline
func Join(parts ...Text) (out Text) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Cells returns the display width of a string.
func Cells(s string) (n int) {
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// runeCells returns 2 for wide scripts and 0 for combining marks.
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

// Cells returns the display width of a line.
func (x Text) Cells() (n int) {
	for _, s := range x {
		n += Cells(s.Text)
	}
	return n
}

func (x Text) String() string {
	var b strings.Builder
	for _, s := range x {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Clean makes all spans safe to print and, if only is set, ASCII.
func (x Text) Clean(only bool) Text {
	out := make(Text, len(x))
	for i, s := range x {
		out[i] = Span{Clean(s.Text, only), s.Ink, s.to}
	}
	return out
}

// cut truncates a text to n cells, ending in an ellipsis.
func (x Text) cut(n int, ellipsis string) Text {
	if x.Cells() <= n {
		return x
	}
	left := max(0, n-Cells(ellipsis))
	var out Text
	for _, s := range x {
		head := s.Text[:Prefix(s.Text, left)]
		out = append(out, Span{head, s.Ink, s.to})
		left -= Cells(head)
		if len(head) < len(s.Text) {
			break
		}
	}
	return append(out, Span{Text: ellipsis})
}

// Prefix returns how many bytes of s fit in n cells.
func Prefix(s string, n int) int {
	for i, r := range s {
		if n -= runeCells(r); n < 0 {
			return i
		}
	}
	return len(s)
}

// Shorten removes the middle of a name down to n cells, at a nearby hyphen if there is one.
func Shorten(s string, n int, ellipsis string) string {
	if Cells(s) <= n || n < Cells(ellipsis)+2 {
		return s
	}
	keep := n - Cells(ellipsis)
	head := s[:Prefix(s, keep-keep/2)]
	if i := strings.LastIndexByte(head, '-'); i >= len(head)-6 && i > 0 {
		head = head[:i+1]
	}
	tail := lastCells(s, keep-Cells(head))
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

// words splits a text into unbreakable words, each with its ink.
func (x Text) words() (out []Text) {
	var word Text
	for _, s := range x {
		for i, part := range strings.Split(s.Text, " ") {
			if i > 0 && len(word) > 0 {
				out, word = append(out, word), nil
			}
			if part != "" {
				word = append(word, Span{part, s.Ink, s.to})
			}
		}
	}
	if len(word) > 0 {
		out = append(out, word)
	}
	return bound(out)
}

// units stay on the line of their number.
var units = strings.Fields("% B KiB MiB GiB TiB kB MB GB TB GB/s TB/s GFLOP/s TFLOP/s tok/s ns µs ms s min h days W kW kWh J")

// bound joins each number with the unit after it.
func bound(words []Text) (out []Text) {
	for _, w := range words {
		if n := len(out) - 1; n >= 0 && slices.Contains(units, strings.TrimRight(w.String(), ",.;:)")) && endsInDigit(out[n].String()) {
			out[n] = append(append(out[n], between(out[n], w)), w...)
			continue
		}
		out = append(out, w)
	}
	return out
}

func endsInDigit(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// widest returns the width of a text's longest word.
func (x Text) widest() (n int) {
	for _, w := range x.words() {
		n = max(n, w.Cells())
	}
	return n
}

// Wrap breaks a text into lines of at most n cells, at spaces if possible.
func (x Text) Wrap(n int) (lines []Text) {
	var line Text
	for _, w := range x.words() {
		for w.Cells() > n {
			if len(line) > 0 {
				lines, line = append(lines, line), nil
			}
			var head Text
			head, w = w.split(n)
			lines = append(lines, head)
		}
		switch {
		case len(line) == 0:
			line = w
		case line.Cells()+1+w.Cells() <= n:
			line = append(append(line, between(line, w)), w...)
		default:
			lines, line = append(lines, line), w
		}
	}
	return append(lines, line)
}

// between returns a space with the ink and the link that both words share, if any.
func between(a, b Text) Span {
	out := Span{Text: " "}
	if len(a) == 0 || len(b) == 0 {
		return out
	}
	last, first := &a[len(a)-1], &b[0]
	if last.Ink == first.Ink {
		out.Ink = first.Ink
	}
	if last.to == first.to {
		out.to = first.to
	}
	return out
}

// split cuts a word that is wider than n cells.
func (x Text) split(n int) (head, rest Text) {
	for i, s := range x {
		k := Prefix(s.Text, n)
		if k < len(s.Text) {
			k = max(k, firstRune(s.Text, len(head)))
			return append(head, Span{s.Text[:k], s.Ink, s.to}), append(Text{{s.Text[k:], s.Ink, s.to}}, x[i+1:]...)
		}
		head = append(head, s)
		n -= Cells(s.Text)
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

// Joined joins what is not empty.
func Joined(parts []string, sep string) string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, sep)
}

// Capital begins a sentence; names with digits or capitals of their own stay as they are.
func Capital(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || word != strings.ToLower(word) || strings.ContainsAny(word, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
