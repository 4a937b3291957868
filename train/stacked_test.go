package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/plan"
)

// TestStackedExperts: bitsandbytes and adapters are of linear layers, and of some families experts are none. Unsloth's notebooks print
// what trains: 9,292,800 numbers of Gemma 4 26B-A4B at rank 8, 3,981,312 of gpt-oss 20B, whose checkpoints of 4 bits are by layers.
func TestStackedExperts(t *testing.T) {
	of := func(id, framework, format string) (weights, adapters float64) {
		j := ask(t, id, "a100-sxm-80gb", 1, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.LoRARank, q.LoRA, p.Weights = framework, "qlora", 8, []string{"all-linear"}, format
		})
		x := itemsOf(&size(t, j)[0])
		return x["frozen weights"] / (1 << 30), x["adapters"] / 4
	}
	for _, c := range []struct {
		id, framework, format string
		least, most           float64 // GiB
		adapters              float64 // 0 where nobody printed it
	}{
		{"gemma-4-26b-a4b", "unsloth", "nf4", 42, 47, 9_292_800},
		{"gemma-4-26b-a4b", "transformers", "nf4", 42, 47, 0},
		{"llama-4-scout", "transformers", "nf4", 185, 205, 0},
		{"llama-4-scout", "axolotl", "nf4-all", 52, 60, 0},
		{"gpt-oss-20b", "unsloth", "nf4", 11, 14, 3_981_312},
		{"qwen3-30b-a3b", "transformers", "nf4", 15, 18, 0},
	} {
		w, a := of(c.id, c.framework, c.format)
		if w < c.least || w > c.most {
			t.Errorf("%s under %s: weights of %.1f GiB", c.id, c.framework, w)
		}
		if c.adapters > 0 && math.Abs(a/c.adapters-1) > 0.02 {
			t.Errorf("%s under %s: %.0f numbers train, and the run says %.0f", c.id, c.framework, a, c.adapters)
		}
	}
}

// TestEmbeddingsIn32: the Trainer keeps states of an embedding in fp32 beside others in 8 bits, from the version on that does.
func TestEmbeddingsIn32(t *testing.T) {
	of := func(framework string) float64 {
		j := ask(t, "llama-3.2-1b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Optimizer = framework, "adamw-8bit"
		})
		return itemsOf(&size(t, j)[0])["optimizer states"]
	}
	const embedding, eight = 128256 * 2048, 2 * (1 + 4.0/256)
	for framework, want := range map[string]float64{"transformers@4.52": (8 - eight) * embedding, "transformers@4.51": 0, "unsloth": (8 - eight) * embedding} {
		if got := of(framework) - of("torchtune"); math.Abs(got-want) > 1 {
			t.Errorf("%s: %.0f bytes more, want %.0f", framework, got, want)
		}
	}
}

// TestLossInChunks: unsloth's loss takes no more than its budget, and no more than half of what a device has left.
func TestLossInChunks(t *testing.T) {
	of := func(machine string, length plan.Int) float64 {
		yes := true
		j := ask(t, "llama-3.1-8b", machine, 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.SequenceLength, q.MicroBatch, q.Packing = "unsloth", "qlora", length, 1, &yes
		})
		return itemsOf(&size(t, j)[0])["logits and loss"]
	}
	if got, want := of("a100-sxm-80gb", 1024), 16.0*128256*1024; got != want {
		t.Errorf("a short sequence's takes %.0f, want %.0f", got, want)
	}
	if got := of("a100-sxm-80gb", 65536); got != 4<<30 {
		t.Errorf("a long one's takes %.0f", got)
	}
	if got := of("rtx-3060-ti", 65536); got >= 4<<30/2 || got < 1<<29 {
		t.Errorf("on a device of 8 GB it takes %.0f", got)
	}
}

// TestSharedExpertsAlone: a name under shared experts is of those; one without is of all.
func TestSharedExpertsAlone(t *testing.T) {
	of := func(targets ...string) float64 {
		j := ask(t, "qwen3-next-80b-a3b", "h200", 1, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.LoRARank, q.LoRA, p.Weights = "axolotl", "qlora", 16, targets, "nf4-all"
		})
		return itemsOf(&size(t, j)[0])["adapters"] / 4
	}
	// 48 layers with a shared expert of width 512 at hidden 2,048, 36 of them with a gated delta net
	shared := of("shared_expert.up_proj", "shared_expert.down_proj")
	if want := 48.0 * 2 * 16 * (2048 + 512); math.Abs(shared/want-1) > 1e-3 {
		t.Errorf("%.0f numbers of shared experts, want %.0f", shared, want)
	}
	if got, want := of("shared_expert.up_proj", "shared_expert.down_proj", "linear_attn.in_proj_ba")-shared, 36.0*16*(2048+64); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%.0f numbers of in_proj_ba, want %.0f", got, want)
	}
}

// TestStacksDequantised: experts that were packed as stacks are computed in 16 bits a block at a time, those of 8 bits in 32.
func TestStacksDequantised(t *testing.T) {
	for _, c := range []struct {
		id, method, format string
		bytes              float64
	}{
		{"glm-4.7-flash", "qlora", "nf4-all", 64 * 3 * 2048 * 1536 * 2},
		{"glm-4.7-flash", "lora", "bnb-int8-all", 64 * 3 * 2048 * 1536 * 4},
		{"llama-4-scout", "qlora", "nf4-all", 8192 * 5120 * 2}, // made linear layers before
	} {
		j := ask(t, c.id, "h200", 1, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.LoRA, p.Weights = "axolotl", c.method, []string{"q_proj"}, c.format
		})
		if got := itemsOf(&size(t, j)[0])["dequantised weights"]; math.Abs(got/c.bytes-1) > 0.3 {
			t.Errorf("%s in %s: %.0f bytes dequantised, want %.0f", c.id, c.format, got, c.bytes)
		}
	}
}
