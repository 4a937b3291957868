package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memwall/memwall/fault"
)

// Open opens a trace, gzip-compressed or not. The format is given by the options, or detected from the beginning of the
// file.
func Open(r io.Reader, o ReadOptions) (*Trace, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b, err := plainText(r)
	if err != nil {
		return nil, broken(1, err)
	}
	t := &Trace{options: o, most: MaxRequests, until: seconds(MaxSeconds), unread: unread{}, Skipped: map[Reason]int64{}}
	if err := t.recognise(b); err != nil {
		return nil, err
	}
	return t, nil
}

const peek = 1 << 16

// plainText decompresses if necessary, and skips a byte order mark.
func plainText(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, peek)
	if magic, _ := b.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReaderSize(z, peek)
	}
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, err := b.Discard(3)
		return b, err
	}
	return b, nil
}

// recognise detects the format from a table's header or the keys of the first object.
func (t *Trace) recognise(b *bufio.Reader) error {
	text, err := b.Peek(peek)
	if err != nil && err != io.EOF {
		return broken(1, err)
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte{'\n'})
	first = bytes.TrimSpace(first)
	if len(first) == 0 {
		return &fault.Error{Line: 1, Field: "file", Problem: string(Empty), Fix: "give a trace with requests"}
	}
	t.Format = t.options.Format
	if t.Format == "" {
		t.Format = formatOf(first)
	}
	return t.start(b, first)
}

// formatOf returns the format of a first line, or "".
func formatOf(first []byte) string {
	switch first[0] {
	case '{':
		return formatOfObject(first)
	case '[':
		return "sharegpt"
	}
	for i := range tables {
		if tables[i].header(first) != nil {
			return tables[i].name
		}
	}
	return ""
}

func formatOfObject(first []byte) string {
	o := object{text: first}
	for {
		key, _, reason := o.next()
		switch string(key) {
		case "prompt_tokens", "arrival_s":
			return "memwall"
		case "input_length", "hash_ids":
			return "mooncake"
		case "conversations":
			return "sharegpt"
		}
		if reason != "" || o.done {
			return ""
		}
	}
}

// start begins reading, after the header of a table.
func (t *Trace) start(b *bufio.Reader, first []byte) error {
	t.lines = newLines(b)
	switch t.Format {
	case "sharegpt":
		return t.startConversations(b)
	case "memwall":
		t.codec = ours{t.unread}
		return nil
	case "mooncake":
		t.codec = mooncake{t.unread, blockTokens(int64(t.options.Block))}
		return nil
	}
	for i := range tables {
		if tables[i].name == t.Format {
			return t.startTable(&tables[i], first)
		}
	}
	return headerFault(first, "one of the formats "+strings.ReplaceAll(formatNames, " ", ", "))
}

// startTable begins reading after the header.
func (t *Trace) startTable(of *table, first []byte) error {
	c := of.header(first)
	if c == nil {
		names := of.fields()
		return headerFault(first, "a header with "+strings.Join(names[:], ","))
	}
	t.codec = c
	_, err := t.lines.next()
	return err
}

func headerFault(first []byte, fix string) error {
	f := wrong("first line", first, Malformed, fix)
	f.Line = 1
	return f
}

// blockTokens returns the tokens per block of hash_ids; Mooncake's have 512.
func blockTokens(given int64) int64 {
	if given == 0 {
		return 512
	}
	return given
}

// Unread returns keys of the trace, as far as read, that the format does not know.
func (t *Trace) Unread() []string {
	return slices.Sorted(maps.Keys(t.unread))
}
