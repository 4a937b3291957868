package launch

import (
	"encoding/json"
	"regexp"
	"strings"
)

// What surrounds every line of a text: diff markers, notebook quotes, indentation.

var (
	// added and changed match lines of a diff.
	added   = regexp.MustCompile(`(?m)^\+( |$|[^+])`)
	changed = regexp.MustCompile(`^([+\- ]|@@|diff |index |$)`)
	// cell matches a line of a notebook.
	cell = regexp.MustCompile(`^\s*("(?:[^"\\]|\\.)*"),?\s*$`)
)

// undone returns the readings of a text without such marks that differ from it.
func undone(text string) (out []string) {
	for _, f := range []func(string) string{withoutMarks, withoutCells, outdented, beforeQuote} {
		if t := f(text); t != "" && t != text {
			out = append(out, t)
		}
	}
	return out
}

// withoutMarks returns the file that a diff results in; "" if the text is not a diff.
func withoutMarks(text string) string {
	if len(added.FindAllString(text, 3)) < 3 {
		return ""
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		switch {
		case !changed.MatchString(l):
			return ""
		case strings.HasPrefix(l, "+"), strings.HasPrefix(l, " "):
			b.WriteString(l[1:])
		}
	}
	return b.String()
}

// withoutCells returns the lines in a notebook's strings; "" if the text has other lines.
func withoutCells(text string) string {
	var b strings.Builder
	cells, others := 0, 0
	for l := range strings.Lines(text) {
		m := cell.FindStringSubmatch(l)
		var line string
		if len(m) < 2 || json.Unmarshal([]byte(m[1]), &line) != nil {
			others++
			continue
		}
		cells++
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	if cells < 4 || others > cells {
		return ""
	}
	return b.String()
}

// outdented returns a text without leading lines that are indented more than a later one.
func outdented(text string) string {
	lines := strings.SplitAfter(text, "\n")
	least, from := 1<<20, 0
	for i, l := range lines {
		if body := strings.TrimLeft(l, " "); strings.TrimSpace(body) != "" && len(l)-len(body) < least {
			least, from = len(l)-len(body), i
		}
	}
	return strings.Join(lines[from:], "")
}

// beforeQuote returns a text up to its last flag with a truncated quoted value.
func beforeQuote(text string) string {
	at := strings.LastIndexByte(text, '\'')
	if at < 0 || strings.Count(text, "'")%2 == 0 || !strings.HasPrefix(text[at:], "'{") {
		return ""
	}
	return uncut(text[:at])
}
