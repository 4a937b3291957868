package shell

import (
	"regexp"
	"strings"
)

// What people copy from pages and terminals is read with liberties that a script needs not. Its environment is not known: what the
// text does not set stays as it is written, and a condition on that leaves all ways in. A backslash before a letter, digit or dot
// stays (paths of Windows); one at the end of a line may have blanks behind it; ` and ^ there continue a line too (PowerShell, cmd).
// <your model> is a word, and brackets are signs like others but where a shell must take them for its own.

// Pasted follows a text with variables that are set before it.
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

// Words splits a text as a shell does; ok is false where a quote is not closed.
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

// Fill puts variables into a text that is no shell's, as a container's start and a compose file do: $(NAME), $NAME, ${NAME:-default}. What
// is not set stays as it stands.
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

// ofEnv is a name of PowerShell's environment without the drive that it lies on: $env:NAME.
func (m *machine) ofEnv(s string) string {
	if m.pasted {
		return strings.TrimPrefix(strings.TrimPrefix(s, "$env:"), "env:")
	}
	return s
}

// other is what a variable's place says to take instead.
func (e *expansion) other(s string, quoted bool) {
	if e.literal || quoted && strings.HasPrefix(s, `"`) { // quotes within quotes end them, and open them again
		s = unquoted(s)
	}
	e.part(s, quoted)
}

// unquoted is a default without the quotes around all of it: ${MODEL:-"Qwen/Qwen3-8B"}.
func unquoted(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}
	return s
}

// lostMark is a line break in front of a flag: the mark that continues a line gets lost on the way, and no command begins with a dash.
var lostMark = regexp.MustCompile(`^\n[ \t]*--?[A-Za-z][\w-]*([ \t=\r\n]|$)`)

// continued is the length of a line break that does not end the command; 0 for none.
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

// placeholder is the length of <your model> at this place, which a shell would take for redirections; 0 for none.
func (l *lexer) placeholder() int {
	const most = 60
	if !l.pasted || l.text[l.at] != '<' {
		return 0
	}
	rest := l.text[l.at:min(len(l.text), l.at+most)]
	n := strings.IndexByte(rest, '>')
	if n < 2 || !isWord(rest[1]) || rest[n-1] == ' ' || strings.ContainsAny(rest[1:n], "<&|;\n\"'") {
		return 0
	}
	return n + 1
}

// plain: what stands here is no operator but a word's first sign.
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

// begins: behind this word stands a command.
func (l *lexer) begins(word string) bool {
	switch word {
	case "then", "do", "else", "!", "{", "if", "elif", "while", "until":
		return true
	}
	return strings.HasPrefix(l.text[l.at:], "()")
}

// opens: the word begins an array.
func opens(word string) bool {
	name, ok := strings.CutSuffix(word, "=")
	return ok && IsName(strings.TrimSuffix(name, "+"))
}

// inWord: a bracket belongs to the word that stands before it.
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

// brackets counts what is open.
func (l *lexer) brackets(op string) {
	switch op {
	case "(":
		l.depth++
	case ")":
		l.depth = max(0, l.depth-1)
	}
}

// inCase counts the cases that are open: brackets stand behind their patterns.
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
