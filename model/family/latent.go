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
	}}
}
