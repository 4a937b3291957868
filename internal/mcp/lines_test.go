package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// badLines are what clients may send that are not messages, or none that can be followed.
var badLines = []string{
	"garbage", "5", "null", "[]", "{}", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","id":9,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
	`{"jsonrpc":"2.0","id":5,"method":5}`, `{"jsonrpc":"2.0","id":7,"result":{}}`, strings.Repeat("[", 100_000), strings.Repeat("x", mostBytes+1), "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"\xff\"}",
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":5}`, `{"jsonrpc":"2.0","id":62,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":65,"method":"nosuch"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
	`{"jsonrpc":"2.0","id":66,"method":"tools/call","params":{"name":"fit","arguments":[1]}}`, `{"jsonrpc":"2.0","id":64,"method":"tools/call","params":{"name":"fit","arguments":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `}}`,
	`{"jsonrpc":"2.0","method":"ping","id":1e400}`, `{"jsonrpc":"2.0","method":"ping","id":0.5}`, `{"jsonrpc":"2.0","method":"ping","id":99999999999999999999}`,
	`{"jsonrpc":"2.0","id":69,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 9_990) + "1" + strings.Repeat("}", 9_990) + `}`,
	`{"jsonrpc":"2.0","id":68,"method":"tools/call","params":{"name":"fit","_meta":{"progressToken":{"a":1}},"arguments":{"model":"qwen3-8b"}}}`,
}

// TestBadLines: whatever comes over a pipe, the next call is answered.
func TestBadLines(t *testing.T) {
	s, err := New(desk.New(desk.Options{}), memwall.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background(), in, out) }()
	answers := bufio.NewReader(from)
	ask := func(line string) {
		if _, err := io.WriteString(to, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	until := func(id string) {
		for {
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid([]byte(line)) || strings.Contains(line, "goroutine") {
				t.Errorf("%.200s", line)
			}
			if strings.Contains(line, `"id":`+id+`,"result":`) {
				return
			}
		}
	}
	go ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	until("1")
	go func() {
		ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for _, line := range badLines {
			ask(line)
		}
		ask(`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"fit","arguments":{"model":"qwen3-8b","hardware":"rtx-3060"}}}`)
	}()
	until("99")
	go func() { _, _ = io.Copy(io.Discard, answers) }() // calls are answered in any order, and a pipe that nobody reads holds the server
	to.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// FuzzLines: what is read of any input are whole messages of JSON, one a line.
func FuzzLines(f *testing.F) {
	for _, line := range badLines {
		f.Add([]byte(line[:min(len(line), 1000)] + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		got, err := io.ReadAll(&lines{in: bufio.NewReader(bytes.NewReader(input)), out: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(got) {
			if !json.Valid(line) || !isMessage(bytes.TrimSpace(line)) {
				t.Errorf("%q", line)
			}
		}
	})
}
