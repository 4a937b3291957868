package main

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

// sources are the rows of rules.tsv.
//
//go:embed rules.tsv
var sources string

// source is where a rule was read: a symbol of a file of a project, at a revision, with the fingerprint of its text.
type source struct {
	project, rule, file, symbol, read, print string
}

const columns = "project\trule\tfile\tsymbol\tread\tfingerprint"

// parseSources reads the table. A rule without a file says in its place why it has none: a log, a document, a closed source.
func parseSources(text string) (out []source, err error) {
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == 0 {
			if line != columns {
				return nil, errors.New("rules.tsv: the first line names the columns: " + columns)
			}
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			return nil, fmt.Errorf("rules.tsv: line %d has %d columns, and 6 are read", i+1, len(f))
		}
		out = append(out, source{f[0], f[1], f[2], f[3], f[4], f[5]})
	}
	return out, nil
}

func (s *source) line() string {
	return strings.Join([]string{s.project, s.rule, s.file, s.symbol, s.read, s.print}, "\t")
}

// unread: the rule rests on something else than a text of the project.
func (s *source) unread() bool { return s.print == "-" }

// write gives the table as its file.
func write(all []source) string {
	var b strings.Builder
	b.WriteString(columns + "\n")
	for i := range all {
		b.WriteString(all[i].line() + "\n")
	}
	return b.String()
}

// finding is what a checkout has in the place of a rule's text.
type finding struct {
	source
	state   string // same, changed, gone
	line    int
	now     string   // the fingerprint of today
	commits []string // that changed the text since
	moved   []string // files that define the symbol now
}

// States of a finding.
const (
	same    = "same"
	changed = "changed"
	gone    = "gone"
)

// look compares a rule's text with the checkout's.
func look(c *checkout, s source, patch bool) (finding, error) {
	f := finding{source: s, state: gone}
	text, err := c.read(s.file)
	if err != nil && !absent(err) {
		return f, err
	}
	if err == nil {
		if part, line, ok := textOf(s.file, text, s.symbol); ok {
			f.line, f.now, f.state = line, fingerprint(part), same
			if f.now != s.print {
				f.state, f.commits = changed, c.since(s.read, s.file, line, line+strings.Count(part, "\n"), patch)
			}
			return f, nil
		}
	}
	f.moved = c.moved(s.symbol)
	return f, nil
}
