package remote_test

import (
	"testing"
	"time"

	"github.com/memwall/memwall/source/cache"
)

// BenchmarkCold is a GGUF header of 8 MB over a network of 50 ms, with nothing kept; BenchmarkWarm the same from the
// cache.
func BenchmarkCold(b *testing.B) {
	h := newHub(b)
	h.latency = 50 * time.Millisecond
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(8<<20))
	for b.Loop() {
		if _, err := h.model(tinyGGUF, setting{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(h.requests.Load())/float64(b.N), "requests/op")
}

func BenchmarkWarm(b *testing.B) {
	h := newHub(b)
	h.add("acme/Tiny-GGUF", "Tiny-Q4_K_M.gguf", ggufModel(8<<20))
	s := setting{cache: cache.New(b.TempDir(), 1<<30)}
	if _, err := h.model(tinyGGUF, s); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := h.model(tinyGGUF, s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkShards is a model of 20 files over a network of 50 ms.
func BenchmarkShards(b *testing.B) {
	h := newHub(b)
	h.latency = 50 * time.Millisecond
	checkpoint(h, "acme/tiny", 20)
	for b.Loop() {
		if _, err := h.model("acme/tiny", setting{}); err != nil {
			b.Fatal(err)
		}
	}
}
