package shell

import (
	"regexp"
	"strings"
)

// Text copied from web pages and terminals is parsed leniently. Its environment is unknown: unset variables stay
// verbatim, and conditions on them leave all branches possible. A backslash before a letter, digit or dot stays
// (Windows paths); one at the end of a line may be followed by spaces; ` and ^ also continue a line (PowerShell, cmd).
// <your model> is a word, and brackets are ordinary characters unless a shell must interpret them.

// Pasted follows a pasted text, given variables set beforehand.
func Pasted(text string, env []Variable) *Script {
	m := pasted(env)
	m.read(clean(text))
	for _, name := range m.defined {
		if f := m.functions[name]; !m.called[f] {
			m.run(f)
		}
	}
	return m.script()
}

// Words splits a text as a shell does; ok is false if a quote is not closed.
func Words(text string) (words []string, ok bool) {
	m, l := pasted(nil), lex(clean(text), true)
	for _, t := range l.out {
		if !t.op {
			words = append(words, m.expand(t.text)...)
		}
	}
	allPlain(words)
	return words, l.quote == 0 && m.budget >= 0
}

// Fill substitutes variables in text that is not a shell script, as container commands and compose files do: $(NAME),
// $NAME, ${NAME:-default}. Unset ones stay verbatim.
func Fill(text string, env []Variable) string {
	if !strings.Contains(text, "$") {
		return text
	}
	e := &expansion{machine: pasted(env), whole: true, literal: true}
	e.part(clean(text), true)
	if e.budget < 0 {
		return text
	}
	return plain(e.b.String())
}

func clean(text string) string {
	return strings.ReplaceAll(marks.Replace(text), "`", backquote)
}

func pasted(env []Variable) *machine {
	m := newMachine(make(map[string][]string, len(env)))
	for _, v := range env {
		m.vars[v.Name] = []string{v.Value}
	}
	m.pasted, m.env = true, env[:len(env):len(env)]
	return m
}

// ofEnv strips the drive from PowerShell's $env:NAME.
func (m *machine) ofEnv(s string) string {
	if m.pasted {
		return strings.TrimPrefix(strings.TrimPrefix(s, "$env:"), "env:")
	}
	return s
}

// other expands the default of a variable.
func (e *expansion) other(s string, quoted bool) {
	if e.literal || quoted && strings.HasPrefix(s, `"`) { // nested quotes end and reopen the outer ones
		s = unquoted(s)
	}
	e.part(s, quoted)
}

// unquoted strips quotes around a whole default: ${MODEL:-"Qwen/Qwen3-8B"}.
func unquoted(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// lostMark matches a line break before a flag: continuation characters get lost in copying, and no command begins with
// a dash.
var lostMark = regexp.MustCompile(`^\n[ \t]*--?[A-Za-z][\w-]*([ \t=\r\n]|$)`)

// continued returns the length of a line break that does not end the command; 0 if none.
func (l *lexer) continued() int {
	n := len(l.out)
	if l.pasted && l.text[l.at] == '\n' && n > 0 && !l.out[n-1].op && len(l.heres) == 0 && lostMark.MatchString(l.text[l.at:]) {
		return 1
	}
	if !l.pasted || strings.IndexByte("\\^"+backquote, l.text[l.at]) < 0 {
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

// placeholder returns the length of a placeholder such as <your model>, which a shell would take for redirections; 0 if
// none.
func (l *lexer) placeholder() int {
	const most = 60
	if !l.pasted || l.text[l.at] != '<' {
		return 0
	}
	rest := l.text[l.at:min(len(l.text), l.at+most)]
	n := strings.IndexByte(rest, '>')
	if n < 2 || !isWord(rest[1]) && rest[1] != '.' || rest[n-1] == ' ' || strings.ContainsAny(rest[1:n], "<&|;\n\"'") {
		return 0
	}
	return n + 1
}

// plain reports whether the character begins a word rather than an operator.
func (l *lexer) plain() bool {
	switch l.text[l.at] {
	case '<':
		return l.placeholder() > 0
	case '(':
		n := len(l.out)
		return n > 0 && !l.out[n-1].op && !l.begins(l.out[n-1].text) && !opens(l.out[n-1].text)
	case ')':
		return l.depth == 0 && l.cases == 0
	}
	return false
}

// begins reports whether a command follows this word.
func (l *lexer) begins(word string) bool {
	switch word {
	case "then", "do", "else", "!", "{", "if", "elif", "while", "until":
		return true
	}
	return strings.HasPrefix(l.text[l.at:], "()")
}

// opens reports whether the word begins an array.
func opens(word string) bool {
	name, ok := strings.CutSuffix(word, "=")
	return ok && IsName(strings.TrimSuffix(name, "+"))
}

// inWord reports whether a bracket belongs to the preceding word.
func (l *lexer) inWord(word string) bool {
	switch {
	case !l.pasted:
		return false
	case l.text[l.at] == ')':
		return l.depth == 0 && l.cases == 0
	}
	named := IsName(strings.ReplaceAll(word, "-", "_"))
	return !opens(word) && !(named && strings.HasPrefix(l.text[l.at:], "()"))
}

// brackets counts open brackets.
func (l *lexer) brackets(op string) {
	switch op {
	case "(":
		l.depth++
	case ")":
		l.depth = max(0, l.depth-1)
	}
}

// inCase counts open case statements, whose patterns are followed by brackets.
func (l *lexer) inCase(word string) {
	n := len(l.out)
	switch {
	case word == "esac":
		l.cases = max(0, l.cases-1)
	case word == "in" && n > 1 && l.out[n-2].text == "case":
		l.cases++
	}
}

func (l *lexer) unclosed(quote byte) {
	if l.pasted && l.quote == 0 {
		l.quote, l.quoteAt = quote, l.at
	}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
