package pycall

import "strings"

// token of Python: a name, a number, a text with its quotes taken off, or a mark. Comments are left out; a line break
// ends a statement outside of brackets alone.
type token struct {
	kind kind
	text string
	at   int // byte of the text, behind the token
}

type kind uint8

const (
	name kind = iota
	number
	text
	mark
	line
)

// tokens of a text, at most so many.
func tokens(s string) (out []token) {
	depth := 0
	for at := 0; at < len(s) && len(out) < maxTokens; {
		c := s[at]
		switch {
		case c == '#':
			at += upTo(s[at:], "\n")
			continue
		case c == '\n':
			if at++; depth == 0 {
				out = append(out, token{line, "\n", at})
			}
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\\' || c == '\f':
			at++
			continue
		}
		t := next(s, at)
		switch t.text {
		case "(", "[", "{":
			depth += open(t)
		case ")", "]", "}":
			depth = max(0, depth-open(t))
		}
		out, at = append(out, t), t.at
	}
	return out
}

// open: brackets count as such outside of texts.
func open(t token) int {
	if t.kind == mark {
		return 1
	}
	return 0
}

func next(s string, at int) token {
	n := 0
	for at+n < len(s) && isName(s[at+n]) {
		n++
	}
	word := s[at : at+n]
	if q := at + n; q < len(s) && (s[q] == '"' || s[q] == '\'') && strings.Trim(strings.ToLower(word), "rbfu") == "" {
		body, end := literal(s, q)
		return token{text, body, end}
	}
	switch {
	case n > 0 && word[0] >= '0' && word[0] <= '9':
		for at+n < len(s) && (isName(s[at+n]) || s[at+n] == '.') {
			n++
		}
		return token{number, s[at : at+n], at + n}
	case n > 0:
		return token{name, word, at + n}
	}
	for _, m := range []string{"**", "==", "!=", "<=", ">=", "//", "->", ":="} {
		if strings.HasPrefix(s[at:], m) {
			return token{mark, m, at + 2}
		}
	}
	return token{mark, s[at : at+1], at + 1}
}

// literal reads a text from its opening quote on; one that nothing closes runs to its line's end.
func literal(s string, at int) (body string, end int) {
	q := s[at : at+1]
	if strings.HasPrefix(s[at:], q+q+q) {
		q += q + q
	}
	var b strings.Builder
	for i := at + len(q); i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], q):
			return b.String(), i + len(q)
		case s[i] == '\n' && len(q) == 1:
			return b.String(), i
		case s[i] == '\\' && i+1 < len(s):
			if i++; s[i] != '\\' && s[i] != '"' && s[i] != '\'' && s[i] != '\n' {
				b.WriteByte('\\') // a path of Windows, or an escape that no name has
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), len(s)
}

func upTo(s, end string) int {
	if n := strings.Index(s, end); n >= 0 {
		return n
	}
	return len(s)
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
