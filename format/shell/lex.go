package shell

import "strings"

// token is a word verbatim, quotes included, or an operator. joined reports that no space separates it from the
// previous token. The operator << carries its document as a quoted word, and > of pasted text its file.
type token struct {
	text     string
	line     int
	op       bool
	joined   bool
	document string
}

// operators, longer first. Redirections among them consume the following word.
var operators = []string{"<<<", "<<-", "&>>", "&&", "||", ";;", ">>", "<<", "&>", ">&", "<&", ">", "<", "|", "&", ";", "(", ")", "\n"}

// lexer splits a text into tokens.
type lexer struct {
	text   string
	at     int
	line   int
	heres  []here // here-documents that begin after this line
	out    []token
	pasted bool
	// For pasted text: open brackets and cases, and the first unclosed quote with its position.
	depth, cases int
	quote        byte
	quoteAt      int
}

// here is a here-document, up to a line equal to end.
type here struct {
	end string
	at  int
	raw bool
}

// lex never fails: unclosed constructs end with the text.
func lex(text string, pasted bool) *lexer {
	l := &lexer{text: text, line: 1, pasted: pasted}
	for l.at < len(l.text) {
		l.next()
	}
	return l
}

func (l *lexer) next() {
	joined := l.at > 0 && !strings.ContainsRune(" \t\r\n", rune(l.text[l.at-1]))
	switch c := l.text[l.at]; {
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case l.continued() > 0:
		l.at += l.continued()
		l.line++
	case c == '\\' && strings.HasPrefix(strings.TrimPrefix(l.text[l.at+1:], "\r"), "\n"):
		l.at += strings.IndexByte(l.text[l.at:], '\n') + 1
		l.line++
	case c == '#':
		l.at += lineLength(l.text[l.at:])
	default:
		if op := l.operator(); op != "" {
			l.take(op, joined)
			return
		}
		line, word := l.line, l.word()
		l.inCase(word)
		l.out = append(l.out, token{text: word, line: line, joined: joined})
	}
}

func (l *lexer) operator() string {
	if l.pasted && l.plain() {
		return ""
	}
	for _, op := range operators {
		if strings.HasPrefix(l.text[l.at:], op) {
			return op
		}
	}
	return ""
}

// take emits an operator. Redirections are emitted with their targets; here-documents begin after the end of the line.
func (l *lexer) take(op string, joined bool) {
	l.at += len(op)
	if strings.ContainsAny(op, "<>") {
		l.redirect(op, joined)
		return
	}
	l.brackets(op)
	l.out = append(l.out, token{text: op, line: l.line, op: true, joined: joined})
	if op == "\n" {
		l.line++
		l.takeHeres()
	}
}

func (l *lexer) redirect(op string, joined bool) {
	if n := len(l.out); joined && n > 0 && !l.out[n-1].op && isNumber(l.out[n-1].text) {
		l.out = l.out[:n-1] // 2> and similar
	}
	l.at += len(l.text[l.at:]) - len(strings.TrimLeft(l.text[l.at:], " \t&"))
	if l.at < len(l.text) && l.operator() == "" {
		line, target := l.line, l.word()
		switch {
		case op == "<<" || op == "<<-":
			end := strings.Trim(target, `'"\`)
			l.heres = append(l.heres, here{end: end, at: len(l.out), raw: end != target})
			l.out = append(l.out, token{text: "<<", line: line, op: true})
		case l.pasted && strings.Contains(op, ">") && op != ">&":
			l.out = append(l.out, token{text: ">", line: line, op: true, document: target})
		}
	}
}

// takeHeres attaches the here-documents that begin here to their tokens.
func (l *lexer) takeHeres() {
	for _, h := range l.heres {
		start, stop := l.at, l.at
		for l.at < len(l.text) {
			n := lineLength(l.text[l.at:])
			line := strings.TrimSpace(l.text[l.at : l.at+n])
			stop = l.at
			l.at = min(l.at+n+1, len(l.text))
			l.line++
			if line == h.end {
				break
			}
			stop = l.at
		}
		l.out[h.at].document = h.quoted(l.text[start:stop])
	}
	l.heres = nil
}

// quoted returns a document as a quoted word.
func (h here) quoted(text string) string {
	if h.raw {
		return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'"
	}
	return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
}

// word consumes a word, including quotes and bracketed expansions.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case l.continued() > 0:
			return l.text[start:l.at]
		case l.placeholder() > 0:
			l.at += l.placeholder()
		case c == '\\' || c == '\'' || c == '"' || c == '`' || c == '$':
			n, ends := span(l.text[l.at:])
			if !ends && (c == '\'' || c == '"') {
				l.unclosed(c)
			}
			l.line += strings.Count(l.text[l.at:l.at+n], "\n")
			l.at += n
		case strings.IndexByte(" \t\r\n;&|<>", c) >= 0 || (c == '(' || c == ')') && !l.inWord(l.text[start:l.at]):
			return l.text[start:l.at]
		default:
			l.at++
		}
	}
	return l.text[start:]
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// spanned returns the length of the quoted text, escape or expansion at the start of s.
func spanned(s string) int {
	n, _ := span(s)
	return n
}

// span also reports whether it is closed rather than ended by the text.
func span(s string) (n int, ends bool) {
	switch s[0] {
	case '\\':
		return min(2, len(s)), true
	case '\'':
		return closed(s, 1, '\'')
	case '`':
		return closed(s, 1, '`')
	case '"':
		return quoted(s)
	}
	switch {
	case strings.HasPrefix(s, "${"):
		return bracketed(s, 1, '{', '}')
	case strings.HasPrefix(s, "$("):
		return bracketed(s, 1, '(', ')')
	case strings.HasPrefix(s, "$'"):
		return closed(s, 2, '\'')
	}
	return 1, true
}

func closed(s string, from int, end byte) (int, bool) {
	if n := strings.IndexByte(s[from:], end); n >= 0 {
		return from + n + 1, true
	}
	return len(s), false
}

// quoted spans a double-quoted text, which may contain expansions with quotes of their own.
func quoted(s string) (int, bool) {
	for i := 1; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c == '\\', c == '`', c == '$' && i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '('):
			i += spanned(s[i:])
		default:
			i++
		}
	}
	return len(s), false
}

// bracketed finds the bracket that closes the one at from, skipping nested and quoted ones.
func bracketed(s string, from int, open, end byte) (int, bool) {
	depth := 0
	for i := from; i < len(s); {
		switch c := s[i]; c {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '\\':
			i++
		case '\'', '"':
			n := flat(s[i:])
			if c == '\'' {
				n, _ = closed(s[i:], 1, c)
			}
			i += n
			continue
		}
		i++
	}
	return len(s), false
}

// flat spans a double-quoted text within an expansion, up to the next unescaped quote.
func flat(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
