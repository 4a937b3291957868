package workload

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/memwall/memwall/fault"
)

// table is a format of rows with a header. Other columns are ignored.
type table struct {
	name                          string
	arrival, prompt, output, user string // columns; the last is optional
	clock                         bool   // arrivals are dates
	// logged says that arrivals are log times, counted from the first request.
	logged bool
	unit   time.Duration
}

// tables lists the formats: Azure's LLM inference traces of 2023 and 2024 (github.com/Azure/AzurePublicDataset),
// BurstGPT (arXiv:2401.17644), and engine logs with one request per row.
var tables = []table{
	{name: "azure", arrival: "TIMESTAMP", prompt: "ContextTokens", output: "GeneratedTokens", clock: true, logged: true},
	{name: "burstgpt", arrival: "Timestamp", prompt: "Request tokens", output: "Response tokens", user: "Session ID", logged: true,
		unit: time.Second},
	{name: "engine", arrival: "arrival_s", prompt: "input_tokens", output: "output_tokens", unit: time.Second},
}

// columns locates a table's columns in a file.
type columns struct {
	table
	place   []uint8   // by column: 1 arrival, 2 prompt, 3 output, 4 user, 0 none of these
	cut     [4][]byte // cells of the current row
	origin  time.Duration
	started bool
}

// header finds the columns of a table in the first line; nil if one is missing.
func (t *table) header(line []byte) *columns {
	names := strings.Split(strings.ReplaceAll(string(line), `"`, ""), ",")
	c := &columns{table: *t, place: make([]uint8, len(names))}
	for i, name := range t.names() {
		at := slices.IndexFunc(names, func(n string) bool { return strings.TrimSpace(n) == name && name != "" })
		switch {
		case at >= 0:
			c.place[at] = uint8(i) + 1
		case i < 3:
			return nil
		}
	}
	return c
}

func (t *table) fields() [3]string { return [3]string{t.arrival, t.prompt, t.output} }

func (t *table) names() [4]string { return [4]string{t.arrival, t.prompt, t.output, t.user} }

// read parses a row. A server's log has requests without output, which failed or whose clients disconnected.
func (c *columns) read(row []byte, r *record) *fault.Error {
	if f := c.split(row); f != nil {
		return f
	}
	arrival, reason := c.when(c.cut[0])
	if reason != "" {
		return wrong(c.arrival, c.cut[0], reason, "give a time as the rows above do")
	}
	prompt, reason := tokens(c.cut[1])
	if reason != "" {
		return wrong(c.prompt, c.cut[1], reason, wholeFix)
	}
	output, reason := tokens(c.cut[2])
	if reason != "" {
		return wrong(c.output, c.cut[2], reason, wholeFix)
	}
	r.failed, r.timed = output == 0, true
	r.Arrival, r.Prompt, r.Output = arrival, prompt, output
	if who := c.cut[3]; len(who) > 0 && string(who) != "nan" {
		r.User = named(who)
	}
	return nil
}

const wholeFix = "a whole number from 1 to 100000000"

// when parses an arrival time, relative to the start.
func (c *columns) when(text []byte) (t time.Duration, reason Reason) {
	if c.clock {
		t, reason = stamp(text)
	} else {
		t, reason = elapsed(text, c.unit)
	}
	if reason != "" || !c.logged {
		return t, reason
	}
	if !c.started {
		c.origin, c.started = t, true
	}
	return t - c.origin, ""
}

// split splits a row and keeps the relevant cells.
func (c *columns) split(row []byte) *fault.Error {
	c.cut = [4][]byte{}
	n := 0
	for rest, more := row, true; more; n++ {
		var cell []byte
		cell, rest, more = cutCell(rest)
		if n < len(c.place) && c.place[n] > 0 {
			c.cut[c.place[n]-1] = cell
		}
	}
	if n != len(c.place) {
		reason, fix := CutOff, "leave out a last line that was not written to its end"
		if n > len(c.place) {
			reason, fix = Malformed, "as many columns as the header has"
		}
		return wrong("row", row, reason, fix)
	}
	return nil
}

// cutCell returns the next cell of a row, unquoted. Cells are short, so a loop is faster than a search.
func cutCell(row []byte) (cell, rest []byte, more bool) {
	if len(row) > 0 && row[0] == '"' {
		if end := bytes.IndexByte(row[1:], '"'); end >= 0 {
			cell = row[1 : 1+end]
			_, rest, more = bytes.Cut(row[2+end:], []byte{','})
			return cell, rest, more
		}
	}
	for i, b := range row {
		if b == ',' {
			return row[:i], row[i+1:], true
		}
	}
	return row, nil, false
}
