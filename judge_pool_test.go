package memwall

import (
	"fmt"
	"testing"
)

// TestPoolGiven: a pool whose size is given, in bytes or in tokens, must hold the load, whatever else is free; what lacks is short, and
// nobody has room. More tokens than the memory holds change nothing.
func TestPoolGiven(t *testing.T) {
	for _, c := range []struct {
		engine, pool string
		want         Verdict
		most         int64
	}{
		{"vllm@0.11.0", `"kv_cache_memory_bytes":10737418240`, Fits, 10}, {"vllm@0.11.0", `"kv_cache_memory_bytes":1073741824`, Fits, 1},
		{"vllm@0.11.0", `"kv_cache_memory_bytes":1073741823`, DoesNotFit, 0},
		{"vllm@0.11.0", `"kv_pool_tokens":81920`, Fits, 10}, {"vllm@0.11.0", `"kv_pool_tokens":8176`, DoesNotFit, 0},
		{"vllm@0.11.0", `"kv_pool_tokens":99999999`, Fits, 105}, {"vllm@0.11.0", `"samples":1`, Fits, 105},
		{"sglang", `"kv_pool_tokens":81920`, Fits, 10}, {"sglang", `"kv_pool_tokens":8191`, DoesNotFit, 0},
		{"sglang", `"kv_pool_tokens":99999999`, Fits, 110}, {"sglang", `"samples":1`, Fits, 110},
	} {
		const form = `{"ask":"fit","model":"llama-3.1-8b","hardware":"h200","engine":%q,"context":8192,%s}`
		r, err := Decode(fmt.Appendf(nil, form, c.engine, c.pool))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != c.want || a.KV.MaxSequences == nil || *a.KV.MaxSequences != c.most ||
			(a.Devices[0].Headroom < 0) != (c.want == DoesNotFit) {
			t.Errorf("%s with a pool of %s: %s, %v users, %d free", c.engine, c.pool, a.Verdict, *a.KV.MaxSequences, a.Devices[0].Headroom)
		}
	}
}
