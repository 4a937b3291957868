package family

// deepseek32: DeepSeek V3.2: V3 with an indexer in every layer (arXiv:2512.02556; transformers, models/deepseek_v32).
var deepseek32 = &Family{
	Name: "deepseek32", Classes: []string{"DeepseekV32ForCausalLM"}, Types: []string{"deepseek_v32"},
	Config: func(c *Config) *Spec { return c.indexed(deepseek2.Config(c)) },
	Header: indexedHeader,
}

// indexedHeader is DeepSeek-V3's with an indexer in the layers whose tensors have one.
func indexedHeader(m *Meta) *Spec {
	s := deepseek2.Header(m)
	x := Indexer{Heads: m.Int("attention.indexer.head_count"), Dim: m.Int("attention.indexer.key_length")}
	for i := range s.Layers {
		s.Layers[i].Attn.Chosen = m.IntOr(0, "attention.indexer.top_k")
		if m.InLayer(i, "indexer.attn_k.weight") {
			s.Layers[i].Attn.Index = x
		}
	}
	return s
}

// glmDSA: GLM-5: the same network; later ones share an indexer's choice among a few layers, which then have none
// (arXiv:2602.15763; transformers, models/glm_moe_dsa).
var glmDSA = &Family{
	Name: "glm-dsa", Classes: []string{"GlmMoeDsaForCausalLM"}, Types: []string{"glm_moe_dsa"},
	Config: func(c *Config) *Spec {
		s := deepseek2.Config(c)
		s.MTPEnds = false // published files keep none of their own
		for i := range s.Layers {
			s.Layers[i].MoE.Sigmoid, s.Layers[i].MoE.ChoiceBias = s.Layers[i].MoE.Experts > 0, s.Layers[i].MoE.Experts > 0
		}
		return c.indexed(s)
	},
	Header: indexedHeader,
}

// indexed gives each layer its indexer. Layers of prediction have one of their own.
func (c *Config) indexed(s *Spec) *Spec {
	x := Indexer{Heads: c.Int("index_n_heads"), Dim: c.Int("index_head_dim")}
	if s.Layers[0].Attn.QRank == 0 {
		c.fail("q_lora_rank", nil, "is missing: the indexer's queries are made of it", "give the full config.json of the model")
	}
	shares := c.sharedIndexers(len(s.Layers))
	for i := range s.Layers {
		s.Layers[i].Attn.Chosen = c.chosen()
		if !shares[i] {
			s.Layers[i].Attn.Index = x
		}
	}
	for i := range s.MTP {
		s.MTP[i].Attn.Index, s.MTP[i].Attn.Chosen = x, c.chosen()
	}
	return s
}

// sharedIndexers marks layers that take the choice of an earlier one: a list of names, or all but every
// index_topk_freq-th behind the first.
func (c *Config) sharedIndexers(n int) []bool {
	out := make([]bool, n)
	types := c.Strs("indexer_types")
	freq, offset := max(1, c.IntOr(1, "index_topk_freq")), c.IntOr(2, "index_skip_topk_offset")
	for i := range out {
		out[i] = max(int64(i)-offset+1, 0)%freq != 0
		if len(types) >= n {
			out[i] = types[i] == "shared"
		}
	}
	return out
}

// minimaxM3: grouped-query attention with an indexer over blocks in all but the first layers, routed and shared
// experts in the same (transformers, models/minimax_m3_vl).
var minimaxM3 = &Family{
	Name: "minimax-m3", Classes: []string{"MiniMaxM3ForCausalLM", "MiniMaxM3SparseForCausalLM"}, Types: []string{"minimax_m3", "minimax_m3_vl_text"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		n := c.Layers()
		a := normed(c.heads())
		if c.Bool(false, "attention_output_gate") {
			c.lacks("attention_output_gate", true, "is of no published MiniMax-M3, and is not described", "correct the config.json")
		}
		x, sparse := Indexer{}, make([]bool, n)
		if t := c.Sub("sparse_attention_config"); t != nil && t.Bool(true, "use_sparse_attention") {
			x = Indexer{Heads: t.Int("sparse_num_index_heads"), Dim: t.Int("sparse_index_dim"), Blocks: true}
			sparse = t.marks("sparse_attention_freq", n)
		}
		e := MoE{Experts: c.Int("num_local_experts"), Used: c.Int("num_experts_per_tok"), Inner: c.Int("intermediate_size"), Gated: true, Sigmoid: true,
			ChoiceBias: c.Bool(true, "use_routing_bias"), Norm: true, Scaled: true, Shared: c.IntOr(0, "shared_intermediate_size") * c.IntOr(1, "n_shared_experts")}
		experts := c.marks("moe_layer_freq", n)
		s.Layers = repeat(Layer{Norm: RMS, Attn: a}, n)
		for i := range s.Layers {
			l := &s.Layers[i]
			if sparse[i] {
				l.Attn.Index, l.Attn.Chosen = x, c.chosen()
			}
			if l.MoE = e; !experts[i] {
				l.MoE, l.FFN = MoE{}, MLP{Inner: c.Int("dense_intermediate_size"), Gated: true}
			}
		}
		return s
	},
}
