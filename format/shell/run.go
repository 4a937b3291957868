package shell

import (
	"slices"
	"strings"
)

// Bounds of what a script may come to: texts that its variables make, and statements that its loops and functions take.
const (
	maxMade  = 1 << 18
	maxSteps = 20_000
	maxTurns = 64
)

// Command is a program that a script starts, with its words as the program gets them. What nobody knows stands as ${NAME}, and in pasted
// text as it is written there.
type Command struct {
	Words []string
	Line  int
	// Of pasted text: what is set before the command or in front of it, of which the last of a name counts; the file that its output
	// goes to; and its here-document.
	Env          []Variable
	To, Document string
}

// Script is what a script comes to.
type Script struct {
	Commands []Command
	// Vars are its variables at its end; an array has several values.
	Vars map[string][]string
	// Order is the order in which variables were first set.
	Order []string
	// Open are conditions that hang on what the script does not say, by their lines: what they decide is not known.
	Open []int
	// Cut: the script makes more than is followed.
	Cut bool
	// Quote is one of pasted text that nothing closes, at the byte QuoteAt; 0 for none.
	Quote   byte
	QuoteAt int
}

// machine follows a script: variables, arrays, arithmetic, conditions on known values, functions and loops. Nothing is run, no file is
// read and the environment is empty.
type machine struct {
	Script
	vars      map[string][]string
	functions map[string]*statement
	defined   []string // names of functions, in order
	called    map[*statement]bool
	args      []string // nil where nobody says what it is called with
	env       []Variable
	pasted    bool
	budget    int
	steps     int
	depth     int
	nest      int // of expansions in each other
}

// Follow says which commands a script would start. Text that is no script gives what can be made of it: it never fails.
func Follow(text string) *Script {
	clean := marks.Replace(text)
	m := newMachine(batch(clean))
	m.read(clean)
	return m.script()
}

// marks are signs that stand for something here, and that no script has.
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

// script is what was followed, with what is open as the script writes it.
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

// both: what follows && runs unless the first has failed, what follows || unless it has not. Where that is open, commands are looked at
// and variables lose their values.
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

// tested: a statement is a condition of the shell's own.
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

// choice runs the first branch whose condition holds; one that is open leaves open what all branches from it on would set. Flags that
// a branch passed over would set are none.
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

// either takes the parts that a condition which is open decides about: of pasted text all of them.
func (m *machine) either(s *statement) {
	if !m.pasted {
		m.doubt(s)
		return
	}
	for _, p := range s.parts {
		m.run(p)
	}
}

// doubt leaves open what statements would set, and notes where.
func (m *machine) doubt(s *statement) {
	m.Open = append(m.Open, s.line)
	m.assigns(s, m.lose)
}

// assigns tells what statements would set, and to what, as it is written.
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

// writesFlags tells flags from other values, as they are written.
func writesFlags(value string) bool {
	return strings.HasPrefix(strings.Trim(value, "\"' \t\n\\"), "--")
}

// lack leaves a variable of flags empty that nothing has set.
func (m *machine) lack(name, value string) {
	if _, has := m.vars[name]; !has && writesFlags(value) {
		m.set(name, []string{""})
	}
}

// lose leaves a variable open. One that may hold flags is a flag itself, or it would be taken for the value of the one before it.
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

// loop turns as often as is known, within bounds.
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

// assign takes NAME=value and NAME+=value; false for another word.
func (m *machine) assign(word string) bool {
	name, value, ok := strings.Cut(m.ofEnv(word), "=")
	bare, more := strings.CutSuffix(name, "+")
	if !ok || !IsName(bare) {
		return false
	}
	text := m.text(value)
	if more {
		text = strings.Join(m.vars[bare], " ") + text
	}
	m.set(bare, []string{text})
	return true
}
