package family

// Architectures that are DeepSeek-V3's under another name.
var (
	// mistral4 is the text model of Mistral Small 4 (transformers, models/mistral4).
	mistral4 = likeDeepseek("mistral4", "Mistral4ForCausalLM", "mistral4", false)
	// glm4lite is GLM-4.7-Flash (transformers, models/glm4_moe_lite).
	glm4lite = likeDeepseek("glm4-lite", "Glm4MoeLiteForCausalLM", "glm4_moe_lite", true)
)

// likeDeepseek: biased says whether the router has a bias that its config does not mention.
func likeDeepseek(name, class, kind string, biased bool) *Family {
	return &Family{Name: name, Classes: []string{class}, Types: []string{kind}, Config: func(c *Config) *Spec {
		s := deepseek2.Config(c)
		for _, layers := range [][]Layer{s.Layers, s.MTP} {
			for i := range layers {
				e := &layers[i].MoE
				if e.Experts > 0 {
					e.Sigmoid, e.ChoiceBias = biased, biased
				}
			}
		}
		return s
	}, Header: func(m *Meta) *Spec { return deepseek2.Header(m) }}
}

// LongCat is the name of the family whose files number two layers as one.
const LongCat = "longcat-flash"

// longcat: LongCat-Flash: blocks of two layers of latent attention with a dense MLP each; experts run beside the first MLP,
// and some choices of the router return their input (arXiv:2509.01322; transformers, models/longcat_flash). A block is two
// layers here.
var longcat = &Family{
	Name: LongCat, Classes: []string{"LongcatFlashForCausalLM"}, Types: []string{"longcat_flash"},
	Config: func(c *Config) *Spec {
		s := c.base(false)
		dense := Layer{Norm: RMS, Attn: c.latent(), FFN: MLP{Inner: c.Int("ffn_hidden_size"), Gated: true}}
		routed := dense
		routed.MoE = MoE{Experts: c.Int("n_routed_experts"), Used: c.Int("moe_topk"), Inner: c.Int("expert_ffn_hidden_size"), Gated: true, ChoiceBias: true, Scaled: true,
			WithFFN: true, Zero: c.IntOr(0, "zero_expert_num"), Norm: c.Bool(false, "norm_topk_prob")}
		for range c.Layers() {
			s.Layers = append(s.Layers, routed, dense)
		}
		s.MTP = repeat(dense, int(min(c.IntOr(0, "num_nextn_predict_layers", "mtp_num_layers"), 8)))
		s.MTPTable = len(s.MTP) > 0
		return s
	},
}
