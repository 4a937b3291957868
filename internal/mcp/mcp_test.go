package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/desk"
)

// agent is a client of a server that answers from the catalog.
func agent(t *testing.T, transport func(*Server) sdk.Transport) *sdk.ClientSession {
	t.Helper()
	s, err := New(desk.New(desk.Options{}), memwall.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport(s), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// piped is a server at the other end of a pipe.
func piped(t *testing.T) func(*Server) sdk.Transport {
	return func(s *Server) sdk.Transport {
		here, there := sdk.NewInMemoryTransports()
		go func() { _ = s.sdk.Run(t.Context(), there) }() // ends with the test
		return here
	}
}

// overHTTP is a server behind HTTP.
func overHTTP(t *testing.T) func(*Server) sdk.Transport {
	return func(s *Server) sdk.Transport {
		h := httptest.NewServer(http.HandlerFunc(s.Handler().ServeHTTP))
		t.Cleanup(h.Close)
		return &sdk.StreamableClientTransport{Endpoint: h.URL}
	}
}

// textIn a result.
func textIn(r *sdk.CallToolResult) string {
	if len(r.Content) == 0 {
		return ""
	}
	if c, ok := r.Content[0].(*sdk.TextContent); ok {
		return c.Text
	}
	return ""
}

// calls are what agents ask, and what the answers must say.
var calls = []struct {
	tool      string
	arguments map[string]any
	says      []string
}{
	{"fit", map[string]any{"model": "llama-3.1-70b", "hardware": "4xh100"},
		[]string{"✓ fits", "GiB per GPU", "limits: weights", "vllm serve meta-llama/Llama-3.1-70B-Instruct"}},
	{"fit", map[string]any{"model": "qwen3-32b", "weights": "q4_k_m", "hardware": "rtx-4090", "context": 32768},
		[]string{"✗ does not fit", "3.1 GiB short", "fits with KV cache f16 → q8_0"}},
	{"plan", map[string]any{"model": "qwen3-32b", "weights": "q4_k_m", "hardware": "rtx-4090", "context": 32768},
		[]string{"7 ways", "change", "llama-server -m"}},
	{"pick", map[string]any{"hardware": "rtx-3060"}, []string{"the best and fastest for chat on", "longest"}},
	{"train", map[string]any{"model": "llama-3.1-8b", "method": "qlora", "hardware": "rtx-4090"}, []string{"peak", "limits:"}},
	{"simulate", map[string]any{"model": "llama-3.1-8b", "hardware": "h100", "workload": map[string]any{"rate": 4, "requests": 200}},
		[]string{"holds", "first token"}},
	{"diagnose", map[string]any{"text": "CUDA out of memory. Tried to allocate 3.91 GiB."}, []string{"3.91 GiB requested", "cause"}},
	{"autoscale", map[string]any{"request": map[string]any{"model": "llama-3.1-8b", "hardware": "h100", "goal": map[string]any{"ttft_ms": map[string]any{"p99": 1000}},
		"workload": map[string]any{"prompt": map[string]any{"mean": 1500}, "output": map[string]any{"mean": 300}}}, "requests_per_s": []float64{2, 9, 20, 4},
		"policies": []string{"fixed:3"}}, []string{"✓ keeps", "fixed:3", "oracle", "a replica"}},
	{"pack", map[string]any{"hardware": "4xh100", "models": []any{map[string]any{"request": map[string]any{"model": "qwen3-8b"}, "count": 2}}},
		[]string{"✓ fits", "qwen3-8b"}},
	{"models", map[string]any{"name": "llama-3.1-8b"}, []string{"Llama 3.1 8B"}},
	{"models", map[string]any{"name": "qwen3"}, []string{"qwen3-32b "}},
	{"models", nil, []string{"deepseek-v3 "}},
	{"hardware", map[string]any{"name": "h100-sxm-80gb"}, []string{"3.35 TB/s"}},
	{"hardware", map[string]any{"name": "rtx"}, []string{" rtx-4090 "}},
}

// most an answer may have, in bytes: an agent pays for every word. Only whole lists are longer.
const most = 2500

// TestTools: every tool answers shortly, over a pipe and over HTTP.
func TestTools(t *testing.T) {
	for name, transport := range map[string]func(*Server) sdk.Transport{"pipe": piped(t), "HTTP": overHTTP(t)} {
		c := agent(t, transport)
		for _, call := range calls {
			r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, call.tool, err)
			}
			text := textIn(r)
			if r.IsError || len(text) > most && call.arguments != nil {
				t.Errorf("%s, %s: error %v, %d bytes: %.300s", name, call.tool, r.IsError, len(text), text)
			}
			for _, want := range call.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s does not say %q:\n%s", name, call.tool, want, text)
				}
			}
		}
	}
}

