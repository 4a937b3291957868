// Package toml reads small, untrusted TOML files into keys, lists and values kept as text. Deep nesting is rejected.
package toml

import (
	"fmt"
	"strings"
)

// maxDepth limits the levels of keys and arrays.
const maxDepth = 24

// Value is a table, with its keys in order, a list, or a scalar as written.
type Value struct {
	Keys []string
	Of   map[string]*Value
	List []*Value
	Text string
}

func table() *Value { return &Value{Of: map[string]*Value{}} }

// put sets a key of a table; the last one counts.
func (v *Value) put(key string, to *Value) {
	if v.Of[key] == nil {
		v.Keys = append(v.Keys, key)
	}
	v.Of[key] = to
}

// Read parses the subset of TOML that configurations use: tables, bare and quoted keys, strings, numbers, booleans and
// arrays of these, possibly over several lines. Arrays of tables, inline tables and triple-quoted strings are rejected.
// Errors give the line.
func Read(text string) (*Value, error) {
	p := &parser{text: text, line: 1}
	root := table()
	at := root
	for p.blank(); p.at < len(p.text); p.blank() {
		var err error
		if p.text[p.at] == '[' {
			at, err = p.table(root)
		} else {
			err = p.pair(at)
		}
		if err != nil {
			return nil, err
		}
	}
	return root, nil
}

type parser struct {
	text     string
	at, line int
}

func (p *parser) wrong(what string) error { return fmt.Errorf("%s in line %d", what, p.line) }

// blank skips white space, line ends and comments.
func (p *parser) blank() {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		case '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
			continue
		default:
			return
		}
		p.at++
	}
}

// spaces skips white space within a line.
func (p *parser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// table parses [a.b] and returns its table.
func (p *parser) table(root *Value) (*Value, error) {
	p.at++
	keys, err := p.key()
	if err != nil {
		return nil, err
	}
	if !p.is(']') {
		return nil, p.wrong("a table is not closed")
	}
	p.at++
	return p.into(root, keys)
}

// into descends along keys, creating missing tables.
func (p *parser) into(n *Value, keys []string) (*Value, error) {
	if len(keys) > maxDepth {
		return nil, p.wrong(fmt.Sprintf("a key has more than %d levels", maxDepth))
	}
	for _, k := range keys {
		next := n.Of[k]
		if next == nil {
			next = table()
			n.put(k, next)
		}
		if next.Of == nil {
			return nil, p.wrong("a value is used as a table")
		}
		n = next
	}
	return n, nil
}

// key parses a.b."c".
func (p *parser) key() (keys []string, err error) {
	for {
		p.spaces()
		k, err := p.part()
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
		p.spaces()
		if !p.is('.') {
			return keys, nil
		}
		p.at++
	}
}

func (p *parser) part() (string, error) {
	if p.is('"') || p.is('\'') {
		return p.quoted()
	}
	from := p.at
	for p.at < len(p.text) && bareKeyByte(p.text[p.at]) {
		p.at++
	}
	if p.at == from {
		return "", p.wrong("a key is missing")
	}
	return p.text[from:p.at], nil
}

func bareKeyByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *parser) is(c byte) bool { return p.at < len(p.text) && p.text[p.at] == c }

func (p *parser) pair(table *Value) error {
	keys, err := p.key()
	if err != nil {
		return err
	}
	if !p.is('=') {
		return p.wrong("a key has no value")
	}
	p.at++
	p.spaces()
	v, err := p.value(0)
	if err != nil {
		return err
	}
	table, err = p.into(table, keys[:len(keys)-1])
	if err == nil {
		table.put(keys[len(keys)-1], v)
	}
	return err
}

func (p *parser) value(depth int) (*Value, error) {
	switch {
	case depth > maxDepth:
		return nil, p.wrong(fmt.Sprintf("arrays nest deeper than %d levels", maxDepth))
	case p.is('['):
		return p.array(depth)
	case p.is('{'):
		return nil, p.wrong("an inline table is not read")
	case p.is('"') || p.is('\''):
		s, err := p.quoted()
		return &Value{Text: s}, err
	}
	from := p.at
	for p.at < len(p.text) && (bareKeyByte(p.text[p.at]) || p.text[p.at] == '+' || p.text[p.at] == '.' || p.text[p.at] == ':') {
		p.at++
	}
	if p.at == from {
		return nil, p.wrong("a value is missing")
	}
	return &Value{Text: p.text[from:p.at]}, nil
}

func (p *parser) array(depth int) (*Value, error) {
	p.at++
	out := &Value{List: []*Value{}}
	for {
		p.blank()
		if p.is(']') {
			p.at++
			return out, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.List = append(out.List, v)
		p.blank()
		if p.is(',') {
			p.at++
		} else if !p.is(']') {
			return nil, p.wrong("an array is not closed")
		}
	}
}

// quoted parses "text" with escapes, or 'text' verbatim.
func (p *parser) quoted() (string, error) {
	mark := p.text[p.at]
	if strings.HasPrefix(p.text[p.at:], strings.Repeat(string(mark), 3)) {
		return "", p.wrong("a text in triple quotes is not read")
	}
	var b strings.Builder
	for p.at++; p.at < len(p.text) && p.text[p.at] != '\n'; p.at++ {
		c := p.text[p.at]
		switch {
		case c == mark:
			p.at++
			return b.String(), nil
		case c == '\\' && mark == '"' && p.at+1 < len(p.text):
			p.at++
			b.WriteString(unescaped(p.text[p.at]))
		default:
			b.WriteByte(c)
		}
	}
	return "", p.wrong("a text is not closed")
}

// unescaped returns the character of an escape; code point escapes stay verbatim.
func unescaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '"', '\\':
		return string(c)
	}
	return `\` + string(c)
}
