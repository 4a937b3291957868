package family

// openMoE: llama's layers with wider heads; in every moe_layer_interval-th layer experts, and behind them an MLP with a norm of
// its own. The gate of an MLP is itself gated, so its matrix has twice the rows (arXiv:2402.01739; OrionZheng/openmoe-8b,
// modeling_openmoe.py).
var openMoE = &Family{
	Name: "openmoe", Classes: []string{"OpenMoeForCausalLM"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		twice := c.Str("hidden_act") == "swiglu"
		f := MLP{Inner: c.Int("intermediate_size"), Gated: c.Bool(true, "gated", "mlp_gated"), GateTwice: twice}
		if !f.Gated {
			c.lacks("gated", false, "is of no published OpenMoE, and is not described", "correct the config.json")
		}
		e := MoE{Experts: c.Int("num_experts"), Used: c.Int("topk", "router_topk"), Inner: f.Inner, Gated: true, GateTwice: twice, Behind: true}
		step := max(1, c.IntOr(1, "moe_layer_interval"))
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads(), FFN: f}, c.Layers())
		for i := range s.Layers {
			if int64(i+1)%step == 0 {
				s.Layers[i].MoE = e
			}
		}
		return s
	},
}

// arctic: Snowflake Arctic: experts beside a dense MLP as wide as the stream, each with a norm of its own
// (transformers-style modeling_arctic.py of Snowflake/snowflake-arctic-instruct).
var arctic = &Family{
	Name: "arctic", Classes: []string{"ArcticForCausalLM"}, Types: []string{"arctic"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		e := MoE{Experts: c.Int("num_local_experts"), Used: c.IntOr(2, "num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Behind: true}
		s.Layers = repeat(Layer{Norm: RMS, Attn: c.heads(), MoE: e, FFN: MLP{Inner: s.Hidden, Gated: true}}, c.Layers())
		return s
	},
	Header: func(m *Meta) *Spec { return m.probed(0, SiLU) },
}
