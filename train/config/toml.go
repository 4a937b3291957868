package config

import (
	"fmt"
	"strings"
)

// toTOML writes settings as tables, plain keys first.
func toTOML(s *section) string {
	var b strings.Builder
	writeTOML(&b, s, "")
	return strings.TrimLeft(b.String(), "\n")
}

func writeTOML(b *strings.Builder, s *section, path string) {
	head := path != ""
	for _, it := range s.items {
		if _, table := it.value.(*section); table {
			continue
		}
		if head {
			fmt.Fprintf(b, "\n[%s]\n", path)
			head = false
		}
		fmt.Fprintf(b, "%s = %s\n", it.key, jsonScalar(it.value))
	}
	for _, it := range s.items {
		if inner, table := it.value.(*section); table {
			writeTOML(b, inner, strings.TrimPrefix(path+"."+it.key, "."))
		}
	}
}

// fromTOML reads the part of TOML that training configurations use: tables, bare and quoted keys, texts, numbers,
// truths and arrays of these, over several lines if need be. Arrays of tables, inline tables and texts in triple
// quotes are refused.
func fromTOML(data []byte) (*node, error) {
	if len(data) > maxText {
		return nil, wrong("TOML", fmt.Sprintf("has %d bytes", len(data)), fmt.Sprintf("one configuration of at most %d bytes", maxText))
	}
	p := &tomlParser{text: string(data), line: 1}
	root := block()
	table := root
	for p.blank(); p.at < len(p.text); p.blank() {
		var err error
		if p.text[p.at] == '[' {
			table, err = p.table(root)
		} else {
			err = p.pair(table)
		}
		if err != nil {
			return nil, err
		}
	}
	return root, nil
}

type tomlParser struct {
	text     string
	at, line int
}

func (p *tomlParser) wrong(what string) error {
	return wrong("TOML", fmt.Sprintf("%s in line %d", what, p.line), "[table], key = value; texts in quotes")
}

// blank passes over blanks, lines and comments.
func (p *tomlParser) blank() {
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

// spaces passes over blanks of one line.
func (p *tomlParser) spaces() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// table reads [a.b] and gives its block.
func (p *tomlParser) table(root *node) (*node, error) {
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

// into walks down keys and makes blocks that are not there.
func (p *tomlParser) into(n *node, keys []string) (*node, error) {
	if len(keys) > maxDepth {
		return nil, p.wrong(fmt.Sprintf("a key has more than %d levels", maxDepth))
	}
	for _, k := range keys {
		next := n.of[k]
		if next == nil {
			next = block()
			n.put(k, next)
		}
		if next.leaf() {
			return nil, p.wrong("a value is used as a table")
		}
		n = next
	}
	return n, nil
}

// key reads a.b."c".
func (p *tomlParser) key() (keys []string, err error) {
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

func (p *tomlParser) part() (string, error) {
	if p.is('"') || p.is('\'') {
		return p.quoted()
	}
	from := p.at
	for p.at < len(p.text) && bare(p.text[p.at]) {
		p.at++
	}
	if p.at == from {
		return "", p.wrong("a key is missing")
	}
	return p.text[from:p.at], nil
}

func bare(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *tomlParser) is(c byte) bool { return p.at < len(p.text) && p.text[p.at] == c }

func (p *tomlParser) pair(table *node) error {
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

func (p *tomlParser) value(depth int) (*node, error) {
	switch {
	case depth > maxDepth:
		return nil, p.wrong(fmt.Sprintf("arrays nest deeper than %d levels", maxDepth))
	case p.is('['):
		return p.array(depth)
	case p.is('{'):
		return nil, p.wrong("an inline table is not read")
	case p.is('"') || p.is('\''):
		s, err := p.quoted()
		return &node{text: s}, err
	}
	from := p.at
	for p.at < len(p.text) && (bare(p.text[p.at]) || p.text[p.at] == '+' || p.text[p.at] == '.' || p.text[p.at] == ':') {
		p.at++
	}
	if p.at == from {
		return nil, p.wrong("a value is missing")
	}
	return &node{text: p.text[from:p.at]}, nil
}

func (p *tomlParser) array(depth int) (*node, error) {
	p.at++
	out := &node{list: []*node{}}
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
		out.list = append(out.list, v)
		p.blank()
		if p.is(',') {
			p.at++
		} else if !p.is(']') {
			return nil, p.wrong("an array is not closed")
		}
	}
}

// quoted reads "text" with its escapes, or 'text' as it stands.
func (p *tomlParser) quoted() (string, error) {
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

// unescaped is what stands behind a backslash; escapes of code points stay as they are written.
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
