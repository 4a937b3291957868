package train_test

import (
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// TestDeciding: the classes of ranks that decide are fewer where stages hold the same, stand for all ranks, and hold as
// much as the one that holds most.
func TestDeciding(t *testing.T) {
	for _, c := range []struct {
		id       string
		pp, vpp  int64
		schedule string
		most     int
	}{{"llama-3.1-70b", 16, 1, "1f1b", 3}, {"llama-3.1-70b", 8, 2, "interleaved", 3}, {"qwen3-30b-a3b", 8, 1, "gpipe", 3}, {"deepseek-v3", 16, 1, "1f1b", 6}, {"llama-3.1-8b", 1, 1, "", 1}} {
		j := ask(t, c.id, "h100-sxm-80gb", 128, func(p *plan.Plan, q *plan.Training) {
			q.Framework, p.PP, p.TP, q.VPP, q.Schedule, q.GlobalBatch = "megatron", c.pp, 2, c.vpp, c.schedule, 2048
		})
		s, err := train.Compile(j)
		if err != nil {
			t.Fatal(err)
		}
		all, few := s.Size(nil), s.Deciding()
		if len(few) > c.most || few[0].Allocated != all[0].Allocated {
			t.Errorf("%s: %d classes decide with %v, of %d with %v", c.id, len(few), few[0].Allocated, len(all), all[0].Allocated)
		}
		if ranks(few) != ranks(all) {
			t.Errorf("%s: %d ranks of %d", c.id, ranks(few), ranks(all))
		}
	}
}

func ranks(all []train.Rank) (n int64) {
	for i := range all {
		n += all[i].Count
	}
	return n
}
