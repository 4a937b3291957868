package shell

import (
	"strings"
	"unicode/utf8"
)

// Delimiters of unknown values in a text. A backquote of pasted text is an ordinary character, replaced by a
// placeholder.
const (
	openMark  = "\x00"
	closeMark = "\x01"
	backquote = "\x03"
)

// unknown returns the representation of an unknown value: a variable by its name; in pasted text, the expansion
// verbatim.
func (m *machine) unknown(name, raw string) string {
	if m.pasted {
		return openMark + raw + closeMark
	}
	return openMark + "${" + name + "}" + closeMark
}

// known reports whether a text contains no unknown value.
func known(s string) bool { return !strings.Contains(s, openMark) }

// plain writes unknown values as a script would.
func plain(s string) string { return unmark.Replace(s) }

var unmark = strings.NewReplacer(openMark, "", closeMark, "", backquote, "`")

// lookup returns the values of a variable or parameter; set is false if it has none.
func (m *machine) lookup(name string) (values []string, set bool) {
	switch {
	case name == "@" || name == "*":
		return m.args, len(m.args) > 0
	case name == "#" && !(m.pasted && m.args == nil):
		return []string{itoa(len(m.args))}, true
	case isNumber(name):
		if n := number(name); n > 0 && n <= int64(len(m.args)) {
			return m.args[n-1 : n], true
		}
		return nil, false
	}
	values, set = m.vars[name]
	return values, set
}

// expand returns the words that a word of the script expands to.
func (m *machine) expand(word string) []string {
	e := &expansion{machine: m}
	e.part(word, false)
	e.end()
	return e.out
}

func (m *machine) expandAll(words []string) (out []string) {
	for _, w := range words {
		out = append(out, m.expand(w)...)
	}
	return out
}

// text expands a word without splitting: in assignments and tests.
func (m *machine) text(word string) string {
	e := &expansion{machine: m, whole: true}
	e.part(word, false)
	return e.b.String()
}

// expansion is a word being expanded.
type expansion struct {
	*machine
	whole   bool
	literal bool // only variables are special
	b       strings.Builder
	open    bool
	out     []string
}

func (e *expansion) end() {
	if e.open || e.b.Len() > 0 {
		e.out = append(e.out, e.b.String())
		e.budget -= 8 // each word counts, however short
	}
	e.b.Reset()
	e.open = false
}

// put adds known text and counts it toward the limit.
func (e *expansion) put(s string) {
	if e.budget -= len(s); e.budget >= 0 {
		e.b.WriteString(s)
	}
}

func (e *expansion) part(s string, quoted bool) {
	for len(s) > 0 && e.budget >= 0 {
		switch c := s[0]; {
		case c == '\\' && len(s) > 1 && !e.literal:
			_, n := utf8.DecodeRuneInString(s[1:])
			e.escaped(s[1:1+n], quoted)
			s = s[1+n:]
		case c == '\'' && !quoted:
			n := spanned(s)
			e.open = true
			e.put(strings.TrimSuffix(s[1:n], "'"))
			s = s[n:]
		case c == '"' && !quoted:
			n := spanned(s)
			e.open = true
			e.part(strings.TrimSuffix(s[1:n], `"`), true)
			s = s[n:]
		case c == '`':
			n := spanned(s)
			e.put(e.unknown("(…)", ""))
			s = s[n:]
		case c == '$' && len(s) > 1:
			s = e.dollar(s, quoted)
		default:
			n := 1 + strings.IndexAny(s[1:]+"\\", "\\'\"`$")
			e.put(s[:n])
			s = s[n:]
		}
	}
}

