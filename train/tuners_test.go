package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// adapterNumbers are how many numbers of adapters a run of a model holds.
func adapterNumbers(t *testing.T, model, method string, rank plan.Int) float64 {
	t.Helper()
	j := ask(t, model, "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
		q.Framework, q.Method, q.LoRARank, q.SequenceLength, q.MicroBatch, q.Recompute = "transformers", method, rank, 512, 1, "none"
	})
	return float64(ledger.Find(size(t, j)[0].Phases[0].Items, "lora").Bytes) / 4
}

// TestTunersTrainWhatIsPublished: the counts that peft's comparison of methods printed for Llama 3.2 3B
// (huggingface/peft, method_comparison/MetaMathQA/results), and what sizes of matrices say of the others.
func TestTunersTrainWhatIsPublished(t *testing.T) {
	for _, c := range []struct {
		model, method string
		rank          plan.Int
		want          float64
	}{
		{"llama-3.2-3b", "boft", 4, 802816}, {"llama-3.2-3b", "ia3", 0, 286720}, {"llama-3.2-3b", "loha", 32, 18350080}, {"llama-3.2-3b", "oft", 96, 8171520},
		{"llama-3.2-3b", "prefix_tuning", 200, 11468800}, {"llama-3.2-3b", "prompt_tuning", 200, 614400},
		{"llama-2-7b", "lora", 8, 32 * 2 * 8 * 8192}, {"llama-2-7b", "dora", 8, 32 * 2 * (8*8192 + 4096)}, {"llama-2-7b", "adalora", 12, 32 * 2 * (12*8192 + 12)},
		{"llama-2-7b", "vera", 256, 32 * 2 * (256 + 4096)}, {"llama-2-7b", "lokr", 8, 32 * 2 * (64*64 + 8*128)},
	} {
		if got := adapterNumbers(t, c.model, c.method, c.rank); math.Abs(got-c.want) > 1 {
			t.Errorf("%s trains %.0f numbers of %s, want %.0f", c.method, got, c.model, c.want)
		}
	}
}

// TestTunersAreSized: each method has an answer, near to that of LoRA, with a band that is wider where it was not measured often.
func TestTunersAreSized(t *testing.T) {
	sized := func(method string) train.Estimate {
		j := ask(t, "llama-3.2-3b", "l40s", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Method, q.SequenceLength, q.MicroBatch = "transformers", method, 768, 4
		})
		return size(t, j)[0].Allocated
	}
	lora := sized("lora")
	for _, m := range train.Methods() {
		x := sized(m)
		switch {
		case m == "full" || m == "lora" || m == "dora" || m == "qlora":
			continue
		case x.Mid < 0.9*lora.Mid || x.Mid > 1.2*lora.Mid:
			t.Errorf("%s holds %.2f times what LoRA holds", m, x.Mid/lora.Mid)
		case (x.High-x.Low)/x.Mid <= (lora.High-lora.Low)/lora.Mid:
			t.Errorf("the band of %s is no wider than LoRA's", m)
		}
	}
}

// TestPeftAlone: methods of peft are refused by name where the framework does not train by it.
func TestPeftAlone(t *testing.T) {
	j := ask(t, "llama-3.1-8b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Framework, q.Method = "unsloth", "vera" })
	if err := train.Check(j); err == nil {
		t.Error("unsloth trains VeRA")
	}
}
