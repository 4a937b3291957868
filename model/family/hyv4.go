package family

// hy4: Tencent's Hy4: latent attention with sinks and a gate of every element, whose later layers share an indexer's choice;
// streams that are connected without being mixed with each other (transformers, models/hy_v4). The prediction layer has one
// stream, and an indexer of its own.
var hy4 = &Family{
	Name: "hy-v4", Classes: []string{"HYV4ForCausalLM"}, Types: []string{"hy_v4"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		a := c.latent()
		a.Sinks = c.Bool(false, "learnable_sink")
		if c.Bool(false, "gated_mla") {
			a.OutGate = a.DimV
		}
		e := c.deepseekExperts()
		e.Sigmoid, e.ChoiceBias, e.Scaled = true, true, true
		c.mixed(s, c.Layers(), a, e, int(c.IntOr(1, "first_k_dense_replace")))
		s.MTP = s.mtpOf(c.IntOr(0, "num_nextn_predict_layers"))
		if c.Bool(true, "enable_ihc") {
			s.Hyper = c.Int("hc_mult")
		}
		for i := range s.Layers {
			s.Layers[i].Hyper, s.Layers[i].HyperPlain = s.Hyper, s.Hyper > 1
		}
		return c.indexed(s)
	},
}
