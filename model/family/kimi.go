package family

// kimiLinear: Kimi Linear: three layers of Kimi delta attention to one of latent attention without rotary positions,
// experts as in DeepSeek-V3 (arXiv:2510.26692; moonshotai/Kimi-Linear-48B-A3B-Instruct, modeling_kimi.py).
// Kimi K3's text model adds gates, experts on a projection, and branches that read earlier blocks.
var kimiLinear = &Family{
	Name: "kimi-linear", Classes: []string{"KimiLinearForCausalLM"}, Types: []string{"kimi_linear"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		kda, attends := c.kimiDelta(n)
		a := c.latent()
		a.NoRope = c.Bool(false, "mla_use_nope")
		if c.Bool(false, "mla_use_output_gate") {
			a.OutGate = a.DimV
		}
		rest := denseFirst(n, int(c.IntOr(0, "first_k_dense_replace")), max(1, int(c.IntOr(1, "moe_layer_freq"))), Layer{Norm: RMS}, c.gated(), c.kimiExperts())
		for i := range rest {
			if attends[i] {
				rest[i].Attn = a
			} else {
				rest[i].SSM = kda
			}
		}
		s.Layers = rest
		if s.Recall = c.IntOr(0, "attn_res_block_size") > 0; s.Recall {
			for i := range s.Layers {
				s.Layers[i].Recall = true
			}
		}
		return s
	},
	Header: func(m *Meta) *Spec {
		s := deepseek2.Header(m)
		h := m.Int("attention.head_count")
		kv, _ := m.PerLayer("attention.head_count_kv", len(s.Layers))
		kda := SSM{Style: DeltaHeads, Conv: m.Int("ssm.conv_kernel"), Inner: h * m.Int("kda.head_dim"), Heads: h, NoConvBias: true}
		for i := range s.Layers {
			if s.Layers[i].Attn.NoRope = true; i < len(kv) && kv[i] == 0 {
				s.Layers[i].Attn, s.Layers[i].SSM = Attention{}, kda
			}
		}
		return s
	},
}

// kimiDelta reads the delta attention, and which layers have latent attention instead; layers count from 1.
func (c *Config) kimiDelta(n int) (SSM, []bool) {
	attends := make([]bool, n)
	t := c.Sub("linear_attn_config")
	if t == nil {
		c.fail("linear_attn_config", nil, "is missing", "give the full config.json of the model")
		return SSM{}, attends
	}
	for _, i := range t.Ints("full_attn_layers") {
		if i > 0 && i <= int64(n) {
			attends[i-1] = true
		}
	}
	h := t.Int("num_heads")
	return SSM{Style: DeltaHeads, Conv: t.IntOr(4, "short_conv_kernel_size"), Inner: h * t.Int("head_dim"), Heads: h, NoConvBias: true, WideGate: t.Bool(false, "use_full_rank_gate")}, attends
}

func (c *Config) kimiExperts() MoE {
	e := MoE{Experts: c.IntOr(0, "num_experts"), Gated: true, Sigmoid: c.Str("moe_router_activation_func") != "softmax", ChoiceBias: true,
		Norm: c.Bool(true, "moe_renormalize"), Scaled: c.Float(1, "routed_scaling_factor") != 1, Latent: c.IntOr(0, "routed_expert_hidden_size"),
		LatentNorm: c.Bool(false, "latent_moe_use_norm")}
	if e.Experts == 0 {
		return e
	}
	e.Used, e.Inner = c.Int("num_experts_per_token", "num_experts_per_tok"), c.Int("moe_intermediate_size")
	e.Shared = e.Inner * c.IntOr(0, "num_shared_experts")
	return e.grouped(c.IntOr(0, "num_expert_group"), c.IntOr(0, "topk_group"))
}
