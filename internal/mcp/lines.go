package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/memwall/memwall/format"
	"github.com/memwall/memwall/safe"
)

// lines splits a pipe into messages, one per line, and answers invalid ones with an error; the protocol's library would
// stop.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the current message
}

// Read returns part of the next valid message.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil && len(line) == 0 {
			return 0, err
		}
		switch text := bytes.TrimSpace(line); {
		case len(text) == 0:
		case len(line) > mostBytes:
			l.refuse(-32600, "the message is longer than 2 MiB")
		case !json.Valid(text):
			l.refuse(-32700, "the line is not JSON: a message of JSON-RPC 2.0 takes one line")
		case deep(text):
			l.refuse(-32600, "the message nests deeper than "+strconv.Itoa(mostDeep)+" levels")
		case text[0] != '{' || !isMessage(text):
			l.refuse(-32600, "the line is not a message of JSON-RPC 2.0")
		default:
			l.rest = append(text, '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns the next line; one that is too long is skipped.
func (l *lines) next() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line) <= mostBytes {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// mostDeep is the maximum nesting of a message; memwall's requests nest fewer than ten levels.
const mostDeep = 100

func deep(text []byte) bool {
	_, deep := format.Nests(text, mostDeep)
	return deep
}

// isMessage reports whether an object is a JSON-RPC 2.0 message: a call, a notification or a response.
func isMessage(text []byte) bool {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
		Params  json.RawMessage `json:"params"`
	}
	if json.Unmarshal(text, &m) != nil || m.Version != "2.0" {
		return false
	}
	return names(m.ID) && (m.Method != nil || len(m.ID) > 0 && (m.Result != nil || m.Error != nil))
}

// names reports whether an id can be echoed exactly: absent, a string, or an integer that every JSON parser represents.
func names(id json.RawMessage) bool {
	const most = 1 << 53
	if len(id) == 0 || id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n <= most && n >= -most
}

func (l *lines) refuse(code int, message string) {
	text, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      *int   `json:"id"`
		Error   any    `json:"error"`
	}{"2.0", nil, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message}})
	if err == nil {
		_, _ = l.out.Write(append(text, '\n')) // the client may have exited
	}
}

// turns serializes whole messages of several writers.
type turns struct {
	one sync.Mutex
	out io.Writer
}

func (t *turns) Write(b []byte) (int, error) {
	t.one.Lock()
	defer t.one.Unlock()
	if _, err := t.out.Write(safe.JSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
