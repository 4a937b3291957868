package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestAccessLog: a line for each request that has ended, whatever it was, and none of what it said.
func TestAccessLog(t *testing.T) {
	const token = "a-token-that-nobody-knows"
	var lines bytes.Buffer
	s := server(t, func(o *Options) { o.Access, o.Token = &lines, token })
	bearer := map[string]string{"Authorization": "Bearer " + token}
	do(s, asked{path: "/v1/fit", body: `{"model":"llama-3.1-8b","hardware":"rtx-4090"}`, header: bearer})
	do(s, asked{method: http.MethodGet, path: "/fit?model=qwen3-8b&token=" + token})
	do(s, asked{method: http.MethodGet, path: "/" + token + "/%1b%5b2J%e2%80%ae" + strings.Repeat("x", 5000)})
	do(s, asked{path: "/v1/diagnose", body: `{"text":"hf_abcdefghijklmnopqrstuvwxyz0123456789"}`, header: bearer})
	text := lines.String()
	for _, secret := range []string{token, "hf_", "qwen3-8b", "llama-3.1-8b", "\x1b", "\u202e"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q stands in the log:\n%s", secret, text)
		}
	}
	var got []access
	for line := range strings.Lines(text) {
		var a access
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, a)
	}
	want := []access{
		{Method: "POST", Path: "/v1/fit", Status: http.StatusOK}, {Method: "GET", Path: "/fit", Status: http.StatusSeeOther},
		{Method: "GET", Status: http.StatusUnauthorized}, {Method: "POST", Path: "/v1/diagnose", Status: http.StatusOK},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines of %d requests:\n%s", len(got), len(want), text)
	}
	for i, w := range want {
		g := got[i]
		if g.Method != w.Method || g.Status != w.Status || w.Path != "" && g.Path != w.Path || g.Client != "127.0.0.1" || g.Time == "" {
			t.Errorf("line %d is %+v, want %+v", i+1, g, w)
		}
	}
	if got[0].Bytes < 1000 || got[0].MS <= 0 {
		t.Errorf("an answer of %d bytes in %g ms", got[0].Bytes, got[0].MS)
	}
	if len(got[2].Path) > 100 {
		t.Errorf("a path of %d bytes", len(got[2].Path))
	}
}
