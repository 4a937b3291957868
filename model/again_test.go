package model_test

import (
	"testing"

	"github.com/memwall/memwall/model"
)

// TestModulesAgain: what Megatron's modules save, in bytes of a run of 8,192 tokens over 23 layers of experts of a Nemotron 3
// Nano: 4.194 GB measured of moe_act, and 1.014 of layernorm where whole layers of experts run again
// (NVIDIA-NeMo/Megatron-Bridge, skills/nemo-mbridge-perf-activation-recompute). Of latent attention queries, keys and values go.
func TestModulesAgain(t *testing.T) {
	base := model.Style{FusedNorm: true, FusedGlu: true, WeighsEarly: true}
	for _, c := range []struct {
		name, id, kind string
		before, after  model.Modules
		want           float64
	}{
		{"moe_act", "nemotron-3-nano-30b-a3b", "experts", 0, model.ExpertActs, 4.194e9 / 8192 / 23},
		{"layernorm beside moe", "nemotron-3-nano-30b-a3b", "experts", model.ExpertLayer, model.ExpertLayer | model.Norms, 1.014e9 / 8192 / 23},
		{"mla_up_proj", "deepseek-v3", "latent attention, experts", 0, model.LatentUps, 2*128*(2*192+128) + 2*(1536+512)},
		{"mlp", "llama-3.1-8b", "attention", 0, model.DenseMLP, 2 * (4096 + 3*14336)},
		{"mlp has none of experts", "nemotron-3-nano-30b-a3b", "experts", 0, model.DenseMLP, 0},
		{"layernorm is fused", "llama-3.1-8b", "attention", 0, model.Norms, 0},
		{"core_attn", "llama-3.1-8b", "attention", 0, model.CoreAttention, 4 * 32},
		{"shared_experts", "deepseek-v3", "latent attention, experts", 0, model.SharedExperts, 2 * 3 * 2048},
	} {
		k := kindOf(t, build(t, c.id), c.kind)
		before, after := base, base
		before.Again, after.Again = c.before, c.after
		if got := float64(k.SavedBytes(before) - k.SavedBytes(after)); got < 0.998*c.want || got > 1.002*c.want {
			t.Errorf("%s: %g B of a token saved, want %g", c.name, got, c.want)
		}
	}
}

func kindOf(t *testing.T, m *model.Model, name string) *model.Kind {
	t.Helper()
	for i := range m.Decoder().Kinds {
		if k := &m.Decoder().Kinds[i]; k.Name == name {
			return k
		}
	}
	t.Fatalf("%s has no layers of %s", m.ID, name)
	return nil
}

// TestAgainIsNoMoreThanAll: modules save no more than whole layers, and their backward pass needs what they saved at most.
func TestAgainIsNoMoreThanAll(t *testing.T) {
	base := model.Style{FusedNorm: true, FusedGlu: true, WeighsEarly: true}
	for _, id := range []string{"deepseek-v3", "nemotron-3-nano-30b-a3b", "llama-3.1-8b", "gpt-oss-20b", "qwen3-30b-a3b"} {
		p := build(t, id).Decoder()
		for i := range p.Kinds {
			k := &p.Kinds[i]
			all, peak := k.SavedBytes(base), k.BackwardPeak(base)
			for m := model.Modules(1); m < 1<<7; m++ {
				s := base
				s.Again = m
				kept, again := k.SavedBytes(s), k.BackwardPeak(s)
				if kept > all || kept < 0 || again < peak || again > peak+all-kept {
					t.Fatalf("%s, %s, modules %b: %d of %d B kept, backward %d of %d", id, k.Name, m, kept, all, again, peak)
				}
			}
		}
	}
}
