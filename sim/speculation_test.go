package sim

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/drafts"
	"github.com/memwall/memwall/workload"
)

// TestNoDraftAccepted (I12): where no draft is accepted, no request ends earlier than without speculation, and no token comes
// sooner on average; where all are, a sequence gains width tokens in a step.
func TestNoDraftAccepted(t *testing.T) {
	plain := play(t, replica(), chat(t, 2000), Options{})
	r := replica()
	r.Speculation = &Speculation{Tokens: 3, Seed: 1}
	none := play(t, r, chat(t, 2000), Options{})
	if none.PerToken.Mean() < plain.PerToken.Mean() || none.Whole.Mean() < plain.Whole.Mean() {
		t.Errorf("with no draft accepted %v a token and %v in all, without drafts %v and %v", none.PerToken.Mean(), none.Whole.Mean(),
			plain.PerToken.Mean(), plain.Whole.Mean())
	}
	if none.Generated != plain.Generated {
		t.Errorf("%d tokens with drafts, %d without", none.Generated, plain.Generated)
	}
	r.Speculation.Accepted = []float64{1, 1, 1}
	all := play(t, r, &list{{Prompt: 100, Output: 41}}, Options{})
	if want := int64(1 + 10); all.Steps != want {
		t.Errorf("40 tokens after the first in %d steps with it, want %d of four", all.Steps, want)
	}
}

// TestHeldByDrafts: the cache that sequences hold beyond their own tokens lowers how many run, and nothing that fits is lost or stands
// still, however small the cache.
func TestHeldByDrafts(t *testing.T) {
	burst := make(list, 40)
	for i := range burst {
		burst[i] = workload.Request{ID: int64(i), Prompt: 100, Output: 100}
	}
	peak := map[int64]int64{}
	for _, slots := range []int64{0, 40, 200} {
		r := replica()
		r.Blocks, r.BlockTokens = 1024, 1
		r.Speculation = &Speculation{Tokens: 3, Slots: slots, Accepted: chain(3, 0.5), Seed: 1}
		all := slices.Clone(burst)
		res := play(t, r, &all, Options{})
		if res.Finished != 40 || res.KV.Peak > 1 {
			t.Errorf("%d slots held: %d of 40 finished, peak %v", slots, res.Finished, res.KV.Peak)
		}
		peak[slots] = res.Steps
	}
	if peak[0] >= peak[40] || peak[40] >= peak[200] {
		t.Errorf("steps by slots held: %v, not more of them with more", peak)
	}
}

// TestDrafts: what is accepted on average is 1 + a + a² + … of the law.
func TestDrafts(t *testing.T) {
	const tokens, a, n = 4, 0.7, 200_000
	d := newDrafting(&Speculation{Tokens: tokens, Accepted: drafts.Shape{Tokens: tokens}.Survival(a), Seed: 7}, 0)
	sum, want, power := 0.0, 0.0, 1.0
	for range n {
		sum += float64(d.gain())
	}
	for range tokens + 1 {
		want += power
		power *= a
	}
	if got := sum / n; got < 0.99*want || got > 1.01*want {
		t.Errorf("%.4f tokens a step on average, want %.4f", got, want)
	}
}

// chain of drafts, each accepted with the same chance.
func chain(tokens int64, a float64) []float64 { return drafts.Shape{Tokens: tokens}.Survival(a) }
