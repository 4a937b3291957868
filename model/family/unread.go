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

// xgenMM: BLIP-3 (arXiv:2408.08872).
var xgenMM = unread("xgen-mm", "XGenMMModelForConditionalGeneration", "xgenmm", "vision_tokenizer_config",
	"is of a perceiver resampler and of tables grown by the tokenizer, whose sizes the config does not give")

// infiMM: a Flamingo (arXiv:2204.14198) around Mistral.
var infiMM = unread("infimm", "InfiMMZephyrModel", "infimm-zephyr", "visual", "is of an EVA encoder, a perceiver resampler and gated cross-attention that are not described")

// cogVLM2: every layer has a second set of matrices for image tokens (arXiv:2408.16500).
var cogVLM2 = unread("cogvlm2", "CogVLMVideoForCausalLM", "cogvlm2", "vision_config", "is of a model with experts for image tokens in every layer, which are not described")

// qwenOmni: Qwen2.5-Omni and Qwen3-Omni (arXiv:2503.20215, arXiv:2509.17765).
var qwenOmni = &Family{
	Name: "qwen-omni", Types: []string{"qwen2_5_omni", "qwen3_omni_moe"},
	Classes: []string{"Qwen2_5OmniModel", "Qwen2_5OmniForConditionalGeneration", "Qwen3OmniMoeForConditionalGeneration"},
	Config: func(c *Config) *Spec {
		c.lacks("talker_config", nil, "is of a talker and a vocoder, which are not described", fromFiles)
		return &Spec{}
	},
}

func unread(name, class, kind, field, problem string) *Family {
	return &Family{Name: name, Classes: []string{class}, Types: []string{kind}, Config: func(c *Config) *Spec {
		c.lacks(field, nil, problem, fromFiles)
		return &Spec{}
	}}
}
