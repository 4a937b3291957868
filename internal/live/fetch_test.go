package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve makes a server of pages, with what a request meets before them.
func serve(t *testing.T, p Pages, before func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before != nil && before(w, r) {
			return
		}
		body, ok := p[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestAsk: every engine is known by its pages, under the address and what people copy with it.
func TestAsk(t *testing.T) {
	for name, engine := range map[string]string{"vllm": "vllm", "sglang": "sglang", "trtllm": "tensorrt-llm",
		"llama-server": "llama-server", "tgi": "generic", "ollama": "ollama"} {
		at := serve(t, site(t, name), nil)
		for _, path := range []string{"", "/", "/v1", "/v1/models", "/metrics"} {
			l, err := Ask(context.Background(), at+path, Options{})
			if err != nil || l.Engine != engine || len(l.Figures) == 0 {
				t.Errorf("%s%s: %v, %v", name, path, l, err)
			}
		}
	}
}

// TestFaults: servers that refuse, hang, lie or send what is not a page. Each error says what to do, and none the token.
func TestFaults(t *testing.T) {
	elsewhere := serve(t, site(t, "vllm"), func(http.ResponseWriter, *http.Request) bool {
		t.Error("a redirect to another host was followed")
		return false
	})
	for _, c := range []struct {
		name, want string
		before     func(http.ResponseWriter, *http.Request) bool
	}{
		{"no token", "does not take this token (401)",
			func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(401); return true }},
		{"not found", "has neither /v1/models nor /metrics nor /api/version",
			func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(404); return true }},
		{"loading", "it is still loading", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }},
		{"broken", "with 500", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true }},
		{"a web page", "with a web page", func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, " <!doctype html><title>Log in</title>")
			return true
		}},
		{"garbage", "as no inference server", func(w http.ResponseWriter,
			_ *http.Request) bool {
			fmt.Fprint(w, "\x00\xff{[hm")
			return true
		}},
		{"elsewhere", "which is not followed", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, elsewhere+r.URL.Path, http.StatusFound)
			return true
		}},
		{"circles", "in circles", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}},
		{"redirect to nowhere", "which is not followed", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", "http://%zz")
			w.WriteHeader(302)
			return true
		}},
		{"without end", "more than 8 MiB", func(w http.ResponseWriter, _ *http.Request) bool {
			line := []byte(strings.Repeat("x", 1<<16))
			for range 400 {
				if _, err := w.Write(line); err != nil {
					break
				}
			}
			return true
		}},
		{"silent", "did not answer in 200ms", func(_ http.ResponseWriter, r *http.Request) bool {
			select {
			case <-r.Context().Done():
			case <-time.After(2 * time.Second):
			}
			return true
		}},
		{"cut", "cannot be read", func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			return true
		}},
	} {
		at := serve(t, site(t, "vllm"), c.before)
		timeout := 2 * time.Second
		if c.name == "silent" {
			timeout = 200 * time.Millisecond
		}
		l, err := Ask(context.Background(), at, Options{Token: "sk-secret-1", Timeout: timeout})
		var e *Error
		if l != nil || !errors.As(err, &e) || !strings.Contains(e.Error(), c.want) || e.Fix == "" ||
			strings.Contains(e.Error()+e.Fix, "sk-secret") {
			t.Errorf("%s: %v %v", c.name, l, err)
		}
	}
}

// TestToken: it is sent, and what it opens is read; a server that shows its metrics without it is read as far as it goes.
func TestToken(t *testing.T) {
	locked := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/models" && r.Header.Get("Authorization") != "Bearer sk-1" {
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return false
	}
	at := serve(t, site(t, "vllm"), locked)
	l, err := Ask(context.Background(), at, Options{Token: "sk-1"})
	if err != nil || l.Noted("locked") || l.Plan.Context != 31800 {
		t.Errorf("%v, %v", l, err)
	}
	l, err = Ask(context.Background(), at, Options{})
	if err != nil || !l.Noted("locked") || l.Plan.Context != 0 || len(l.Figures) == 0 {
		t.Errorf("%v, %v", l, err)
	}
	l, err = Ask(context.Background(), serve(t, site(t, "sglang"), locked), Options{})
	if e, ok := errors.AsType[*Error](err); l != nil || !ok || !e.Unauthorised || !strings.Contains(e.Fix, "MEMWALL_SERVER_TOKEN") {
		t.Errorf("%v, %v", l, err)
	}
}

// TestAddresses: what is not an address of a server is refused without asking anybody, and a password is not repeated.
func TestAddresses(t *testing.T) {
	for _, a := range []string{"http://", "ftp://h/", "http://user:pass-word@localhost:1", "http://[::1", "http://localhost:0/"} {
		l, err := Ask(context.Background(), a, Options{Timeout: time.Second})
		if err == nil || strings.Contains(err.Error(), "pass-word") {
			t.Errorf("%s: %v, %v", a, l, err)
		}
	}
	for a, want := range map[string]bool{"http://localhost:8000": true, "http://127.0.0.1": true, "https://[::1]:1/v1": true,
		"http://192.168.1.5:80": false, "http://localhost.example.com": false} {
		if Local(a) != want {
			t.Errorf("%s is local: %v", a, !want)
		}
	}
}

// TestWatch: a server is read again and again, and says what it did in between.
func TestWatch(t *testing.T) {
	p := site(t, "vllm")
	var n atomic.Int64
	at := serve(t, p, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/metrics" {
			return false
		}
		done := 12800 + 10*n.Add(1)
		fmt.Fprint(w, strings.Replace(string(p["/metrics"]), `tokens_total{engine="0",model_name="llama"} 12800.0`, fmt.Sprintf(`tokens_total{engine="0",model_name="llama"} %d`, done), 1))
		return true
	})
	l, err := Ask(context.Background(), at, Options{For: 30 * time.Millisecond, Every: time.Millisecond})
	if err != nil || !l.Loaded || l.Plan.Sequences != 3 || n.Load() < 3 {
		t.Errorf("%v, %v after %d readings", l, err, n.Load())
	}
	l, err = Ask(context.Background(), serve(t, site(t, "ollama"), nil), Options{For: time.Millisecond, Every: time.Millisecond})
	if err != nil || !l.Noted("not_watched") {
		t.Errorf("%v, %v", l, err)
	}
}
