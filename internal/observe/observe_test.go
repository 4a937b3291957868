package observe

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func page(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// is compares a figure that may be unknown; NaN stands for unknown.
func is(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if math.IsNaN(want) != (got == nil) || got != nil && math.Abs(*got-want) > 1e-9*math.Max(1, want) {
		t.Errorf("%s: %v, want %v", what, said(got), want)
	}
}

func said(x *float64) string {
	if x == nil {
		return "unknown"
	}
	return fmt.Sprint(*x)
}

// TestRead: pages of the engines, each figure as the page has it.
func TestRead(t *testing.T) {
	unknown := math.NaN()
	for _, c := range []struct {
		file, engine, model                           string
		running, waiting, kv, tokens, prompts, output float64
		ttft50, tpot99                                float64
	}{
		{"vllm-2-workers.txt", "vllm", "Qwen/Qwen3-4B-Instruct-2507", 8, 2, 0.45, unknown, unknown, unknown, unknown, unknown},
		{"sglang.txt", "sglang", "google/gemma-2-9b-it", 0, 0, 0.01, 161721, 506780, 424549, 0.1 + 0.15*(1062-707)/480.0,
			0.075 + 0.025*(0.99*422425-139394)/(422029-139394)},
		{"llama-server.txt", "llama.cpp", "", 0, 0, 0.491063, unknown, 6886, 3469, unknown, unknown},
		{"trtllm.txt", "tensorrt-llm", "Qwen/Qwen3-0.6B", unknown, unknown, 0.62, unknown, unknown, unknown, 0.05, 0.1},
		{"tgi.txt", "tgi", "", 5, 3, unknown, unknown, unknown, 12500, unknown, 0.05},
	} {
		r, err := Read(page(t, c.file))
		if err != nil || r.Engine != c.engine || c.model != "" && !slices.Contains(r.Models, c.model) || len(r.Notes) > 0 {
			t.Errorf("%s: %+v, %v", c.file, r, err)
			continue
		}
		is(t, c.file+" running", r.Running, c.running)
		is(t, c.file+" waiting", r.Waiting, c.waiting)
		is(t, c.file+" cache", r.KVUsage, c.kv)
		is(t, c.file+" tokens of the cache", r.KVTokens, c.tokens)
		is(t, c.file+" prompts", r.PromptTokens, c.prompts)
		is(t, c.file+" output", r.OutputTokens, c.output)
		quantile(t, c.file+" first token", r.TTFT, 0.5, c.ttft50)
		quantile(t, c.file+" token", r.TPOT, 0.99, c.tpot99)
	}
}

func quantile(t *testing.T, what string, h *Histogram, q, want float64) {
	t.Helper()
	p, ok := h.Quantile(q)
	if ok == math.IsNaN(want) || ok && math.Abs(p.Value-want) > 1e-9 {
		t.Errorf("%s: %+v %v, want %v", what, p, ok, want)
	}
}

// TestLine: the format with its escapes, exemplars and timestamps, and what is not a sample.
func TestLine(t *testing.T) {
	p, err := Parse([]byte("# HELP a b\na{x=\"1\\\"\\\\\\n\", y=\"}\" ,} 2e3 1395066363000\nb 1 # {trace=\"x\"} 0.5\nc NaN\nd{x=\"1} " +
		"3\ne\n2x 4\nf{} +Inf\n# EOF\n"))
	if err != nil || len(p.Samples) != 3 || p.Broken != 3 || p.FirstBroken != "line 5: labels that do not end" {
		t.Fatalf("%+v, %v", p, err)
	}
	if a := p.Samples[0]; a.Value != 2000 || a.Labels["x"] != "1\"\\\n" || a.Labels["y"] != "}" {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]error{"": ErrNone, "<html><body>404</body></html>": ErrNone, "go_goroutines 7\n": ErrEngine} {
		if _, err := Read([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if r, err := Read([]byte("vllm:gpu_cache_usage_perc 0.8\nvllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"91750\"} " +
		"1.0\nvllm:num_requests_running\n")); err != nil || *r.KVUsage != 0.8 || *r.KVTokens != 16*91750 || len(r.Notes) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := Read([]byte("vllm:kv_cache_usage_perc 45\n")); err != nil || r.KVUsage != nil || len(r.Notes) != 1 {
		t.Errorf("more than all: %+v, %v", r, err)
	}
	if r, err := Read([]byte("nv_trt_llm_request_metrics{request_type=\"waiting\"} " +
		"3\nnv_trt_llm_request_metrics{request_type=\"scheduled\"} 5\n")); err != nil || *r.Waiting != 3 || *r.Running != 5 {
		t.Errorf("Triton: %+v, %v", r, err)
	}
}

// TestBounds: a percentile lies in its bucket, and beyond the last bound only the bound is known.
func TestBounds(t *testing.T) {
	h := &Histogram{Bounds: []float64{1, 2, math.Inf(1)}, Counts: []float64{5, 9, 10}, Sum: 15, Count: 10}
	for q, want := range map[float64]Percentile{0.5: {1, 0, 1}, 0.7: {1.5, 1, 2}, 0.99: {2, 2, math.Inf(1)}, 0: {0, 0, 1}} {
		if p, ok := h.Quantile(q); !ok || p != want {
			t.Errorf("%v: %+v, want %+v", q, p, want)
		}
	}
	if m, ok := h.Mean(); !ok || m != 1.5 {
		t.Error(m, ok)
	}
	var none *Histogram
	if _, ok := none.Quantile(0.5); ok {
		t.Error("a percentile of nothing")
	}
	if _, ok := none.Mean(); ok {
		t.Error("a mean of nothing")
	}
	uneven := "vllm:num_requests_running 1\nvllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"1\"} " +
		"1\nvllm:time_to_first_token_seconds_bucket{engine=\"1\",le=\"2\"} " +
		"1\nvllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"2\"} 1\n"
	if r, err := Read([]byte(uneven)); err != nil || r.TTFT != nil || len(r.Notes) != 1 {
		t.Errorf("unlike buckets: %+v, %v", r, err)
	}
}

// TestQuantileIsTrue: the bucket that a percentile is said to lie in holds the true one, for samples at random.
func TestQuantileIsTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	bounds := []float64{0.01, 0.05, 0.1, 0.5, 1, 5}
	for range 300 {
		var all []float64
		for range 1 + rng.IntN(200) {
			all = append(all, math.Exp(rng.NormFloat64()*2-2))
		}
		slices.Sort(all)
		h := &Histogram{Bounds: append(slices.Clone(bounds), math.Inf(1)), Count: float64(len(all))}
		for _, b := range h.Bounds {
			n := 0
			for _, x := range all {
				if x <= b {
					n++
				}
			}
			h.Counts = append(h.Counts, float64(n))
		}
		q := rng.Float64()
		at := max(0, int(math.Ceil(q*float64(len(all))))-1)
		if p, ok := h.Quantile(q); !ok || all[at] < p.Low || all[at] > p.High || p.Value < p.Low || p.Value > p.High {
			t.Fatalf("q %v of %v is %v, said to be %+v", q, all, all[at], p)
		}
	}
}

// TestBetween: rates of two readings, and none across a new start.
func TestBetween(t *testing.T) {
	at := func(out, hits, queries, slow int) *Reading {
		r, err := Read(fmt.Appendf(nil, "vllm:generation_tokens_total %d\nvllm:prefix_cache_hits_total "+
			"%d\nvllm:prefix_cache_queries_total %d\nvllm:time_to_first_token_seconds_bucket{le=\"1\"} "+
			"10\nvllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} %d\n", out, hits, queries, 10+slow))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := Between(at(100, 10, 20, 0), at(400, 40, 60, 5), 10)
	is(t, "output", r.OutputTokens, 30)
	is(t, "hits", r.HitRate, 0.75)
	is(t, "prompts", r.PromptTokens, math.NaN())
	if p, ok := r.TTFT.Quantile(0.5); !ok || p.Low != 1 {
		t.Errorf("all five of these were slow: %+v %v", p, ok)
	}
	again := Between(at(400, 40, 60, 5), at(7, 1, 2, 0), 10)
	is(t, "after a start", again.OutputTokens, math.NaN())
	if again.TTFT.Count != 10 {
		t.Errorf("%+v", again.TTFT)
	}
	for _, nothing := range []*Rates{Between(nil, at(1, 1, 1, 1), 1), Between(at(1, 1, 1, 1), at(1, 1, 1, 1), 0),
		Between(at(1, 1, 1, 1), &Reading{Engine: "tgi"}, 1)} {
		if nothing != nil {
			t.Errorf("%+v", nothing)
		}
	}
}

// FuzzRead: whatever a server sends, reading ends, and what is read keeps its laws.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"vllm-2-workers.txt", "sglang.txt", "llama-server.txt", "trtllm.txt", "tgi.txt"} {
		f.Add(page(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(text)
		if err != nil {
			return
		}
		if r.KVUsage != nil && !(*r.KVUsage >= 0 && *r.KVUsage <= 1) {
			t.Errorf("cache %v", *r.KVUsage)
		}
		for _, h := range []*Histogram{r.TTFT, r.TPOT, r.ITL, r.E2E, r.Queue} {
			last := math.Inf(-1)
			for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
				p, ok := h.Quantile(q)
				if ok && (p.Low > p.High || p.Value < p.Low-1e-9*math.Abs(p.Low) || p.Value < last-1e-9*math.Abs(last) ||
					math.IsNaN(p.Value)) {
					t.Errorf("%v of %+v: %+v after %v", q, h, p, last)
				}
				if ok {
					last = p.Value
				}
			}
			h.Since(h)
		}
		Between(r, r, 1)
		if len(r.Models) > 64 || strings.Contains(r.Engine, " ") {
			t.Errorf("%+v", r)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := page(b, "sglang.txt")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(text); err != nil {
			b.Fatal(err)
		}
	}
}
