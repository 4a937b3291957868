package shell

import (
	"regexp"
	"slices"
	"strings"
)

// Limits on what a script may produce: text from its variables, and statements executed by loops and functions.
const (
	maxMade  = 1 << 18
	maxSteps = 20_000
	maxTurns = 64
)

// Command is a program that a script starts, with its expanded words. Unknown values appear as ${NAME}, or verbatim in
// pasted text.
type Command struct {
	Words []string
	Line  int
	// For pasted text: the variables set before the command or for it, the last of a name counting; its output file; and
	// its here-document.
	Env          []Variable
	To, Document string
}

// Script is the result of following a script.
type Script struct {
	Commands []Command
	// Vars are its variables at the end; an array has several values.
	Vars map[string][]string
	// Order is the order in which variables were first set.
	Order []string
	// Open are the lines of conditions that depend on unknown values, so that their outcome is unknown.
	Open []int
	// Cut reports that the script exceeds the limits.
	Cut bool
	// Quote is an unclosed quote of pasted text, at byte QuoteAt; 0 if none.
	Quote   byte
	QuoteAt int
}

// machine follows a script: variables, arrays, arithmetic, conditions on known values, functions and loops. It executes
// nothing, reads no files and starts with an empty environment.
type machine struct {
	Script
	vars      map[string][]string
	functions map[string]*statement
	defined   []string // names of functions, in order
	called    map[*statement]bool
	args      []string // nil if unknown
	env       []Variable
	pasted    bool
	budget    int
	steps     int
	depth     int
	nest      int // nesting of expansions
}

// Follow returns the commands that a script would start. It never fails: text that is not a script yields whatever can
// be made of it.
func Follow(text string) *Script {
	clean := marks.Replace(text)
	m := newMachine(batch(clean))
	m.read(clean)
	return m.script()
}

// marks strips characters with a special meaning in this package, which no script contains.
var marks = strings.NewReplacer(openMark, "", closeMark, "", "\x02", "", backquote, "", "\r\n", "\n")

func newMachine(vars map[string][]string) *machine {
	return &machine{vars: vars, functions: map[string]*statement{}, called: map[*statement]bool{}, budget: maxMade}
}

// read follows a text.
func (m *machine) read(text string) answer {
	l := lex(text, m.pasted)
	if m.Quote == 0 {
		m.Quote, m.QuoteAt = l.quote, l.quoteAt
	}
	p := &parser{tokens: l.out}
	all := p.parse()
	m.Cut = m.Cut || p.cut && m.pasted
	return m.run(all)
}

// script returns the result, with unknown values as the script writes them.
func (m *machine) script() *Script {
	m.Script.Vars = m.vars
	m.Cut = m.Cut || m.budget < 0 || m.steps > maxSteps
	for i := range m.Commands {
		c := &m.Commands[i]
		c.To, c.Document = plain(c.To), plain(c.Document)
		allPlain(c.Words)
	}
	for _, v := range m.vars {
		allPlain(v)
	}
	return &m.Script
}

func allPlain(words []string) {
	for i := range words {
		words[i] = plain(words[i])
	}
}

func (m *machine) run(s *statement) answer {
	m.depth++
	defer func() { m.depth-- }()
	if m.steps++; m.steps > maxSteps || m.depth > 4*maxDepth || m.budget < 0 {
		return open
	}
	switch s.kind {
	case sequence:
		last := yes
		for _, p := range s.parts {
			last = m.run(p)
		}
		return last
	case both:
		return m.both(s)
	case array:
		m.assignArray(s)
	case function:
		m.functions[s.text] = s.parts[0]
		m.defined = append(m.defined, s.text)
	case choice:
		m.choice(s)
	case match:
		m.match(s)
	case loop:
		m.loop(s)
	case sum:
		return m.sumAnswer(s.text)
	default:
		return m.command(s)
	}
	return yes
}

// both follows && and ||: the second part runs depending on the first. If that is unknown, commands are recorded and
// variables become unknown.
func (m *machine) both(s *statement) answer {
	first := m.run(s.parts[0])
	switch {
	case first == open && tested(s.parts[0]) && !m.pasted:
		m.doubt(s)
	case first == open, (first == yes) == (s.text == "&&"):
		return m.run(s.parts[1])
	default:
		return first
	}
	return open
}

// tested reports whether a statement is a shell test.
func tested(s *statement) bool {
	if s.kind == both {
		return tested(s.parts[0])
	}
	return s.kind == sum || s.kind == command && len(s.words) > 0 && slices.Contains([]string{"[", "[[", "test", "!"}, s.words[0])
}

func (m *machine) sumAnswer(text string) answer {
	name, value, assigns := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); assigns && IsName(name) && !strings.HasPrefix(value, "=") {
		m.set(name, []string{m.sum(value)})
		return yes
	}
	n := m.sum(text)
	if !known(n) {
		return open
	}
	return truth(n != "0")
}

