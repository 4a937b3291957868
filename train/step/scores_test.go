package step_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestScoresAreMoved: attention that is not fused goes over all scores of all heads, so that what it adds grows with the
// square of the length; with the operators of transformers' modules that is more than with Megatron's fused softmax,
// and more again where some are dropped.
func TestScoresAreMoved(t *testing.T) {
	added := func(framework string, sequence int, dropout float64) float64 {
		in := input(t, "llama-3.1-8b", "h100-sxm-80gb")
		in.Training.Framework, in.Training.Sharding, in.Training.SequenceLength = framework, "none", plan.Int(sequence)
		in.Training.Masks = &dropout
		in.Plan.Attention = "flash"
		fused := seconds(predict(t, in))["attention"].Seconds
		in.Plan.Attention = "eager"
		return seconds(predict(t, in))["attention"].Seconds - fused
	}
	for _, name := range []string{"transformers", "megatron"} {
		short, long := added(name, 4096, 0), added(name, 8192, 0)
		// 32 layers of 32 heads, at least 20 bytes for each score, at the datasheet's rate
		if least := 32 * 32 * 8192 * 8192 * 20 / 3.35e12; long < least {
			t.Errorf("%s: scores of 8,192 tokens take %g s, at the least %g", name, long, least)
		}
		if r := long / short; math.Abs(r-4) > 0.3 {
			t.Errorf("%s: twice the length takes %g times as long", name, r)
		}
		if added(name, 4096, 0.1) <= short {
			t.Errorf("%s: dropping scores takes no time", name)
		}
	}
	if modules, fused := added("transformers", 4096, 0), added("megatron", 4096, 0); modules < 1.5*fused {
		t.Errorf("modules take %g s, Megatron's softmax %g", modules, fused)
	}
}
