package trust

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/mcp"
)

// messages are lines that agents send.
func messages() inputs {
	call := []byte(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"fit","arguments":{"model":"llama-3.2-1b","hardware":"h100"}}}`)
	return all(cut(call, 1), struck(call, 2, marks...), put(call, 9, pieces...), members(string(call)),
		texts(nested("[", "", "]", 99_999), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+nested(`{"a":`, "1", "}", 9999)+"}", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, strings.Repeat("x", 1<<20), `{"jsonrpc":"2.0","id":"`+strings.Repeat("9", 9999)+`","method":"ping"}`))
}

// talk is a server of tools on a pipe, and who speaks with it.
type talk struct {
	to   io.Writer
	from *bufio.Reader
	t    *testing.T
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// agent sends a line to the server, then one that must be answered: whatever came before it, and in order, as JSON.
func agent(t *testing.T) func([]byte) error {
	s, err := mcp.New(desk.New(desk.Options{}), memwall.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background(), in, out) }()
	t.Cleanup(func() {
		to.Close()
		from.Close()
		if err := <-ended; err != nil {
			t.Log(err) // the pipe was closed
		}
	})
	k := &talk{to, bufio.NewReader(from), t}
	if _, err := k.until("1", hello+"\n"); err != nil {
		t.Fatal(err)
	}
	return func(line []byte) error {
		line = bytes.ReplaceAll(bytes.ReplaceAll(line, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
		said, err := k.until("\"after\"", string(line)+"\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\n")
		if err == nil && strings.Contains(said, `"error"`) {
			return errors.New(said[:min(len(said), mostWords)])
		}
		return err
	}
}

// until writes, and reads until what has an id is answered; said is what came before.
func (k *talk) until(id, text string) (said string, err error) {
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(k.to, text)
		wrote <- err
	}()
	for {
		line, err := k.from.ReadString('\n')
		if err != nil {
			return "", err
		}
		if !json.Valid([]byte(line)) || strings.Contains(line, "goroutine ") {
			k.t.Errorf("%.200q is said", line)
		}
		if strings.Contains(line, `"id":`+id+`,`) {
			return said, <-wrote
		}
		said += line
	}
}
