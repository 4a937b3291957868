package shell

import (
	"slices"
	"strings"
)

// maxDepth limits nesting of statements, function calls and evaluations.
const maxDepth = 24

// kind is the kind of a statement.
type kind int

const (
	command  kind = iota // words, with preceding assignments
	array                // NAME=( words ) or NAME+=( words )
	sequence             // statements in sequence
	choice               // parts: condition, body, condition, body, …; a final single one is else
	loop                 // parts: condition and body; words are those of for
	match                // words[0] is matched against the patterns in the words of the parts
	function             // text is its name, the only part its body
	both                 // parts joined by the && or || in text
	sum                  // (( text ))
)

// statement is a node of a script's syntax tree.
type statement struct {
	kind  kind
	line  int
	text  string
	to    string // output file
	words []string
	parts []*statement
}

// parser parses tokens, skipping what it does not understand.
type parser struct {
	tokens []token
	at     int
	depth  int
	cut    bool // nested too deeply to follow
}

func (p *parser) parse() *statement {
	all := &statement{kind: sequence}
	for p.at < len(p.tokens) {
		all.parts = append(all.parts, p.list().parts...)
		p.at++ // unmatched terminator
	}
	return all
}

// ends are the words that end a list of statements.
var ends = []string{"then", "else", "elif", "fi", "do", "done", "esac", "}"}

func (p *parser) ended() bool {
	if p.at >= len(p.tokens) {
		return true
	}
	t := p.tokens[p.at]
	return t.op && (t.text == ")" || t.text == ";;") || !t.op && slices.Contains(ends, t.text)
}

func (p *parser) list() *statement {
	s := &statement{kind: sequence}
	if p.depth++; p.depth > maxDepth {
		p.at, p.cut = len(p.tokens), true
	}
	for !p.ended() {
		if p.word(";") || p.word("\n") || p.word("&") || p.word("|") || p.word("&&") || p.word("||") {
			continue
		}
		s.parts = append(s.parts, p.joined())
	}
	p.depth--
	return s
}

// word consumes the next token if it equals text.
func (p *parser) word(text string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at].text == text {
		p.at++
		return true
	}
	return false
}

func (p *parser) joined() *statement {
	s := p.statement()
	for p.at < len(p.tokens) {
		op := p.tokens[p.at].text
		if op != "&&" && op != "||" {
			break
		}
		p.at++
		for p.word("\n") {
		}
		if p.ended() {
			break
		}
		s = &statement{kind: both, line: s.line, text: op, parts: []*statement{s, p.statement()}}
	}
	return s
}

func (p *parser) statement() *statement {
	t := p.tokens[p.at]
	switch {
	case p.word("if"):
		return p.choice(t.line)
	case p.word("while"), p.word("until"), p.word("for"):
		return p.loop(t)
	case t.text == "case" && p.looks():
		p.at++
		return p.match(t.line)
	case p.word("{"):
		return p.group("}")
	case p.word("("):
		if p.word("(") {
			return p.sum(t.line)
		}
		return p.group(")")
	case p.word("function") && p.at < len(p.tokens):
		p.at++
		return p.function(p.tokens[p.at-1].text, t.line)
	}
	return p.command()
}

func (p *parser) group(end string) *statement {
	s := p.list()
	p.word(end)
	return s
}

func (p *parser) choice(line int) *statement {
	s := &statement{kind: choice, line: line}
	for {
		s.parts = append(s.parts, p.list())
		p.word("then")
		s.parts = append(s.parts, p.list())
		if !p.word("elif") {
			break
		}
	}
	if p.word("else") {
		s.parts = append(s.parts, p.list())
	}
	p.word("fi")
	return s
}

// loop parses a loop: for has words, the others a condition.
func (p *parser) loop(t token) *statement {
	s := &statement{kind: loop, line: t.line, text: t.text}
	if t.text == "for" {
		for p.at < len(p.tokens) && !p.word(";") && !p.word("\n") {
			s.words = append(s.words, p.tokens[p.at].text)
			p.at++
		}
	}
	s.parts = append(s.parts, p.list())
	if !p.word("do") {
		s.kind = sequence // prose that begins with the word
	}
	s.parts = append(s.parts, p.list())
	p.word("done")
	return s
}

// looks reports whether a case statement matches something named on its line.
func (p *parser) looks() bool {
	const most = 64
	for _, t := range p.tokens[p.at:min(len(p.tokens), p.at+most)] {
		if t.text == "\n" || t.text == "in" {
			return t.text == "in"
		}
	}
	return false
}

func (p *parser) match(line int) *statement {
	s := &statement{kind: match, line: line, words: p.until("in")}
	for p.at < len(p.tokens) && !p.word("esac") {
		if p.word("\n") || p.word(";;") || p.word("(") {
			continue
		}
		patterns := p.until(")")
		body := p.list()
		body.words = slices.DeleteFunc(patterns, func(w string) bool { return w == "|" })
		s.parts = append(s.parts, body)
		if !p.word(";;") && p.at < len(p.tokens) && p.tokens[p.at].text != "esac" {
			p.at++
		}
	}
	return s
}

func (p *parser) until(end string) (words []string) {
	for p.at < len(p.tokens) && !p.word(end) {
		words = append(words, p.tokens[p.at].text)
		p.at++
	}
	return words
}

// sum parses what is between (( and )).
func (p *parser) sum(line int) *statement {
	var b strings.Builder
	for depth := 2; p.at < len(p.tokens) && depth > 0; p.at++ {
		t := p.tokens[p.at].text
		switch t {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth > 1 {
			b.WriteString(t)
		}
	}
	return &statement{kind: sum, line: line, text: b.String()}
}

func (p *parser) function(name string, line int) *statement {
	for p.word("(") || p.word(")") || p.word("\n") {
	}
	p.word("{")
	return &statement{kind: function, line: line, text: name, parts: []*statement{p.group("}")}}
}

// command parses words up to an operator; text is its here-document.
func (p *parser) command() *statement {
	s := &statement{kind: command, line: p.tokens[p.at].line}
	for p.at < len(p.tokens) {
		t := p.tokens[p.at]
		switch {
		case t.op && (t.text == "<<" || t.text == ">"):
			if t.text == ">" {
				s.to = t.document
			} else {
				s.text = t.document
			}
			p.at++
			continue
		case t.text == "(" && t.op && p.opens(s):
			return p.array(s)
		case t.text == "(" && t.op && len(s.words) == 1:
			return p.function(s.words[0], s.line)
		case t.op && !p.tested(s):
			if t.text == "(" || t.text == ")" && len(s.words) == 0 {
				p.at++
			}
			return s
		}
		s.words = append(s.words, t.text)
		p.at++
	}
	return s
}

// opens reports whether the last word begins an array.
func (p *parser) opens(s *statement) bool {
	n := len(s.words)
	return n > 0 && p.tokens[p.at].joined && opens(s.words[n-1])
}

// tested reports whether operators belong to a [[ ]] test.
func (p *parser) tested(s *statement) bool {
	return len(s.words) > 0 && s.words[0] == "[[" && !slices.Contains(s.words, "]]") && p.tokens[p.at].text != "\n"
}

func (p *parser) array(s *statement) *statement {
	p.at++
	a := &statement{kind: array, line: s.line, text: s.words[len(s.words)-1]}
	for p.at < len(p.tokens) && !p.word(")") {
		if t := p.tokens[p.at]; !t.op {
			a.words = append(a.words, t.text)
		}
		p.at++
	}
	return a
}
