package family

// Architectures that are known and not described: each is refused with what is missing.

const fromFiles = "give the folder with its GGUF or safetensors files for exact weights"

// kimiK3: the text model is read as kimi-linear; what carries images to it is not public.
var kimiK3 = &Family{
	Name: "kimi-k3", Classes: []string{"KimiK3ForConditionalGeneration"}, Types: []string{"kimi_k3"},
	Config: func(c *Config) *Spec {
		c.lacks("vision_config", nil, "describes an encoder (patchmergerv2, mlp2) whose class is not public", "give its text_config alone to size the text model")
		return &Spec{}
	},
}
