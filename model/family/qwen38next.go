package family

// qwen38next: Qwen3.8 Flash Next, the preview of Qwen4: gated delta nets, every fourth layer attends to what an indexer
// chooses, experts everywhere, and a table of 20 million rows that is looked up by the last two and three tokens
// (NVIDIA-NeMo/Automodel, components/models/qwen3_8_flash_next). The four gated residual streams, whose low-rank matrices
// are 0.4 % of the weights, are not described: they count as Unsure.
var qwen38next = &Family{
	Name:    "qwen3_8_flash_next",
	Classes: []string{"Qwen3_8_FlashNextForConditionalGeneration", "Qwen3_8FlashNextForConditionalGeneration", "Qwen4ExpForConditionalGeneration"},
	Types:   []string{"qwen3_8_flash_next", "qwen3_8_flash_next_text", "qwen4_exp", "qwen4_exp_text"},
	Config: func(c *Config) *Spec {
		t := c.Text()
		s := c.outerTie(t.qwenHybrid(true, t.IntOr(0, "mtp_num_hidden_layers")))
		s.Vision = c.qwenVision()
		s.Unsure = unwrittenStreams
		if len(t.Ints("ple_layer_ids")) > 0 {
			s.Grams, s.GramWidth = t.Int("ngram_vocab_size_base"), t.IntOr(s.Hidden, "ple_embed_dim")
		}
		x := Indexer{Heads: t.Int("indexer_n_heads"), Dim: t.Int("indexer_head_dim"), Every: t.IntOr(1, "indexer_compress_ratio")}
		for _, layers := range [][]Layer{s.Layers, s.MTP} {
			for i := range layers {
				if layers[i].Attn.Heads > 0 {
					layers[i].Attn.Index, layers[i].Attn.Chosen = x, t.IntOr(0, "indexer_budget")
				}
			}
		}
		return s
	},
}

// unwrittenStreams is the share of the weights in matrices of residual streams that are not described.
const unwrittenStreams = 0.005