// TestLinks: behind the link of an answer is the whole of it, as the library gives it.
func TestLinks(t *testing.T) {
	c := agent(t, piped(t))
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "fit",
		Arguments: map[string]any{"model": "llama-3.1-8b", "hardware": "rtx-4090"}})
	if err != nil {
		t.Fatal(err)
	}
	var link string
	for _, part := range r.Content {
		if l, ok := part.(*sdk.ResourceLink); ok {
			link = l.URI
		}
	}
	whole, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link})
	if err != nil {
		t.Fatal(err)
	}
	want, err := memwall.Ask(&memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := whole.Contents[0].Text; got != string(text) {
		t.Errorf("%.300s\nwant\n%.300s", got, text)
	}
	for _, bad := range []string{answerAt + "!", answerAt + "e30", answerAt} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: bad}); err == nil {
			t.Errorf("%s leads somewhere", bad)
		}
	}
}

// TestBadArguments: what is wrong is the tool's error, with the field and the fix; nothing is opened.
func TestBadArguments(t *testing.T) {
	c := agent(t, piped(t))
	for _, call := range []struct {
		tool      string
		arguments map[string]any
		field     string
	}{
		{"fit", map[string]any{"model": "lama-3.1-8b"}, "model"},
		{"fit", map[string]any{"model": "/etc/passwd"}, "model"},
		{"fit", map[string]any{"model": "llama-3.1-8b", "contxt": 1}, "contxt"},
		{"fit", map[string]any{"model": "llama-3.1-8b", "context": "much"}, "context"},
		{"fit", map[string]any{"ask": "plan", "model": "llama-3.1-8b"}, "ask"},
		{"fit", nil, "model"},
		{"simulate", map[string]any{"model": "llama-3.1-8b", "hardware": "h100",
			"workload": map[string]any{"trace": "/etc/passwd", "arrivals": "trace"}}, "workload.trace"},
		{"hardware", map[string]any{"name": "h1000"}, "hardware"},
		{"hardware", map[string]any{"nam": "h1000"}, "nam"},
	} {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments})
		if err != nil {
			t.Fatal(err)
		}
		told, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		var e memwall.Error
		if err := json.Unmarshal(told, &e); err != nil {
			t.Fatal(err)
		}
		if text := textIn(r); !r.IsError || e.Field != call.field || e.Hint == "" || !strings.HasPrefix(text, "error: ") {
			t.Errorf("%s %v: %v, %s, %s", call.tool, call.arguments, r.IsError, told, text)
		}
	}
}

// TestProgress: an agent that wants to know hears how far a search is, over a pipe and over HTTP; one that takes its call
// back ends it.
func TestProgress(t *testing.T) {
	for name, transport := range map[string]func(*Server) sdk.Transport{"pipe": piped(t), "HTTP": overHTTP(t)} {
		d := desk.New(desk.Options{Long: 1})
		s, err := New(d, memwall.Catalog{})
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan *sdk.ProgressNotificationParams, 1000)
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"},
			&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				heard <- r.Params
			}}).Connect(t.Context(), transport(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		ctx, leave := context.WithTimeout(t.Context(), 30*time.Second)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p := &sdk.CallToolParams{Name: "simulate",
				Arguments: map[string]any{"model": "llama-3.1-8b", "hardware": "h100",
					"workload": map[string]any{"rate": 4, "requests": 1000000000}}}
			p.SetProgressToken("far")
			_, _ = c.CallTool(ctx, p) // it is taken back
		}()
		last := 0.0
		for range 2 {
			select {
			case p := <-heard:
				if p.ProgressToken != "far" || p.Progress <= last || !strings.Contains(p.Message, "simulate, requests ") {
					t.Errorf("%s: %+v", name, p)
				}
				last = p.Progress
			case <-ctx.Done():
				t.Fatalf("%s: nothing was heard", name)
			}
		}
		leave()
		<-ended
		if _, err := d.Ask(t.Context(), "", &memwall.Request{Ask: "pick", Hardware: "rtx-3060"}, nil); err != nil {
			t.Errorf("%s: the call goes on: %v", name, err)
		}
	}
}

// TestSchemas: the schema of every tool is an object's, and its fields are those of a request.
func TestSchemas(t *testing.T) {
	c := agent(t, piped(t))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 14 {
		t.Errorf("%d tools", len(list.Tools))
	}
	for _, tool := range list.Tools {
		text, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var in struct {
			Type       string
			Properties map[string]struct{ Description string }
			Required   []string
			Defs       map[string]any `json:"$defs"`
		}
		if err := json.Unmarshal(text, &in); err != nil {
			t.Fatal(err)
		}
		if in.Type != "object" || len(in.Properties) == 0 {
			t.Errorf("%s: %s", tool.Name, text)
		}
		for _, part := range strings.Split(string(text), `"$ref":"#/$defs/`)[1:] {
			if name, _, _ := strings.Cut(part, `"`); in.Defs[name] == nil {
				t.Errorf("%s: %s leads nowhere", tool.Name, name)
			}
		}
	}
}

// TestRun: a server over a pipe ends with its input.
func TestRun(t *testing.T) {
	s, err := New(desk.New(desk.Options{}), memwall.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := s.Run(context.Background(), strings.NewReader(""), &out); err != nil {
		t.Error(err)
	}
}
