package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/calibrate"
)

// fake speaks the API as engines do: a chunk a token, counts in the last, and as many words as it likes for a token.
type fake struct {
	first, each time.Duration
	perWord     int64
	uncounted   bool // no usage, as servers that do not know stream_options
	breaks      int64
	running     atomic.Int64
	most        atomic.Int64
	asked       atomic.Int64
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"served-name"},{"id":"Qwen/Qwen3-8B"}]}`)
		return
	}
	var c completion
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil || r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, `{"error":"not so"}`, http.StatusBadRequest)
		return
	}
	if n := f.asked.Add(1); f.breaks > 0 && n%f.breaks == 0 {
		http.Error(w, "too long", http.StatusBadRequest)
		return
	}
	n := f.running.Add(1)
	defer f.running.Add(-1)
	for old := f.most.Load(); n > old && !f.most.CompareAndSwap(old, n); old = f.most.Load() {
	}
	select {
	case <-time.After(f.first):
	case <-r.Context().Done():
	}
	for i := range c.MaxTokens {
		if i > 0 {
			time.Sleep(f.each)
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"text\":\"x\"}]}\n\n")
		w.(http.Flusher).Flush()
	}
	if !f.uncounted {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n",
			f.perWord*int64(len(strings.Fields(c.Prompt))), c.MaxTokens)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func serving(t *testing.T, f http.Handler) *Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return &Server{Address: s.URL, Token: "secret"}
}

// TestMeasure: lengths are the server's tokens, times are not below what it slept, and all users are there at once.
func TestMeasure(t *testing.T) {
	f := &fake{first: 20 * time.Millisecond, each: 2 * time.Millisecond, perWord: 2}
	s := serving(t, f)
	words := NewWords(1)
	if err := s.Find(t.Context(), "qwen/qwen3-8b"); err != nil || s.Model != "Qwen/Qwen3-8B" {
		t.Fatal(s.Model, err)
	}
	if err := words.Learn(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	l, err := s.Measure(t.Context(), 4, Load{Prompt: 100, Answer: 5, Requests: 3}, words)
	if err != nil {
		t.Fatal(err)
	}
	if l.Completed != 12 || l.Failed != 0 || l.Prompt != 1200 || l.Answer != 60 || f.most.Load() != 4 {
		t.Errorf("%+v, %d at once", l, f.most.Load())
	}
	if l.TTFT.P50 < 20 || l.TPOT == nil || l.TPOT.Mean < 2 || l.TTFT.P99 < l.TTFT.P50 {
		t.Errorf("%+v %+v", l.TTFT, l.TPOT)
	}
	if most := 4 / 0.028 * 5; l.Output <= 0 || l.Output > most {
		t.Errorf("%g tokens/s of at most %g", l.Output, most)
	}
}

// TestUncounted: a server that does not count leaves events as tokens.
func TestUncounted(t *testing.T) {
	s := serving(t, &fake{uncounted: true})
	l, err := s.Measure(t.Context(), 1, Load{Prompt: 10, Answer: 7, Requests: 1}, NewWords(1))
	if err != nil || l.Answer != 7 || l.Prompt != 0 {
		t.Fatalf("%+v, %v", l, err)
	}
	if prompt, output := l.lengths(Load{Prompt: 10}); prompt != 10 || output != 7 {
		t.Error(prompt, output)
	}
}

// TestFailures: some requests that fail are counted and named; where all do, the level fails with the server's words.
func TestFailures(t *testing.T) {
	s := serving(t, &fake{breaks: 3})
	l, err := s.Measure(t.Context(), 1, Load{Prompt: 10, Answer: 2, Requests: 6}, NewWords(1))
	if err != nil || l.Failed != 2 || l.Completed != 4 || !strings.Contains(l.Error, "too long") {
		t.Fatalf("%+v, %v", l, err)
	}
	s.Token = "wrong"
	if _, err := s.Measure(t.Context(), 2, Load{Prompt: 10, Answer: 2, Requests: 1}, NewWords(1)); err == nil || !strings.Contains(err.Error(), "not so") {
		t.Error(err)
	}
}

// TestOddStreams: what is not a stream of tokens is an error that says what it was.
func TestOddStreams(t *testing.T) {
	for body, want := range map[string]string{
		"":                                      "without a token",
		"data: [DONE]\n\n":                      "without a token",
		"data: {\n\n":                           "not JSON",
		"data: {\"error\":{\"message\":\"m\"}}": "breaks off",
		"data: " + strings.Repeat("x", 2<<20):   "too long",
		"<html>\n":                              "without a token",
	} {
		s := serving(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		if _, err := s.Measure(t.Context(), 1, Load{Prompt: 1, Answer: 1, Requests: 1}, NewWords(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", body, err)
		}
	}
}

// TestElsewhere: a redirect is not followed, so the token stays with the server that it was given for.
func TestElsewhere(t *testing.T) {
	var visited atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited.Store(true) }))
	defer other.Close()
	s := serving(t, http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	if err := s.Find(t.Context(), ""); err == nil || visited.Load() {
		t.Error(err, visited.Load())
	}
}

// TestEnded: a context that ends stops a level.
func TestEnded(t *testing.T) {
	s := serving(t, &fake{first: time.Minute})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := s.Measure(ctx, 2, Load{Prompt: 1, Answer: 1, Requests: 100}, NewWords(1)); err == nil {
		t.Error("a level without an answer")
	}
}

// TestReport: a level is predicted with its own lengths, and calibrate reads what is written of it.
func TestReport(t *testing.T) {
	r := &Report{Engine: "vllm", Model: "llama-3.1-8b", Hardware: "h100", Load: Load{Prompt: 512, Answer: 128, Requests: 4}}
	for _, users := range []int64{1, 16} {
		n := users * 4
		r.Rows = append(r.Rows, Row{Level: &Level{Users: users, Completed: n, Prompt: 500 * n, Answer: 128 * n,
			TTFT: Spread{30, 30, 40}, TPOT: &Spread{8, 8, 9}, Output: 120}})
	}
	r.Predict(&memwall.Answer{Verdict: memwall.Fits, Plan: &memwall.Request{Model: "llama-3.1-8b", Hardware: "h100"}}, memwall.Ask)
	if a, b := r.Rows[0].Predicted, r.Rows[1].Predicted; a == nil || b == nil || *a.Total >= *b.Total || r.Unpredicted != "" {
		t.Fatalf("%+v %+v %s", a, b, r.Unpredicted)
	}
	lines, err := r.Lines()
	if err != nil {
		t.Fatal(err)
	}
	f, err := calibrate.Read(lines)
	if err != nil || len(f.Refused) > 0 {
		t.Fatalf("%v, %+v", err, f)
	}
	for _, o := range f.Observations {
		if o.Model != "llama-3.1-8b" || o.Hardware != "h100" || o.Prompt != 500 || o.Answer != 128 || o.Engine != "vllm" {
			t.Errorf("%+v", o)
		}
	}
	if len(f.Observations) != 6 {
		t.Errorf("%d figures of two levels with three each", len(f.Observations))
	}
}
