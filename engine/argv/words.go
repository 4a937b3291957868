package argv

import (
	"fmt"
	"strings"
)

// word is a shell word. A separator ends a command; a redirection takes the next word.
type word struct {
	text string
	kind wordKind
}

type wordKind uint8

const (
	plain wordKind = iota
	separator
	redirection // text is the operator; the next word is the file
	document    // the lines of a here-document
)

// lexer splits a text into words as a POSIX shell does, with three liberties that pasted text needs: a
// backslash before a letter, digit or dot stays (paths of Windows), a backslash may have blanks between it
// and the end of its line, and ` and ^ at the end of a line continue it too (PowerShell, cmd).
type lexer struct {
	text string
	at   int
	vars map[string]string
	out  []word
	head bool // only assignments so far in this command
	// list is the array that the words belong to: NAME=( … ).
	list string
	size int // bytes of all words, variables put in
	// open are the here-documents whose lines begin at the next line break.
	open   []here
	guards guards
}

// here is a here-document: its delimiter, and its place among the words.
type here struct {
	end string
	at  int
}

func (l *lexer) run() ([]word, error) {
	l.head = true
	for l.at < len(l.text) {
		if err := l.step(); err != nil {
			return nil, err
		}
		if l.size > 4*MaxText {
			return nil, wrong("the command line", "", fmt.Sprintf("grows to more than %d bytes when its variables are put in", 4*MaxText), "paste one command")
		}
		if len(l.out) > maxWords {
			return nil, wrong("the command line", "", fmt.Sprintf("has more than %d words", maxWords), "paste one command")
		}
	}
	return l.out, nil
}

func (l *lexer) step() error {
	c := l.text[l.at]
	if n := l.continuation(); n > 0 {
		l.at += n
		return nil
	}
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		l.at++
	case c == '#':
		l.comment()
	case strings.IndexByte("\n;&|", c) >= 0 && !strings.HasPrefix(l.text[l.at:], "&>"):
		operator := l.text[l.at : l.at+1]
		if double := operator + operator; (c == '&' || c == '|') && strings.HasPrefix(l.text[l.at:], double) {
			operator = double
		}
		l.at += len(operator)
		if c == '\n' {
			l.documents()
		}
		l.end(operator)
	case c == '<' && l.placeholder() > 0:
		return l.word()
	case strings.HasPrefix(l.text[l.at:], "<<") && !strings.HasPrefix(l.text[l.at:], "<<<"):
		l.delimiter()
	case c == '>' || c == '<' || c == '&':
		l.redirect()
	default:
		return l.word()
	}
	return nil
}

func (l *lexer) comment() {
	for l.at < len(l.text) && l.text[l.at] != '\n' {
		l.at++
	}
}

func (l *lexer) end(operator string) {
	if l.list != "" {
		return // lines of an array
	}
	l.head = true
	l.guards.end(operator)
	if n := len(l.out); n > 0 && l.out[n-1].kind != separator {
		l.out = append(l.out, word{kind: separator})
	}
}

// redirect reads >, >>, <, &>, 2>&1; a bare number before it is a descriptor.
func (l *lexer) redirect() {
	if n := len(l.out); n > 0 && l.text[l.at] != '&' && l.at > 0 && isDigit(l.text[l.at-1]) && l.out[n-1].text == string(l.text[l.at-1]) {
		l.out = l.out[:n-1]
	}
	from := l.at
	for l.at < len(l.text) && strings.IndexByte("<>&", l.text[l.at]) >= 0 {
		l.at++
	}
	l.out = append(l.out, word{text: l.text[from:l.at], kind: redirection})
}

// delimiter reads <<EOF, <<-EOF and << 'EOF'.
func (l *lexer) delimiter() {
	l.at += 2
	rest := strings.TrimLeft(strings.TrimPrefix(l.text[l.at:], "-"), " \t")
	n := strings.IndexAny(rest, " \t\r\n;&|<>")
	if n < 0 {
		n = len(rest)
	}
	l.at = len(l.text) - len(rest) + n
	if end := strings.Trim(rest[:n], "'\"\\"); end != "" {
		l.open = append(l.open, here{end, len(l.out)})
		l.out = append(l.out, word{kind: document})
	}
}

