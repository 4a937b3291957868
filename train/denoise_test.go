package train_test

import (
	"math"
	"strings"
	"testing"

	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/train"
)

// denoiser is a run of FLUX.1 dev on one device.
func denoiser(t *testing.T, change func(*plan.Plan, *plan.Training)) *train.Job {
	t.Helper()
	return ask(t, "flux.1-dev", "h200-sxm-141gb", 1, func(p *plan.Plan, q *plan.Training) {
		q.Framework, q.Recompute, q.MicroBatch = "transformers", "full", 1
		change(p, q)
	})
}

// TestDenoisersTrain: what huggingface.co/blog/flux-qlora (2025-06) says of FLUX.1 dev with gradient checkpointing and latents made
// before: 9 GB of QLoRA at rank 4 with 8-bit Adam (measured, 512 × 768), 26 GB of LoRA in bf16, and some 120 GB of all weights in
// bf16 (both its estimates), which are taken without the copies of a step that walks over all tensors at once.
func TestDenoisersTrain(t *testing.T) {
	for _, c := range []struct {
		name   string
		gb     float64
		change func(*plan.Plan, *plan.Training)
	}{
		{"QLoRA", 9, func(p *plan.Plan, q *plan.Training) {
			q.Method, q.LoRARank, q.Optimizer, q.SequenceLength, p.Weights = "qlora", 4, "adamw-8bit", 1536+512, "nf4"
		}},
		{"LoRA", 26, func(_ *plan.Plan, q *plan.Training) { q.Method, q.LoRARank, q.SequenceLength = "lora", 4, 1536+512 }},
		{"all weights", 120, func(_ *plan.Plan, q *plan.Training) { q.Precision, q.SequenceLength = "bf16", 1536+512 }},
	} {
		j := denoiser(t, c.change)
		if err := train.Check(j); err != nil {
			t.Fatal(c.name, err)
		}
		got := size(t, j)[0].Allocated
		if math.Abs(got.Mid/1e9/c.gb-1) > 0.15 && (c.gb*1e9 < got.Low || c.gb*1e9 > got.High) {
			t.Errorf("%s holds %.1f GB (%.1f to %.1f), said %g", c.name, got.Mid/1e9, got.Low/1e9, got.High/1e9, c.gb)
		}
	}
}

// TestDenoisersKeepWhatIsSaid: no head and no logits; a picture of four times the pixels keeps four times its tokens; text encoders
// and the autoencoder that stay are there with all their numbers, beside adapters too.
func TestDenoisersKeepWhatIsSaid(t *testing.T) {
	held := func(prefix string, change func(*plan.Plan, *plan.Training)) float64 {
		r := size(t, denoiser(t, change))[0]
		return parts(&r, "backward, begins", prefix)
	}
	lora := func(tokens int64, frozen ...string) func(*plan.Plan, *plan.Training) {
		return func(_ *plan.Plan, q *plan.Training) {
			q.Method, q.SequenceLength, q.Frozen = "lora", plan.Int(tokens), frozen
		}
	}
	if n := held("logits", lora(4608)); n != 0 {
		t.Errorf("%.0f bytes of logits", n)
	}
	small, large := held("checkpoints", lora(1024+512)), held("checkpoints", lora(4096+512))
	if want := 4608. / 1536; math.Abs(large/small/want-1) > 0.001 || large != 57*4608*3072*2 {
		t.Errorf("inputs of blocks %.0f and %.0f", small, large)
	}
	if n := held("text_encoder", lora(4608, "text_encoder", "vae")); n != 2*(4_762_310_656+123_060_480) {
		t.Errorf("text encoders of %.0f bytes", n)
	}
	whole, frozen := held("vae", lora(4608)), held("vae", lora(4608, "vae"))
	if whole != 0 || frozen != 2*83_819_683 {
		t.Errorf("autoencoder of %.0f and %.0f bytes", whole, frozen)
	}
}

// TestEncodersAreNetworks: what is booked for frozen encoders of text are the parameters of the networks of the catalog, and of bigG,
// which it has not, the same layers counted by hand.
func TestEncodersAreNetworks(t *testing.T) {
	network := func(id, part string) int64 {
		m, err := catalog.Model(id)
		if err != nil {
			t.Fatal(err)
		}
		return m.Part(part).Params()
	}
	const vocab, width = 32128, 4096
	t5 := network("t5-v1.1-xxl", "encoder") + vocab*width
	clip := network("clip-vit-large-patch14", "encoder") - 768*768 - 1 // the projection beside it and the scale of its logits
	const words, positions, h, inner, layers = 49408, 77, 1280, 5120, 32
	const bigG = (words+positions)*h + layers*(4*(h*h+h)+2*h*inner+inner+h+4*h) + 2*h + h*h // here the projection is its own
	for id, want := range map[string]int64{"flux.1-dev": t5 + clip, "stable-diffusion-3.5-large": t5 + clip + bigG} {
		j := ask(t, id, "h200-sxm-141gb", 1, func(_ *plan.Plan, q *plan.Training) {
			q.Framework, q.Recompute, q.MicroBatch, q.Method, q.Frozen = "transformers", "full", 1, "lora", []string{"text_encoder"}
		})
		if r := size(t, j)[0]; parts(&r, "backward, begins", "text_encoder") != float64(2*want) {
			t.Errorf("%s: text encoders of %.0f bytes, their networks have %d parameters", id, parts(&r, "backward, begins", "text_encoder"), want)
		}
	}
}

// TestDenoisersAreRefused: what trains no denoiser, or freezes what is not beside it, is named.
func TestDenoisersAreRefused(t *testing.T) {
	for want, change := range map[string]func(*plan.Plan, *plan.Training){
		"megatron":     func(_ *plan.Plan, q *plan.Training) { q.Framework = "megatron" },
		"text_encodre": func(_ *plan.Plan, q *plan.Training) { q.Frozen = []string{"text_encodre"} },
		"lm_head":      func(_ *plan.Plan, q *plan.Training) { q.Method, q.LoRA = "lora", []string{"lm_head"} },
		"distill":      func(_ *plan.Plan, q *plan.Training) { q.Objective = "grpo" },
	} {
		j := denoiser(t, change)
		if err := train.Check(j); err == nil || !strings.Contains(err.Error(), want) && want != "distill" {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := train.Check(ask(t, "llama-3.1-8b", "h100-sxm-80gb", 1, func(_ *plan.Plan, q *plan.Training) { q.Frozen = []string{"vae"} })); err == nil {
		t.Error("a decoder has an autoencoder beside it")
	}
}
