package family

// Architectures of GGUF files whose tensors tell the network: those of llama.cpp that have no family of their own here
// (src/llama-arch.cpp; one file each under src/models). The period is that of the layers that see everything, where
// llama.cpp applies a window that the file names without a list.
var probedFiles = []*Family{
	probedFile("refact", 0, SiLU),       // ALiBi, one KV head
	probedFile("jais", 0, SiLU),         // ALiBi, fused qkv with biases (arXiv:2308.16149)
	probedFile("jais2", 0, ReLU2),       // layer norms with biases
	probedFile("maincoder", 0, SiLU),    // Qwen3's layers
	probedFile("dream", 0, SiLU),        // Qwen2's layers, read both ways: it denoises text (arXiv:2508.15487)
	probedFile("llada", 0, SiLU),        // Llama's layers, likewise (arXiv:2502.09992)
	probedFile("llada-moe", 0, SiLU),    // OLMoE's
	probedFile("rnd1", 0, SiLU),         // Qwen3's with experts
	probedFile("paddleocr", 0, SiLU),    // ERNIE 4.5's
	probedFile("hunyuan_vl", 0, SiLU),   // Hunyuan's
	probedFile("hy_v3", 0, SiLU),        // sigmoid routing behind dense layers
	probedFile("laguna", 4, SiLU),       // gated attention, windows, experts
	probedFile("smallthinker", 4, ReLU), // experts of ReLU; three of four layers slide (arXiv:2507.20984)
	probedFile("mellum", 4, SiLU),       // experts; three of four layers slide
	probedFile("cogvlm", 0, SiLU),       // its experts for image tokens are further tensors of the file
	probedFile("chameleon", 0, SiLU),    // layer norms of queries and keys (arXiv:2405.09818)
	probedFile("talkie", 0, SiLU),
	probedFile("openelm", 0, SiLU), // heads and MLPs differ from layer to layer (arXiv:2404.14619)
	probedFile("plamo3", 8, SiLU),
	probedFile("llama-embed", 0, SiLU),
	plm,
	probedFile("plamo", 0, SiLU), // one norm, branches side by side
	probedFile("cohere2moe", 4, SiLU),
	probedFile("grovemoe", 0, SiLU), // its smaller experts are further tensors of the file (arXiv:2508.07785)
	probedFile("bitnet", 0, ReLU2),  // norms within the branches are further tensors of the file (arXiv:2402.17764)
}

// plm compresses keys and values and caches them in full (arXiv:2503.12167).
var plm = &Family{Name: "plm", Header: func(m *Meta) *Spec {
	s := m.base()
	h := m.Int("attention.head_count")
	a := Attention{Heads: h, KVHeads: h, KVRank: m.Int("attention.kv_lora_rank"), DimK: m.Int("attention.key_length"), DimV: m.Int("attention.value_length"), Expanded: true}
	a.Nope = a.DimK - m.Int("rope.dimension_count")
	m.must("attention.head_count_kv", h, "attention.head_count")
	s.Layers = repeat(Layer{Norm: RMS, Attn: a, FFN: MLP{Inner: m.Int("feed_forward_length"), Act: ReLU2}}, m.Layers())
	return s
}}

func probedFile(arch string, period int64, act Activation) *Family {
	return &Family{Name: arch, Header: func(m *Meta) *Spec { return m.probed(period, act) }}
}
