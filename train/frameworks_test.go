package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// itemsOf are the bytes of items by name in the forward pass.
func itemsOf(r *train.Rank) map[string]float64 {
	out := map[string]float64{}
	for _, it := range r.Phases[0].Items {
		if it.Place == ledger.Device {
			out[it.Name] += float64(it.Bytes)
		}
	}
	return out
}

// TestLitgptUntiesTheHead: its head is a matrix beside the embedding, of two bytes a number, whatever the model ties.
func TestLitgptUntiesTheHead(t *testing.T) {
	frozen := func(framework string) float64 {
		j := ask(t, "llama-3.2-1b", "a10g", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.SequenceLength, q.MicroBatch = framework, "lora", 512, 1
		})
		return itemsOf(&size(t, j)[0])["frozen weights"]
	}
	if got, want := frozen("litgpt")-frozen("transformers"), 2.0*128256*2048; got != want {
		t.Errorf("the head adds %.0f bytes, want %.0f", got, want)
	}
}

// TestLitgptKeepsInputsOfTwoPasses: with 4-bit weights inputs of products live until the next pass is done, where it is as long.
func TestLitgptKeepsInputsOfTwoPasses(t *testing.T) {
	saved := func(packed bool, recompute string) float64 {
		j := ask(t, "llama-2-7b", "a10g", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.SequenceLength, q.MicroBatch, q.Packing, q.Recompute = "litgpt", "qlora", 512, 2, &packed, recompute
		})
		x := itemsOf(&size(t, j)[0])
		return x["saved activations"] + x["inputs of blocks"]
	}
	inputs := 2.0 * 1024 * 32 * (2*4096 + 11008) // of the output projection and the feed-forward layer
	if got := saved(true, "none") - saved(false, "none"); math.Abs(got/inputs-1) > 0.01 {
		t.Errorf("the pass before keeps %.0f bytes, want %.0f", got, inputs)
	}
	if saved(true, "full") != saved(false, "full") {
		t.Error("a pass that is computed again keeps inputs")
	}
}

// TestLitgptAccumulates: a step has 16 samples when nothing is said, in passes of one rank's samples, so that FSDP holds whole
// gradients between them.
func TestLitgptAccumulates(t *testing.T) {
	j := ask(t, "gemma-2b", "a10g", 4, func(_ *plan.Plan, q *plan.Training) {
		q.Framework, q.Method, q.MicroBatch, q.SequenceLength = "litgpt", "full", 1, 512
	})
	if j.Training.Accumulation != 4 {
		t.Errorf("%d passes of 4 ranks", j.Training.Accumulation)
	}
	if got, want := itemsOf(&size(t, j)[0])["gradients"], 2*float64(j.Model.Params()); got < want {
		t.Errorf("gradients of %.0f bytes, want at least %.0f", got, want)
	}
}

// TestCompiledBlocks: what is compiled keeps no fp32 copies of norms' inputs and no product of gate and up; torchtune compiles a
// loss in chunks alone, which keeps its logits in 16 bits and two gradients of the head.
func TestCompiledBlocks(t *testing.T) {
	yes := true
	of := func(change func(*plan.Training)) map[string]float64 {
		j := ask(t, "llama-3.2-3b", "a100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.SequenceLength, q.MicroBatch, q.Recompute, q.Packing = "torchtune", 4096, 2, "none", &yes
			change(q)
		})
		return itemsOf(&size(t, j)[0])
	}
	plain := of(func(*plan.Training) {})
	compiled := of(func(q *plan.Training) { q.Compile = &yes })
	eager := of(func(q *plan.Training) { q.FusedLoss = &yes })
	chunked := of(func(q *plan.Training) { q.FusedLoss, q.Compile = &yes, &yes })
	logits := 8192.0 * 128256
	if plain["logits and loss"] != 12*logits || compiled["logits and loss"] != 12*logits || chunked["logits and loss"] != 2*logits {
		t.Errorf("the loss takes %v, compiled %v, in chunks %v", plain["logits and loss"], compiled["logits and loss"], chunked["logits and loss"])
	}
	if eager["logits and loss"] != 6*logits {
		t.Errorf("chunks that nothing compiles take %v, want %v", eager["logits and loss"], 6*logits)
	}
	if got, want := chunked["gradients of the head"], 2*2.0*128256*3072; got != want {
		t.Errorf("the head's gradients take %.0f bytes, want %.0f", got, want)
	}
	if got, want := plain["saved activations"]-compiled["saved activations"], 28*8192*(8.0*3072+2*8192); math.Abs(got/want-1) > 0.02 {
		t.Errorf("compiled blocks keep %.0f bytes less, want %.0f", got, want)
	}
}

