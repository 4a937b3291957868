package remote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall/source/cache"
)

// TestGuess: a quantisation costs the list beside the redirect and the part: two round trips. A guess that is wrong costs one
// request that is refused, and a list at hand none.
func TestGuess(t *testing.T) {
	h := newHub(t)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(1<<10))
	h.add("acme/Tiny-GGUF", "mmproj-Tiny-f16.gguf", ggufModel(1<<10))
	h.add("acme/Odd-GGUF", "other-name.Q4_K_M.gguf", ggufModel(1<<10))
	h.add("mradermacher/Tiny-i1-GGUF", "Tiny.Q4_K_M.gguf", ggufModel(1<<10))
	for ref, want := range map[string]int64{"acme/Tiny-GGUF:Q4_K_M": 3, "acme/Tiny-GGUF:q4_k_m": 3, "acme/Odd-GGUF:Q4_K_M": 4,
		"mradermacher/Tiny-i1-GGUF:Q4_K_M": 3} {
		h.forget()
		r, err := h.model(ref, setting{})
		if err != nil || h.requests.Load() != want || !strings.Contains(r.Provenance, commit1) {
			t.Errorf("%s: %d requests, want %d: %v", ref, h.requests.Load(), want, err)
		}
	}
	s := setting{cache: cache.New(t.TempDir(), 1<<30)}
	for _, want := range []int64{3, 0} {
		h.forget()
		r, err := h.model("acme/Tiny-GGUF:Q4_K_M", s)
		if err != nil || h.requests.Load() != want {
			t.Errorf("%d requests, want %d: %v", h.requests.Load(), want, err)
		}
		if r != nil && (len(r.Notes) == 0 || !strings.Contains(r.Notes[len(r.Notes)-1].Text, "hf:acme/Tiny-GGUF/mmproj-Tiny-f16.gguf")) {
			t.Errorf("its projector is not told of: %v", r.Notes)
		}
	}
}

// BenchmarkQuant is BenchmarkCold by quantisation.
func BenchmarkQuant(b *testing.B) {
	h := newHub(b)
	h.latency = 50 * time.Millisecond
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(8<<20))
	h.add("acme/Odd-GGUF", "other.Q4_K_M.gguf", ggufModel(8<<20))
	for name, ref := range map[string]string{"right": "acme/Tiny-GGUF:Q4_K_M", "wrong": "acme/Odd-GGUF:Q4_K_M"} {
		b.Run(name, func(b *testing.B) {
			h.forget()
			for b.Loop() {
				if _, err := h.model(ref, setting{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(h.requests.Load())/float64(b.N), "requests/op")
		})
	}
}
