package diagnose

import (
	_ "embed" // messages.tsv.gz
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/memwall/memwall/internal/packtext"
)

//go:embed messages.tsv.gz
var messagesPack []byte

// rules lists the rules of messages.tsv, in its order.
var rules = sync.OnceValue(func() []rule {
	all, err := readRules(packtext.Unpack(messagesPack))
	if err != nil {
		panic("diagnose: " + err.Error()) // embedded: a test parses them
	}
	return all
})

// readRules parses a table of messages. The error names the line.
func readRules(text string) (all []rule, err error) {
	shared, n := map[string]string{}, 0
	for line := range strings.Lines(text) {
		n++
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case line == "\n" || line[0] == '#':
		case line[0] == '@' && len(cells) == 2:
			shared[cells[0][1:]] = cells[1]
		default:
			r, err := readRule(shared, append(cells, make([]string, columns)...)[:max(columns, len(cells))])
			if err != nil {
				return nil, fmt.Errorf("messages.tsv:%d: %w", n, err)
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// columns of a row: words, kind, engine, backend, device, place, how, figures, unless, fix, source.
const columns = 11

func readRule(shared map[string]string, c []string) (r rule, err error) {
	if len(c) > columns || c[0] == "" || c[1] == "" {
		return r, fmt.Errorf("a row has words, a kind, and at most %d cells", columns)
	}
	for i := 7; i < 10; i++ {
		if before, name, ok := strings.Cut(c[i], "@"); ok {
			if c[i] = before + shared[name]; shared[name] == "" {
				return r, fmt.Errorf("unknown name @%s", name)
			}
		}
	}
	r = rule{words: c[0], kind: Kind(c[1]), engine: c[2], backend: c[3], device: c[4], place: Place(c[5])}
	if c[0][0] == '"' {
		if r.words, err = strconv.Unquote(c[0]); err != nil {
			return r, err
		}
	}
	if err := r.readHow(c[6]); err != nil {
		return r, err
	}
	if r.figures, err = readFigures(c[7]); err != nil {
		return r, err
	}
	if now, later, _ := strings.Cut(c[9], " | "); now != "" {
		r.fix = &Fix{Now: now, Later: later}
	}
	r.unless, err = readQuoted(c[8])
	return r, err
}

func (r *rule) readHow(words string) error {
	for w := range strings.FieldsSeq(words) {
		switch w {
		case "follows":
			r.follows = true
		case "early":
			r.early = true
		case "whole":
			r.whole = true
		default:
			return fmt.Errorf("unknown word %q", w)
		}
	}
	return nil
}

// readFigures parses a list of what="text", what<"text" and what#"text".
func readFigures(text string) (all []figure, err error) {
	for text != "" {
		i := strings.IndexAny(text, "=<#")
		if i < 0 {
			return nil, fmt.Errorf("%q is not a figure", text)
		}
		g, known := figure{bare: text[i] == '#'}, false
		if g.what, known = whats[text[:i]]; !known {
			return nil, fmt.Errorf("unknown figure %q", text[:i])
		}
		to := &g.after
		if text[i] == '<' {
			to = &g.before
		}
		if *to, text, err = nextQuoted(text[i+1:]); err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func readQuoted(text string) (all []string, err error) {
	for text != "" {
		var s string
		if s, text, err = nextQuoted(text); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func nextQuoted(text string) (s, rest string, err error) {
	q, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("%q does not begin with a text in quotes", text)
	}
	s, err = strconv.Unquote(q)
	return s, strings.TrimPrefix(text[len(q):], " "), err
}
