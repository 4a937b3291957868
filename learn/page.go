package learn

import (
	"fmt"
	"strings"
)

// script is a parsed lesson text: keys, questions, and blocks separated by blank lines.
//
//	topic: kv-cache
//	ask one: fit $model engine=generic context=8192
//
//	A paragraph, in which {one.per_token | bytes} is computed.
//
// Keys come before the first blank line. A block starting with "table:" or another kind is of that kind; any other is a
// paragraph. A line "if EXPRESSION" before a block or row shows it only if the expression is known and not 0; "unless
// EXPRESSION" is the opposite.
type script struct {
	name   string
	keys   []entry
	asks   []entry
	blocks []chunk
	err    error
}

type entry struct{ key, value string }

// chunk is a block before evaluation.
type chunk struct {
	when  condition
	kind  string // "" for a paragraph
	head  string // after the kind's colon
	lines []line
}

// line is a line of a block.
type line struct {
	when condition
	text string
}

// condition is an expression that decides whether something is shown; the zero value shows it.
type condition struct {
	expr string
	not  bool
}

// kinds are the words that blocks begin with.
var kinds = []string{"table", "bars", "law", "formula", "ledger", "read", "try"}

// parse parses a script. Lines starting with # are comments.
func parse(name, text string) *script {
	s := &script{name: name}
	head, body, _ := strings.Cut(unremarked(text), "\n\n")
	for l := range strings.SplitSeq(head, "\n") {
		s.entry(l)
	}
	for block := range strings.SplitSeq(body, "\n\n") {
		if block = strings.Trim(block, "\n"); block != "" {
			s.blocks = append(s.blocks, chunkOf(block))
		}
	}
	return s
}

func unremarked(text string) string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(l, "#") {
			out = append(out, strings.TrimRight(l, " \r"))
		}
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// entry parses a key or a question.
func (s *script) entry(l string) {
	key, value, ok := strings.Cut(l, ":")
	if !ok {
		s.err = fmt.Errorf("%s: %q is not a key: value pair", s.name, l)
		return
	}
	e := entry{strings.TrimSpace(key), strings.TrimSpace(value)}
	if name, ok := strings.CutPrefix(e.key, "ask "); ok {
		s.asks = append(s.asks, entry{strings.TrimSpace(name), e.value})
		return
	}
	s.keys = append(s.keys, e)
}

// key returns the value of a key, or "".
func (s *script) key(name string) string {
	for _, e := range s.keys {
		if e.key == name {
			return e.value
		}
	}
	return ""
}

func chunkOf(block string) chunk {
	var c chunk
	lines := strings.Split(block, "\n")
	if when, ok := conditionOf(lines[0]); ok && len(lines) > 1 {
		c.when, lines = when, lines[1:]
	}
	for _, kind := range kinds {
		if rest, ok := strings.CutPrefix(lines[0], kind+":"); ok {
			c.kind, c.head, lines = kind, strings.TrimSpace(rest), lines[1:]
			break
		}
	}
	c.take(lines)
	return c
}

// take adds lines, each with the condition before it.
func (c *chunk) take(lines []string) {
	var when condition
	for _, l := range lines {
		if w, ok := conditionOf(l); ok {
			when = w
			continue
		}
		c.lines = append(c.lines, line{when, strings.TrimSpace(l)})
		when = condition{}
	}
}

func conditionOf(l string) (condition, bool) {
	l = strings.TrimSpace(l)
	if expr, ok := strings.CutPrefix(l, "if "); ok && conditional(expr) {
		return condition{expr: expr}, true
	}
	if expr, ok := strings.CutPrefix(l, "unless "); ok && conditional(expr) {
		return condition{expr: expr, not: true}, true
	}
	return condition{}, false
}

// conditional distinguishes an expression from a sentence that begins with the same word: it has a path and no comma.
func conditional(expr string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(expr, "("), " ")
	return strings.Contains(first, ".") && !strings.HasSuffix(first, ".")
}
