package serve

import (
	"fmt"
	"runtime"
	"testing"
)

// TestNothingGrows: what a server keeps has an end, however many questions it is asked that it was never asked before.
func TestNothingGrows(t *testing.T) {
	s := server(t, nil)
	s.kept = newKept(1 << 20)
	n := 0
	after := func(questions int) uint64 {
		for range questions {
			body := fmt.Sprintf(`{"model":%q,"hardware":"rtx-4090","weights":%q,"context":%d}`, []string{"llama-3.1-8b", "qwen3-32b", "phi-4"}[n%3], []string{"bf16", "q4_k_m"}[n/3%2], 1024+n)
			if w := do(s, asked{path: "/v1/fit", body: body}); w.Code != 200 {
				t.Fatal(w.Body)
			}
			n++
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early, late := after(1000), after(1000)
	if grown := int64(late) - int64(early); grown > 2<<20 {
		t.Errorf("%d KiB more after as many questions again", grown>>10)
	}
}
