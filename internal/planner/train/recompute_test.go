package train

import (
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/unit"
)

// TestNeedsMore: where a setting is said to keep everything that another keeps, its peak is not lower; and what lies between whole
// blocks and nothing needs less than nothing does.
func TestNeedsMore(t *testing.T) {
	for _, model := range []string{"llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v3"} {
		r := trainAsk(model, "64xh100", func(r *api.Request) { r.Framework, r.TP, r.PP, r.GlobalBatch = "megatron", 2, 8, 64 })
		s := spaceOf(t, r)
		peaks := map[string]unit.Bytes{}
		words := s.recomputesOf(r)
		for _, w := range words {
			to := s.base
			s.sites[0].set(&to)
			to.Recompute, to.MicroBatch = w, 1
			sized, err := training.Trained(&question.Env{}, &to)
			if err != nil {
				t.Fatalf("%s, recompute %s: %v", model, w, err)
			}
			ranks := sized.EngineRanks(sized.Sizer.Deciding())
			peaks[w] = ranks[0].Needed().Bytes
		}
		for _, w := range words {
			for _, than := range words {
				if needsMore(w, than) && peaks[w] < peaks[than] {
					t.Errorf("%s: recompute %s needs %s, and %s, which keeps less, %s", model, w, peaks[w], than, peaks[than])
				}
			}
		}
		if between := peaks[words[2]]; between <= peaks["full"] || between >= peaks["none"] {
			t.Errorf("%s: recompute %s needs %s, not between full (%s) and none (%s)", model, words[2], between, peaks["full"], peaks["none"])
		}
	}
}
