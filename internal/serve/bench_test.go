package serve

import (
	"fmt"
	"testing"
)

// BenchmarkFit is a question of each kind, as the handler answers it: one asked before, one like it, and the dearest,
// a plan for llama.cpp that does not fit.
func BenchmarkFit(b *testing.B) {
	for name, body := range map[string]string{
		"same":      `{"model":"llama-3.1-8b","hardware":"rtx-4090","tp":%[2]d}`,
		"distinct":  `{"model":"llama-3.1-8b","hardware":"rtx-4090","context":%d,"tp":%d}`,
		"llama.cpp": `{"model":"qwen3-32b","weights":"q4_k_m","hardware":"rtx-4090","context":%d,"devices":%d}`,
	} {
		b.Run(name, func(b *testing.B) {
			s := server(b, nil)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if w := do(s, asked{path: "/v1/fit", body: fmt.Sprintf(body, 20000+n, 1)}); w.Code != 200 {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