// documents takes the lines up to each delimiter that is open; one that nothing closes runs to the end.
func (l *lexer) documents() {
	for _, h := range l.open {
		from := l.at
		to := from
		for to < len(l.text) {
			line, _, _ := strings.Cut(l.text[to:], "\n")
			l.at = min(len(l.text), to+len(line)+1)
			if strings.Trim(line, " \t\r") == h.end {
				break
			}
			to = l.at
		}
		l.out[h.at].text = l.text[from:to]
		l.size += to - from
	}
	l.open = nil
}

// continuation is the length of a line break that does not end the command.
func (l *lexer) continuation() int {
	if strings.IndexByte("\\`^", l.text[l.at]) < 0 {
		return 0
	}
	for i := l.at + 1; i < len(l.text); i++ {
		switch l.text[i] {
		case ' ', '\t', '\r':
		case '\n':
			return i + 1 - l.at
		default:
			return 0
		}
	}
	return len(l.text) - l.at
}

// word reads up to an unquoted blank or operator.
func (l *lexer) word() error {
	var b strings.Builder
	start := l.at
	for l.at < len(l.text) {
		c := l.text[l.at]
		if n := l.placeholder(); c == '<' && n > 0 {
			b.WriteString(l.text[l.at : l.at+n])
			l.at += n
			continue
		}
		if strings.IndexByte(" \t\r\n;&|<>", c) >= 0 || l.continuation() > 0 {
			break
		}
		if err := l.piece(&b, c); err != nil {
			return err
		}
		if b.Len() > maxWord {
			return wrong("the command line", "", fmt.Sprintf("has a word of more than %d bytes at byte %d", maxWord, start), "paste one command")
		}
	}
	if b.Len() == 0 && !strings.ContainsAny(l.text[start:l.at], `"'`) {
		return nil // a variable that holds nothing, without quotes
	}
	l.add(b.String())
	return nil
}

// placeholder is the length of <your model> at this place, which a shell would take for redirections; 0 for none.
func (l *lexer) placeholder() int {
	const most = 60
	rest := l.text[l.at:min(len(l.text), l.at+most)]
	n := strings.IndexByte(rest, '>')
	if n < 2 || rest[0] != '<' || !isName(rest[1]) || rest[n-1] == ' ' || strings.ContainsAny(rest[1:n], "<&|;\n\"'") {
		return 0
	}
	return n + 1
}

func (l *lexer) add(text string) {
	name, value, ok := l.assigned(text)
	switch {
	case l.list != "":
		l.item(text)
		return
	case !l.guards.word(text):
		return
	case l.head && strings.HasPrefix(value, "("):
		l.list = name
		if !strings.Contains(text, "+=") {
			l.vars[name] = ""
		}
		l.item(strings.TrimPrefix(value, "("))
		return
	case l.head && ok:
		l.vars[name] = value
		text = name + "=" + value
	case !keepsHead[text]:
		l.head = false
	}
	for _, part := range strings.Split(text, split) {
		if part != "" || text == "" {
			l.out = append(l.out, word{text: part})
			l.size += len(part)
		}
	}
}

// keepsHead are words behind which a shell still takes assignments.
var keepsHead = map[string]bool{"export": true, "set": true, "local": true, "declare": true, "readonly": true, "then": true, "do": true, "else": true}

// assigned reads NAME=value and NAME+=value, which adds to what is there.
func (l *lexer) assigned(text string) (name, value string, ok bool) {
	text = strings.ReplaceAll(text, split, " ")
	name, value, ok = assignment(text)
	if before, after, plus := strings.Cut(text, "+="); plus && !ok {
		if name, _, ok = assignment(before + "="); ok {
			if value = after; !strings.HasPrefix(after, "(") {
				value = l.vars[name] + after
			}
		}
	}
	return name, value, ok
}

