package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// fsdp2 sizes Llama 3.1 8B on so many devices, all of whose weights train.
func fsdp2(t *testing.T, framework string, ranks int, change func(*plan.Training)) *train.Rank {
	j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", ranks, func(_ *plan.Plan, q *plan.Training) {
		q.Framework, q.Method, q.Sharding, q.Recompute, q.Precision = framework, "full", "fsdp2", "full", "bf16-mixed"
		q.SequenceLength, q.MicroBatch = 8192, 1
		if change != nil {
			change(q)
		}
	})
	return &size(t, j)[0]
}

// TestUnitsOfFSDP2: where a backward pass is at work there are a block, its gradients, the next block's buffer and what the block before
// is reduced from, in the format that gradients are summed in, and of units at the root both ends and the head's gradients.
func TestUnitsOfFSDP2(t *testing.T) {
	const block, ends = 218_112_000, 2 * 128256 * 4096 // of Llama 3.1 8B: 4·4096² for queries and output with half of it for keys and values, 3·4096·14336
	for _, c := range []struct {
		framework string
		phase     int
		numbers   float64 // copies of 2 bytes
	}{
		{"transformers", 0, ends + block},
		{"transformers", 1, 1.5*ends + 4*block},
		{"transformers", 2, 3 * ends},
		{"torchtitan", 0, ends},
		{"torchtitan", 1, 5 * block},
		{"torchtitan", 2, 2.5 * ends},
	} {
		r := fsdp2(t, c.framework, 8, nil)
		got := 0.0
		for _, it := range r.Phases[c.phase].Items {
			if it.Name == "gathered parameters" {
				got = float64(it.Bytes)
			}
		}
		if math.Abs(got/(2*c.numbers)-1) > 0.001 {
			t.Errorf("%s, %s: %.0f bytes are gathered, want %.0f", c.framework, r.Phases[c.phase].Name, got, 2*c.numbers)
		}
	}
}

// TestPoolsOfStreams: shards of gradients lie in a pool of their own, so that a peak at the loss, where none is alive, does not save
// their bytes.
func TestPoolsOfStreams(t *testing.T) {
	r := fsdp2(t, "torchtitan@2025.1", 8, nil)
	if r.Phases[r.Peak].Name != "forward and loss" {
		t.Fatalf("the peak is in %s", r.Phases[r.Peak].Name)
	}
	if shards := 4 * 8.03e9 / 8; r.Drivers.Pools < shards || r.Drivers.Pools > shards+4e9 || r.Reserved.Mid < r.Allocated.Mid+shards {
		t.Errorf("other streams keep %.0f bytes, shards of gradients are %.0f; %.0f are allocated and %.0f reserved", r.Drivers.Pools, shards, r.Allocated.Mid, r.Reserved.Mid)
	}
}

// TestGatheredInputs: where tensors are cut along the text, products of torchtitan keep their inputs whole, Megatron's do not.
func TestGatheredInputs(t *testing.T) {
	of := func(framework string, parallel bool) float64 {
		j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.Recompute, p.TP, q.SequenceParallel = framework, "full", "none", 8, &parallel
			q.SequenceLength, q.MicroBatch = 8192, 1
		})
		x := itemsOf(&size(t, j)[0])
		return x["saved activations"]
	}
	if titan, megatron := of("torchtitan", true), of("megatron", true); titan < megatron+2*2*4096*8192*32*7/8 {
		t.Errorf("torchtitan keeps %.0f bytes of blocks, Megatron %.0f", titan, megatron)
	}
}
