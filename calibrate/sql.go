package calibrate

import (
	"bytes"
	"fmt"
	"strings"
)

// isSQL recognizes the output of llama-bench -o sql: statements that fill a table (llama.cpp tools/llama-bench,
// sql_printer).
func isSQL(data []byte) bool {
	head := data[:min(len(data), 1<<16)]
	return bytes.Contains(head, []byte("INSERT INTO")) && bytes.Contains(head, []byte("avg_ts"))
}

// readSQL reads its INSERT statements, one per line; the others define the table.
func readSQL(data []byte) (*File, error) {
	f := &File{Format: "llama-bench"}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "INSERT INTO ")
		if !ok {
			continue
		}
		if n > maxRows {
			return nil, errRows
		}
		at := fmt.Sprintf("line %d", n)
		if r, why := inserted(text); why != "" {
			f.refuse(at, "", "", why)
		} else {
			f.llamaBench(at, r)
		}
	}
	return f, nil
}

// inserted parses names and values of an INSERT INTO statement.
func inserted(s string) (record, string) {
	_, s, ok := strings.Cut(s, "(")
	names, s, closed := strings.Cut(s, ")")
	_, s, values := strings.Cut(s, "(")
	if !ok || !closed || !values {
		return nil, "is not a statement of llama-bench"
	}
	r := record{}
	for name := range strings.SplitSeq(names, ",") {
		v, rest, ok := sqlValue(s)
		if !ok || len(r) == maxNames {
			return nil, "has not a value for each name"
		}
		r[clip(strings.TrimSpace(name))], s = cell(clip(v)), rest
	}
	return r, ""
}

// sqlValue returns the first of a list of values and the remainder. Quotes within quotes are doubled.
func sqlValue(s string) (value, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, "'") {
		i := strings.IndexAny(s, ",)")
		if i < 0 {
			return "", "", false
		}
		return strings.TrimSpace(s[:i]), s[i+1:], true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '\'':
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		default:
			return b.String(), strings.TrimLeft(s[i+1:], " ,"), true
		}
	}
	return "", "", false
}
