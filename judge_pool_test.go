package memwall

import "testing"

// TestPoolGiven: a pool whose size is given must hold the load, whatever else is free; what lacks is short, and
// nobody has room.
func TestPoolGiven(t *testing.T) {
	for _, c := range []struct {
		pool string
		want Verdict
		most int64
	}{{"10737418240", Fits, 10}, {"1073741824", Fits, 1}, {"1073741823", DoesNotFit, 0}} {
		r, err := Decode([]byte(`{"ask":"fit","model":"llama-3.1-8b","hardware":"h200","engine":"vllm@0.11.0","context":8192,"kv_cache_memory_bytes":` + c.pool + `}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Ask(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != c.want || a.KV.MaxSequences == nil || *a.KV.MaxSequences != c.most ||
			(a.Devices[0].Headroom < 0) != (c.want == DoesNotFit) {
			t.Errorf("a pool of %s: %s, %v users, %d free", c.pool, a.Verdict, a.KV.MaxSequences, a.Devices[0].Headroom)
		}
	}
}
