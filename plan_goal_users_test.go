package memwall

import "testing"

// TestFewestReplicas: a fleet holds, and with a replica less it does not, however far off the estimate is.
func TestFewestReplicas(t *testing.T) {
	r := forUsers("llama-3.1-8b", "l4", 40, 3000, 60)
	r.Engine, r.Weights = "vllm", "fp8"
	g := &goalSearch{asker: (&Asker{}).remembering(), ctx: t.Context(), original: r}
	if err := g.read(); err != nil {
		t.Fatal(err)
	}
	if err := g.enumerate(); err != nil {
		t.Fatal(err)
	}
	g.sort()
	tried := 0
	for _, c := range g.queue()[:3] {
		want := int64(0)
		for n := int64(1); want == 0 && n <= c.last(g); n++ {
			if c.play(g, n, variant{}).meets {
				want = n
			}
		}
		for _, estimate := range []int64{1, 2, c.replicas, 2*c.replicas + 1} {
			c.replicas = estimate
			if want > c.last(g) {
				continue
			}
			tried++
			if got, err := c.fewestOf(g, variant{}); err != nil || got != want {
				t.Errorf("%s, estimated at %d: %d replicas (%v), trying each: %d", c.words, estimate, got, err, want)
			}
		}
	}
	if tried < 6 {
		t.Errorf("only %d were tried", tried)
	}
}
