package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// sharedBase sizes QLoRA of Llama 3.1 8B on four devices.
func sharedBase(t *testing.T, framework, sharding, weights string) *train.Rank {
	t.Helper()
	j := ask(t, "llama-3.1-8b", "rtx-4090", 4, func(p *plan.Plan, q *plan.Training) {
		q.Framework, q.Sharding, p.Weights, q.Method, q.SequenceLength, q.MicroBatch = framework, sharding, weights, "qlora", 512, 1
	})
	return &size(t, j)[0]
}

// TestFSDP2OverFourBits: weights that bitsandbytes packs in bytes stay whole on every rank of accelerate's FSDP2; axolotl's, packed in
// bfloat16, are shared once each device has loaded all of them. FSDP1 shares what lies on the host.
func TestFSDP2OverFourBits(t *testing.T) {
	frozen := func(framework, sharding string) float64 {
		return itemsOf(sharedBase(t, framework, sharding, "nf4"))["frozen weights"]
	}
	ends := 2 * 2.0 * 128256 * 4096
	whole := frozen("transformers", "ddp")
	for _, c := range []struct {
		framework, sharding string
		want                float64
	}{
		{"transformers", "fsdp", whole / 4}, {"transformers", "fsdp2", whole - ends*3/4}, {"axolotl", "fsdp2", whole / 4}, {"axolotl", "fsdp", whole / 4},
	} {
		if got := frozen(c.framework, c.sharding); math.Abs(got/c.want-1) > 0.001 {
			t.Errorf("%s under %s holds %.0f bytes of the base, want %.0f", c.framework, c.sharding, got, c.want)
		}
	}
}

// TestLoadingPhase: before the first step the base and a rank's part of it lie side by side, which torch goes on reserving.
func TestLoadingPhase(t *testing.T) {
	for _, c := range []struct {
		framework, sharding, weights string
		want                         bool
	}{{"axolotl", "fsdp2", "nf4", true}, {"axolotl", "fsdp", "nf4", false}, {"axolotl", "fsdp2", "bnb-int8", true}, {"transformers", "fsdp2", "bnb-int8", false}, {"transformers", "fsdp2", "nf4", false}} {
		r := sharedBase(t, c.framework, c.sharding, c.weights)
		last := &r.Phases[len(r.Phases)-1]
		if got := last.Name == "loading"; got != c.want {
			t.Errorf("%s, %s over %s: the last phase is %s", c.framework, c.sharding, c.weights, last.Name)
			continue
		}
		if !c.want {
			continue
		}
		base := itemsOf(r)["frozen weights"] * 5
		if got := float64(last.Total().Bytes); math.Abs(got/base-1) > 0.001 || ledger.At(r.Phases[3].Items, ledger.Device).Bytes == 0 {
			t.Errorf("loading holds %.0f bytes, want the whole and a quarter, %.0f", got, base)
		}
	}
}

// TestReplicatedBaseIsRemarked where it is what FSDP2 was asked for to avoid.
func TestReplicatedBaseIsRemarked(t *testing.T) {
	for sharding, want := range map[string]bool{"fsdp2": true, "fsdp": false} {
		j := ask(t, "llama-3.1-8b", "rtx-4090", 4, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, p.Weights, q.Method = "transformers", sharding, "nf4", "qlora"
		})
		found := false
		for _, n := range j.Notes {
			found = found || n.Code == "replicated_base"
		}
		if found != want {
			t.Errorf("%s: remarked %v", sharding, found)
		}
	}
}

// TestTorchtitansLoss by its versions: kernel by kernel, compiled with the model, and in chunks.
func TestTorchtitansLoss(t *testing.T) {
	for _, c := range []struct {
		version string
		compile bool
		want    float64 // bytes of a token and entry of the vocabulary
	}{{"2024.12", false, 16}, {"2024.12", true, 16}, {"2025.3", true, 16}, {"2025.8", false, 16}, {"2025.8", true, 4}, {"2026.8", false, 2}, {"2026.8", true, 0.5}} {
		j := ask(t, "llama-3-8b", "h100-sxm-80gb", 8, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Compile, q.SequenceLength, q.MicroBatch = "torchtitan@"+c.version, &c.compile, 8192, 1
		})
		if got, want := itemsOf(&size(t, j)[0])["logits and loss"], c.want*8192*128256; got != want {
			t.Errorf("torchtitan %s, compiled %v: %.0f bytes, want %.0f", c.version, c.compile, got, want)
		}
	}
}
