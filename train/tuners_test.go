package train_test

import (
	"math"
	"testing"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// adapterNumbers are how many numbers of adapters a run holds.
func adapterNumbers(t *testing.T, method string) float64 {
	t.Helper()
	j := ask(t, "llama-2-7b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) {
		q.Framework, q.Method, q.SequenceLength, q.MicroBatch, q.Recompute = "transformers", method, 512, 1, "none"
	})
	return float64(ledger.Find(size(t, j)[0].Phases[0].Items, "lora").Bytes) / 4
}

// TestTunersTrainWhatIsPublished: 614,400 numbers of IA3 for Llama 7B (arXiv:2205.05638, peft's own list of modules), and what
// sizes of matrices and tokens say of the others.
func TestTunersTrainWhatIsPublished(t *testing.T) {
	for method, want := range map[string]float64{
		"lora": 32 * 2 * 8 * 8192, "dora": 32 * 2 * (8*8192 + 4096), "adalora": 32 * 2 * (12*8192 + 12), "vera": 32 * 2 * (256 + 4096),
		"loha": 32 * 2 * 2 * 8 * 8192, "lokr": 32 * 2 * (64*64 + 8*128), "ia3": 614400, "oft": 32 * 2 * 4096 * 31 / 2, "boft": 32 * 2 * 5 * 4096,
		"prompt_tuning": 20 * 4096, "prefix_tuning": 20 * 32 * 2 * 4096,
	} {
		if got := adapterNumbers(t, method); math.Abs(got-want) > 1 {
			t.Errorf("%s trains %.0f numbers, want %.0f", method, got, want)
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
