package family

// deepseek4: DeepSeek V4: one key and value for all heads within a window of 128, beside it one row for every 4 tokens, of
// which an indexer chooses, or for every 128; a low-rank output, experts in every layer, and hyper-connections for
// residuals (transformers, models/deepseek_v4).
var deepseek4 = &Family{
	Name: "deepseek4", Classes: []string{"DeepseekV4ForCausalLM"}, Types: []string{"deepseek_v4", "deepseek_ref"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		s.Hyper = c.Int("hc_mult")
		ratios := c.compression(n)
		l := Layer{Norm: RMS, Hyper: s.Hyper, MoE: c.v4Experts()}
		l.Attn = Attention{Heads: c.Int("num_attention_heads"), KVHeads: 1, DimK: c.Int("head_dim"), QRank: c.Int("q_lora_rank"), OneKV: true, Sinks: true,
			Window: c.Int("sliding_window"), OutGroups: c.Int("o_groups"), OutRank: c.Int("o_lora_rank")}
		l.Attn.DimV = l.Attn.DimK
		if l.Attn.Heads%l.Attn.OutGroups != 0 {
			c.fail("o_groups", c.m["o_groups"], "does not divide the attention heads", "correct the config.json")
			return s
		}
		s.Layers = repeat(l, n)
		for i := range s.Layers {
			s.Layers[i].MoE.ChoiceBias = int64(i) >= c.IntOr(0, "num_hash_layers")
			s.Layers[i].Attn.compress(ratios[i], Indexer{Heads: c.Int("index_n_heads"), Dim: c.Int("index_head_dim")}, c.chosen())
		}
		s.MTP = repeat(l, int(min(c.IntOr(0, "num_nextn_predict_layers"), 8)))
		return s
	},
}

// v4Overlap is the ratio at which neighbouring rows share tokens and an indexer chooses among them.
const v4Overlap = 4

func (a *Attention) compress(ratio int64, x Indexer, rows int64) {
	a.Compress = ratio
	if ratio == v4Overlap {
		a.Index, a.Chosen = x, rows*ratio
	}
}

// compression reads how many tokens share a row in each layer: 0 for none.
func (c *Config) compression(n int) []int64 {
	ratios := c.Ints("compress_ratios")
	if len(ratios) < n {
		c.fail("compress_ratios", nil, "does not have a number for each layer", "give the full config.json of the model")
		return make([]int64, n)
	}
	return ratios
}

// v4Experts: the first layers choose by a table of tokens, and so have no bias.
func (c *Config) v4Experts() MoE {
	e := MoE{Experts: c.Int("n_routed_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("moe_intermediate_size"), Gated: true, Sigmoid: true, ChoiceBias: true,
		Norm: c.Bool(true, "norm_topk_prob"), Scaled: true}
	e.Shared = e.Inner * c.IntOr(1, "n_shared_experts")
	return e
}
