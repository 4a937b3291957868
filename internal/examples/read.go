package examples

import (
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"strconv"
	"strings"
	"sync"
)

// texts holds a file for each document, 6.txt for what is quoted beside them, and words.txt for what their rows share.
//
// A document is its number and title, what it is about, sections ("## Title") and rows, with a blank line between. A row is
// "ID verdict: claim" and then lines: "best:", "why:", "waits:" with text, "let name(parameters) = expression", and else an
// expression that is a finding. Expressions are written as in Go; names.go lists what they may call. A line that is indented
// continues the one before.
//
//go:embed texts/*.txt
var texts embed.FS

// line of a row is a finding, or, with a name, what the name stands for in the lines below.
type line struct {
	name       string
	parameters []string // nil for a value
	expr       ast.Expr
}

// readTexts parses all files, once.
var readTexts = sync.OnceValues(func() (all []Document, err error) {
	for i := 1; i <= 6; i++ {
		d, err := readText(strconv.Itoa(i))
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		all = append(all, *d)
	}
	return all, nil
})

// shared are the definitions that every row may use.
var shared = sync.OnceValues(func() ([]line, error) {
	text, err := unfolded("words")
	if err != nil {
		return nil, err
	}
	return readLines(strings.Split(strings.TrimSpace(text), "\n"))
})

func unfolded(name string) (string, error) {
	text, err := texts.ReadFile("texts/" + name + ".txt")
	return strings.ReplaceAll(string(text), "\n  ", " "), err
}

func readText(name string) (*Document, error) {
	text, err := unfolded(name)
	if err != nil {
		return nil, err
	}
	blocks := strings.Split(strings.TrimSpace(text), "\n\n")
	d := &Document{}
	head, about, _ := strings.Cut(blocks[0], "\n")
	number, title, _ := strings.Cut(head, ".")
	d.Title, d.About = strings.TrimSpace(title), about
	if d.Number, err = strconv.Atoi(number); err != nil {
		return nil, err
	}
	for _, b := range blocks[1:] {
		if err := d.take(b); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// take reads the head of a section, or a row of the last one.
func (d *Document) take(block string) error {
	if title, ok := strings.CutPrefix(block, "## "); ok {
		d.Sections = append(d.Sections, Section{Title: title})
		return nil
	}
	if len(d.Sections) == 0 {
		return errors.New("a row before the first section")
	}
	r, err := readRow(block)
	s := &d.Sections[len(d.Sections)-1]
	s.Rows = append(s.Rows, r)
	return err
}

func readRow(block string) (r Row, err error) {
	lines := strings.Split(block, "\n")
	head, claim, _ := strings.Cut(lines[0], ": ")
	id, verdict, _ := strings.Cut(head, " ")
	r.ID, r.Verdict, r.Claim = id, Verdict(verdict), claim
	var rest []string
	for _, l := range lines[1:] {
		key, text, _ := strings.Cut(l, ": ")
		switch key {
		case "best":
			r.Best = text
		case "why":
			r.Why = text
		case "waits":
			r.Waits = Topic(text)
		default:
			rest = append(rest, l)
		}
	}
	if r.lines, err = readLines(rest); err != nil {
		return r, fmt.Errorf("%s: %w", r.ID, err)
	}
	return r, nil
}

func readLines(texts []string) (out []line, err error) {
	for _, text := range texts {
		var l line
		if definition, ok := strings.CutPrefix(text, "let "); ok {
			l.name, text, _ = strings.Cut(definition, " = ")
			l.cutParameters()
		}
		if l.expr, err = parser.ParseExpr(text); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// cutParameters splits "name(a, b)".
func (l *line) cutParameters() {
	name, in, ok := strings.Cut(strings.TrimSuffix(l.name, ")"), "(")
	if !ok {
		return
	}
	l.name, l.parameters = name, []string{}
	if in != "" {
		l.parameters = strings.Split(in, ", ")
	}
}