// TestStatesLeaveWithTheirParameters: FSDP of either kind moves optimizer states to the host with parameters.
func TestStatesLeaveWithTheirParameters(t *testing.T) {
	for sharding, framework := range map[string]string{"fsdp": "transformers", "fsdp2": "torchtune"} {
		j := ask(t, "llama-3.1-70b", "a100-sxm-80gb", 8, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, q.SequenceLength, p.Offload = framework, sharding, 2048, &plan.Offload{Params: "host"}
		})
		if x := itemsOf(&size(t, j)[0])["optimizer states"]; x > 0 {
			t.Errorf("%s leaves %.0f bytes of states on the device", sharding, x)
		}
	}
}

// TestDeepSpeedCasts: its engine runs the whole model in 16 bits without autocast, so that a class that computes its loss in the
// model's format keeps it there, and norms that peft made fp32 are cast back; GPTQ's bases peft leaves alone.
func TestDeepSpeedCasts(t *testing.T) {
	of := func(framework, sharding, weights string) map[string]float64 {
		j := ask(t, "qwen-7b", "a100-sxm-80gb", 1, func(p *plan.Plan, q *plan.Training) {
			q.Framework, q.Sharding, p.Weights, q.Method, q.Precision = framework, sharding, weights, "qlora", "fp16-mixed"
			q.SequenceLength, q.MicroBatch, q.Recompute = 8192, 1, "full"
		})
		return itemsOf(&size(t, j)[0])
	}
	stream, logits := 32*8192*2*4096.0, 8192*151936.0
	for _, c := range []struct {
		framework, sharding, weights string
		stream, loss                 float64
	}{{"deepspeed", "zero2", "gptq", stream, 8 * logits}, {"deepspeed", "zero2", "nf4", stream, 8 * logits}, {"transformers", "none", "gptq", stream, 12 * logits}, {"transformers", "none", "nf4", 2 * stream, 12 * logits}} {
		x := of(c.framework, c.sharding, c.weights)
		if x["inputs of blocks"] != c.stream || x["logits and loss"] != c.loss {
			t.Errorf("%s over %s keeps %.0f of the stream and %.0f of logits, want %.0f and %.0f", c.framework, c.weights, x["inputs of blocks"], x["logits and loss"], c.stream, c.loss)
		}
	}
}

// TestEndsOfQuantisedBases: with transformers 5 embedding and head of a 4-bit base are in fp32, as the allocator's peaks of three
// presets on an RTX 5090 show (mcp-tool-shop-org/backpropagate, docs/receipts/2026-10-03-presets: GiB, one sequence).
func TestEndsOfQuantisedBases(t *testing.T) {
	for _, c := range []struct {
		id     string
		length plan.Int
		gib    float64
	}{{"qwen2.5-14b", 4096, 18.73}, {"mistral-small-24b", 4096, 22.82}, {"qwen2.5-32b", 2048, 25.98}} {
		at := func(framework string) float64 {
			return size(t, ask(t, c.id, "rtx-5090", 1, func(p *plan.Plan, q *plan.Training) {
				q.Framework, q.Method, q.Optimizer, q.Recompute = framework, "qlora", "paged-adamw-8bit", "full"
				q.SequenceLength, q.MicroBatch = c.length, 1
				q.LoRARank, q.LoRA, q.FusedLoss, p.Weights = 32, []string{"all-linear"}, new(bool), "nf4"
				*q.FusedLoss = true
			}))[0].Allocated.Mid / (1 << 30)
		}
		now, before := at("transformers@5.0.0"), at("transformers@4.56.0")
		if now < 0.95*c.gib || now > 1.05*c.gib || before > now-2 {
			t.Errorf("%s: %.2f GiB with transformers 5 and %.2f before, measured %.2f", c.id, now, before, c.gib)
		}
	}
}