// item adds a word to the array that is open; one that ends with a bracket closes it.
func (l *lexer) item(text string) {
	closed := strings.Count(text, ")") > strings.Count(text, "(")
	if closed {
		text, closed = strings.CutSuffix(text, ")")
	}
	if text != "" && len(l.vars[l.list])+len(text) <= maxWord {
		l.vars[l.list] = strings.TrimPrefix(l.vars[l.list]+split+text, split)
	}
	if closed {
		l.list = ""
	}
}

func (l *lexer) piece(b *strings.Builder, c byte) error {
	switch c {
	case '\'':
		return l.single(b)
	case '"':
		return l.double(b)
	case '\\':
		l.escape(b)
	case '$':
		l.dollar(b, false)
	default:
		b.WriteByte(c)
		l.at++
	}
	return nil
}

func (l *lexer) escape(b *strings.Builder) {
	l.at++
	if l.at == len(l.text) {
		return
	}
	if c := l.text[l.at]; isName(c) || c == '.' {
		b.WriteByte('\\')
		return
	}
	b.WriteByte(l.text[l.at])
	l.at++
}

func (l *lexer) single(b *strings.Builder) error {
	n := strings.IndexByte(l.text[l.at+1:], '\'')
	if n < 0 {
		return l.unclosed('\'')
	}
	b.WriteString(l.text[l.at+1 : l.at+1+n])
	l.at += n + 2
	return nil
}

func (l *lexer) double(b *strings.Builder) error {
	start := l.at
	l.at++
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '"':
			l.at++
			return nil
		case c == '\\' && l.at+1 < len(l.text) && strings.IndexByte("\"\\$`\n", l.text[l.at+1]) >= 0:
			if l.text[l.at+1] != '\n' {
				b.WriteByte(l.text[l.at+1])
			}
			l.at += 2
		case c == '$':
			l.dollar(b, true)
		default:
			b.WriteByte(c)
			l.at++
		}
	}
	l.at = start
	return l.unclosed('"')
}

func (l *lexer) unclosed(quote byte) error {
	return wrong("the command line", "", fmt.Sprintf("opens a %c at byte %d that nothing closes", quote, l.at), "close the quote, or paste the whole line")
}

// dollar puts in the value of a variable that the text itself sets; anything else stays as it stands. Without quotes a
// shell parts the value at its blanks.
func (l *lexer) dollar(b *strings.Builder, quoted bool) {
	value, length := reference(l.text[l.at:], l.vars, 0)
	if sum, n := product(l.text[l.at:]); n > 0 {
		b.WriteString(sum)
		l.at += n
		return
	}
	switch {
	case length == 1 && strings.HasPrefix(l.text[l.at:], "$("):
		l.substitution(b)
		return
	case b.Len()+len(value) > maxWord:
		value = l.text[l.at : l.at+length]
	case !quoted && value != l.text[l.at:l.at+length]:
		value = strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }), split)
	}
	b.WriteString(value)
	l.at += length
}

// substitution copies $( … ) whole, so that blanks inside do not split a word.
func (l *lexer) substitution(b *strings.Builder) {
	depth, start := 0, l.at
	for l.at < len(l.text) && l.at-start <= maxWord {
		c := l.text[l.at]
		l.at++
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && c == ')' {
			break
		}
	}
	b.WriteString(l.text[start:l.at])
}

// assignment reads NAME=value, or $env:NAME=value of PowerShell.
func assignment(s string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(strings.TrimPrefix(s, "$env:"), "=")
	if !ok || name == "" || isDigit(name[0]) {
		return "", "", false
	}
	for i := 0; i < len(name); i++ {
		if !isName(name[i]) {
			return "", "", false
		}
	}
	return name, value, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isName(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