// choice follows the first branch whose condition holds; from an unknown condition on, whatever the branches set
// becomes unknown. Flags that a skipped branch would set are absent.
func (m *machine) choice(s *statement) {
	for i := 0; i+1 < len(s.parts); i += 2 {
		switch m.run(s.parts[i]) {
		case yes:
			m.run(s.parts[i+1])
			return
		case open:
			m.either(&statement{line: s.line, parts: s.parts[i+1:]})
			return
		}
		if !m.pasted {
			m.assigns(s.parts[i+1], m.lack)
		}
	}
	if len(s.parts)%2 == 1 {
		m.run(s.parts[len(s.parts)-1])
	}
}

func (m *machine) match(s *statement) {
	value := (&tests{machine: m}).environment(strings.Join(s.words, " "))
	for _, p := range s.parts {
		if slices.Contains(p.words, "*") {
			m.run(p)
			return
		}
		if !known(value) {
			m.either(s)
			return
		}
		if slices.ContainsFunc(p.words, func(w string) bool { return fits(m.text(w), value) == yes }) {
			m.run(p)
			return
		}
	}
}

// either follows the branches governed by an unknown condition: for pasted text all of them.
func (m *machine) either(s *statement) {
	if !m.pasted {
		m.doubt(s)
		return
	}
	for _, p := range s.parts {
		m.run(p)
	}
}

// doubt makes unknown whatever statements would set, and records the line.
func (m *machine) doubt(s *statement) {
	m.Open = append(m.Open, s.line)
	m.assigns(s, m.lose)
}

// assigns calls tell for every assignment in statements, with the value verbatim.
func (m *machine) assigns(s *statement, tell func(name, value string)) {
	if m.steps++; m.steps > maxSteps {
		return
	}
	switch s.kind {
	case array:
		tell(strings.TrimRight(s.text, "+="), strings.Join(s.words, " "))
	case command:
		for _, w := range s.words {
			if name, value, ok := strings.Cut(w, "="); ok && IsName(strings.TrimSuffix(name, "+")) {
				tell(strings.TrimSuffix(name, "+"), value)
			}
		}
	}
	for _, p := range s.parts {
		m.assigns(p, tell)
	}
}

// writesFlags reports whether a value consists of flags.
func writesFlags(value string) bool {
	return strings.HasPrefix(strings.Trim(value, "\"' \t\n\\"), "--")
}

// lack sets an unset variable of flags to empty.
func (m *machine) lack(name, value string) {
	if _, has := m.vars[name]; !has && writesFlags(value) {
		m.set(name, []string{""})
	}
}

// lose makes a variable unknown. One that may hold flags is written as a flag, lest it be taken for the value of the
// preceding one.
func (m *machine) lose(name, value string) {
	if writesFlags(value) || m.holdsFlags(name) {
		m.set(name, []string{"--" + m.unknown(name, "")})
		return
	}
	m.set(name, []string{m.unknown(name, "")})
}

func (m *machine) holdsFlags(name string) bool {
	return strings.HasPrefix(strings.TrimSpace(strings.Join(m.vars[name], " ")), "--")
}

// loop iterates as often as is known, within the limits.
func (m *machine) loop(s *statement) {
	body := s.parts[1]
	if s.text != "for" {
		for range maxTurns {
			a := m.run(s.parts[0])
			if a == open && m.pasted {
				m.run(body)
			}
			if a == open || (a == yes) == (s.text == "until") {
				return
			}
			m.run(body)
		}
		return
	}
	if len(s.words) < 3 || s.words[1] != "in" || !IsName(s.words[0]) {
		m.run(body)
		return
	}
	for i, v := range m.expandAll(s.words[2:]) {
		if i == maxTurns {
			return
		}
		m.set(s.words[0], []string{v})
		m.run(body)
	}
}

func (m *machine) set(name string, values []string) {
	if _, ok := m.vars[name]; !ok {
		m.Order = append(m.Order, name)
	}
	m.vars[name] = values
	if m.pasted && len(values) == 1 {
		m.env = append(m.env, Variable{name, plain(values[0])})
	}
}

func (m *machine) assignArray(s *statement) {
	name, words := strings.TrimRight(s.text, "+="), m.expandAll(s.words)
	if strings.HasSuffix(s.text, "+=") {
		words = slices.Concat(m.vars[name], words)
	}
	m.set(name, words)
}

// ofModel are names of variables that hold a model.
var ofModel = regexp.MustCompile(`(?i)model|gguf|checkpoint`)

// assign performs NAME=value or NAME+=value; false for another word.
func (m *machine) assign(word string) bool {
	name, value, ok := strings.Cut(m.ofEnv(word), "=")
	bare, more := strings.CutSuffix(name, "+")
	if !ok || !IsName(bare) {
		return false
	}
	if m.pasted && m.vars[bare] == nil && strings.Trim(value, `"`) == "${"+bare+":-}" && ofModel.MatchString(bare) {
		return true // the caller of the script gives it, which cannot do without
	}
	text := m.text(value)
	if more {
		text = strings.Join(m.vars[bare], " ") + text
	}
	m.set(bare, []string{text})
	return true
}
