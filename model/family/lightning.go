package family

// minimaxText: MiniMax-Text-01 and M1: seven layers of linear attention to one of softmax attention, experts in every
// layer; what a branch reads is also its residual (arXiv:2501.08313; transformers, models/minimax).
var minimaxText = &Family{
	Name: "minimax", Classes: []string{"MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM", "MiniMaxForCausalLM"}, Types: []string{"minimax_text_01", "MiniMaxText01", "minimax_m1", "minimax"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := c.heads()
		lightning := SSM{Style: Lightning, Inner: a.Heads * a.DimK, Heads: a.Heads}
		e := MoE{Experts: c.Int("num_local_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Norm: true,
			Shared: c.sharedWidth()}
		softmax := c.softmaxLayers(n)
		s.Layers = hybrid(n, Layer{Norm: RMS, ResidualScale: true, MoE: e}, a, lightning, func(i int) bool { return softmax[i] })
		return s
	},
}

// softmaxLayers marks those with softmax attention.
func (c *Config) softmaxLayers(n int) []bool {
	if types := c.Strs("layer_types"); len(types) >= n {
		out := make([]bool, n)
		for i := range out {
			out[i] = types[i] == "full_attention"
		}
		return out
	}
	return c.marks("attn_type_list", n)
}

// sharedWidth: the key is a number, or a list with one for each layer that are all the same.
func (c *Config) sharedWidth() int64 {
	list := c.Ints("shared_intermediate_size")
	for _, n := range list {
		if n != list[0] {
			c.fail("shared_intermediate_size", nil, "differs between layers, which no published model's does", "correct the config.json")
		}
	}
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// bailingLinear: Ring-linear 2.0: Ling with linear attention in all but every layer_group_size-th layer
// (arXiv:2510.19338; inclusionAI/Ring-mini-linear-2.0, modeling_bailing_moe_linear_v2.py).
var bailingLinear = &Family{
	Name: "bailing-linear", Classes: []string{"BailingMoeLinearForCausalLM", "BailingMoeLinearV2ForCausalLM"}, Types: []string{"bailing_moe_linear", "bailing_moe_linear_v2"},
	Config: func(c *Config) *Spec {
		s := bailing.Config(c)
		n := len(s.Layers)
		group := max(1, int(c.Int("layer_group_size")))
		h := c.Int("num_attention_heads")
		linear := SSM{Style: Lightning, Inner: h * (s.Hidden / h), Heads: h, BiasIn: c.Bool(false, "use_qkv_bias"), HeadNorm: c.Bool(false, "use_qk_norm")}
		for i := range s.Layers {
			if (i+1)%group != 0 && i < n/group*group {
				s.Layers[i].Attn, s.Layers[i].SSM = Attention{}, linear
			}
		}
		return s
	},
}

// bailingHybrid: Ling and Ring 2.5: linear attention as in Ring-linear, and latent attention in every layer_group_size-th
// layer (inclusionAI/Ring-2.5-1T; vLLM, model_executor/models/bailing_moe_linear.py). Ling 3 has delta attention in its place,
// and a gate of each head of the latent one (Megatron-Bridge, models/bailing/bailing_moe3_bridge.py).
var bailingHybrid = &Family{
	Name: "bailing-hybrid", Classes: []string{"BailingMoeV2_5ForCausalLM", "BailingMoeV3ForCausalLM"}, Types: []string{"bailing_hybrid"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		linear, a := c.bailingMixers(s.Hidden)
		e := c.bailingExperts()
		e.Sigmoid, e.ChoiceBias, e.Scaled = true, true, true
		group := max(1, int(c.IntOr(8, "layer_group_size")))
		s.Layers = denseFirst(n, int(c.IntOr(0, "first_k_dense_replace")), 1, Layer{Norm: RMS}, c.gated(), e)
		types := c.Strs("layer_types")
		for i := range s.Layers {
			full := (i+1)%group == 0 || i >= n/group*group
			if len(types) >= n {
				full = types[i] == "full_attention"
			}
			if full {
				s.Layers[i].Attn = a
			} else {
				s.Layers[i].SSM = linear
			}
		}
		last := Layer{Norm: RMS, Attn: a, MoE: e}
		s.MTP = repeat(last, int(min(c.IntOr(0, "num_nextn_predict_layers"), 8)))
		return s
	},
}

// bailingMixers of the layers that do not attend, and of those that do.
func (c *Config) bailingMixers(hidden int64) (SSM, Attention) {
	a := c.latent()
	n := c.Int("num_attention_heads")
	if c.Class() != "BailingMoeV3ForCausalLM" && !c.Has("short_conv_kernel_size") {
		h := c.IntOr(n, "num_kv_heads_for_linear_attn")
		return SSM{Style: Lightning, Inner: h * (hidden / max(1, h)), Heads: h, BiasIn: c.Bool(false, "attention_bias"),
			HeadNorm: c.Bool(true, "use_qk_norm")}, a
	}
	if c.Str("gated_attention_proj_granularity_type") == "head_wise" {
		a.OutGate = 1
	}
	wide := c.Bool(false, "no_kda_lora")
	return SSM{Style: DeltaHeads, Conv: c.IntOr(4, "short_conv_kernel_size"), Inner: n * c.IntOr(128, "head_dim"), Heads: n,
		NoConvBias: true, WideGate: wide, WideDecay: wide}, a
}