// escaped handles a backslash in double quotes, which stays before ordinary characters; a line break is removed with
// it.
func (e *expansion) escaped(c string, quoted bool) {
	switch {
	case c == "\n":
	case quoted && !strings.ContainsAny(c, "$`\"\\"+backquote), e.pasted && !quoted && (isWord(c[0]) || c == "."):
		e.put(`\` + c)
	default:
		e.put(c)
	}
}

// dollar expands what follows $ and returns the rest.
func (e *expansion) dollar(s string, quoted bool) string {
	switch n := spanned(s); {
	case strings.HasPrefix(s, "$((") && strings.HasSuffix(s[:n], "))"):
		e.put(e.sum(s[3 : n-2]))
		return s[n:]
	case strings.HasPrefix(s, "$("):
		e.substitution(s[:n], quoted)
		return s[n:]
	case strings.HasPrefix(s, "${"):
		e.braces(s[:n], quoted)
		return s[n:]
	}
	behind := e.ofEnv(s[1:])
	name := ""
	if behind != "" {
		name = leading(behind)
	}
	if name == "" {
		e.put("$")
		return s[1:]
	}
	e.values(name, s[:len(s)-len(behind)+len(name)], quoted)
	return behind[len(name):]
}

// substitution handles $( … ), which is not executed. In a container's command $(NAME) is a variable.
func (e *expansion) substitution(raw string, quoted bool) {
	if v, set := e.vars[strings.Trim(raw, "$()")]; e.pasted && set {
		e.fields(v, quoted)
		return
	}
	e.put(e.unknown("(…)", raw))
}

// leading returns the name at the start of a text: a variable, one digit, or a special character.
func leading(s string) string {
	if s[0] >= '0' && s[0] <= '9' || strings.IndexByte("@*#?$!-", s[0]) >= 0 {
		return s[:1]
	}
	n := 0
	for n < len(s) && IsName(s[:n+1]) {
		n++
	}
	return s[:n]
}

// values expands a variable; an unset one stays unknown, by name.
func (e *expansion) values(name, raw string, quoted bool) {
	v, set := e.lookup(name)
	if !set {
		if name != "@" && name != "*" || e.pasted && e.args == nil {
			e.put(e.unknown(name, raw))
		}
		return
	}
	e.fields(v, quoted)
}

// fields adds words: elements of an array stay separate, and outside quotes text is split at spaces.
func (e *expansion) fields(v []string, quoted bool) {
	for i, s := range v {
		if i > 0 {
			e.gap()
		}
		if quoted || e.whole {
			e.open = true
			e.put(s)
			continue
		}
		e.split(s)
	}
}

func (e *expansion) gap() {
	if e.whole {
		e.put(" ")
		return
	}
	e.end()
}

func (e *expansion) split(s string) {
	words := strings.Fields(s)
	if s != "" && strings.TrimLeft(s, " \t\n") != s {
		e.end()
	}
	for i, w := range words {
		if i > 0 {
			e.end()
		}
		e.put(w)
	}
	if s != "" && len(words) > 0 && strings.TrimRight(s, " \t\n") != s {
		e.end()
	}
}

// braces expands ${…}: a name, an array index, and a default.
func (e *expansion) braces(raw string, quoted bool) {
	s := strings.TrimSuffix(raw[2:], "}")
	if e.nest++; s == "" || e.nest > maxDepth {
		e.put(e.unknown("…", raw))
		e.nest--
		return
	}
	defer func() { e.nest-- }()
	length := s[0] == '#' && len(s) > 1
	s = strings.TrimPrefix(s, map[bool]string{true: "#"}[length])
	name := leading(s)
	if isNumber(s[:1]) {
		for len(name) < len(s) && isNumber(s[:len(name)+1]) {
			name = s[:len(name)+1]
		}
	}
	rest := s[len(name):]
	v, set := e.lookup(name)
	said := set || !e.pasted
	if index, behind, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && strings.HasPrefix(rest, "[") {
		v, set = element(v, set, index)
		set, rest = set && said, behind
	} else if name != "@" && name != "*" && len(v) > 1 {
		v = v[:1]
	}
	switch {
	case name == "":
		e.put(e.unknown(s, raw))
	case length && (set || !e.pasted):
		e.put(itoa(len(v)))
	case rest == "" && set:
		e.fields(v, quoted)
	case rest == "" || length:
		e.put(e.unknown(name, raw))
	default:
		e.instead(name, rest, v, set, quoted, raw)
	}
}

// element returns the elements that an index selects.
func element(v []string, set bool, index string) ([]string, bool) {
	if index == "@" || index == "*" {
		return v, true
	}
	if i := number(index); isNumber(index) && i < int64(len(v)) {
		return v[i : i+1], true
	}
	return nil, set && isNumber(index)
}

// instead applies an operator after the name: a value for an unset, empty or set variable.
func (e *expansion) instead(name, rest string, v []string, set, quoted bool, raw string) {
	empty := !set || strings.HasPrefix(rest, ":") && strings.Join(v, "") == ""
	op := strings.TrimPrefix(rest, ":")
	switch op[:min(1, len(op))] {
	case "-", "=":
		if !empty {
			e.fields(v, quoted)
			return
		}
		if op[0] == '=' {
			e.vars[name] = []string{e.text(op[1:])}
		}
		e.other(op[1:], quoted)
	case "+":
		switch {
		case !empty:
			e.other(op[1:], quoted)
		case !set && e.pasted:
			e.put(e.unknown(name, raw))
		}
	case "?":
		if set {
			e.fields(v, quoted)
			return
		}
		e.put(e.unknown(name, raw))
	case "#", "%":
		e.trimmed(op, v, set, e.unknown(name, raw))
	default:
		e.put(e.unknown(name, raw)) // patterns and substrings
	}
}

// trimmed strips a path: ${X##*/}, ${X%.*} and similar, for patterns of a star and one character, or plain text.
func (e *expansion) trimmed(op string, v []string, set bool, unknown string) {
	text := strings.Join(v, " ")
	if !set || !known(text) {
		e.put(unknown)
		return
	}
	longest := len(op) > 1 && op[1] == op[0]
	pattern := op[1:]
	if longest {
		pattern = op[2:]
	}
	var i int
	switch star := strings.Trim(pattern, "*"); {
	case strings.ContainsAny(star, "*?["):
		e.put(unknown)
		return
	case op[0] == '#' && !strings.HasPrefix(pattern, "*"):
		e.put(strings.TrimPrefix(text, star))
		return
	case op[0] == '%' && !strings.HasSuffix(pattern, "*"):
		e.put(strings.TrimSuffix(text, star))
		return
	case (op[0] == '#') == longest:
		i = strings.LastIndex(text, star)
	default:
		i = strings.Index(text, star)
	}
	switch star := strings.Trim(pattern, "*"); {
	case i < 0:
		e.put(text)
	case op[0] == '#':
		e.put(text[i+len(star):])
	default:
		e.put(text[:i])
	}
}
