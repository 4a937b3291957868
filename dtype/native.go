package dtype

// Use describes what a format is for: hardware that computes in it, files that store it, and what training in it
// requires. These are facts about hardware and practice; nothing is computed from them.
type Use struct {
	Format *Format
	// Native lists hardware that multiplies the format without widening it first; Not lists hardware commonly but
	// wrongly thought to.
	Native, Not string
	// Scaling is how training in the format keeps small numbers from underflowing.
	Scaling string
	// StoredBy lists files that use the format.
	StoredBy string
	// Why says how to choose between this format and the one named by Beside.
	Why    string
	Beside *Format
	Source string
}

// UseOf returns the use of a format; nil if nothing is known beyond its bits.
func UseOf(f *Format) *Use {
	for i := range uses {
		if uses[i].Format == f {
			return &uses[i]
		}
	}
	return nil
}

// Uses returns the uses of all formats.
func Uses() []Use { return uses }

// Sources: NVIDIA CUDA C++ programming guide, arithmetic instructions and warp matrix functions by compute
// capability; AMD CDNA, CDNA 2, CDNA 3 and CDNA 4 white papers and instruction-set guides; Google Cloud TPU
// system architecture pages; Intel oneAPI data-type support and Gaudi documentation; arXiv numbers as given.
var uses = []Use{
	{Format: F64, Native: "GPUs built for simulation (NVIDIA P100, V100, A100, H100; AMD CDNA); 1/32 or 1/64 of the fp32 rate on " +
		"other cards",
		Not: "Google TPU", StoredBy: "simulation; no language model", Source: "CUDA C++ programming guide, arithmetic throughput"},
	{Format: F32, Native: "every GPU and CPU, outside of matrix units", Not: "NVIDIA's tensor cores, which take tf32 instead",
		Scaling: "none needed", StoredBy: "master weights and optimizer state in training; norms and routers in GGUF files", Beside: BF16,
		Why: "twice the bytes of bf16 for digits that inference does not use", Source: "arXiv:1710.03740"},
	{Format: TF32, Native: "NVIDIA Ampere and later; AMD CDNA 3", Not: "NVIDIA Turing and Volta; AMD CDNA 4, which dropped it",
		Scaling: "none needed: the exponent is that of fp32", StoredBy: "nothing: memory holds fp32", Beside: F32,
		Why: "fp32 in memory, 10 fraction bits in the multiplier", Source: "NVIDIA A100 white paper; AMD CDNA 4 white paper"},
	{Format: BF16, Native: "NVIDIA Ampere and later, AMD CDNA and RDNA 3, Google TPU, Intel Gaudi, AMX and Arc, Apple CPUs from M2",
		Not: "NVIDIA Turing, Volta and Pascal", Scaling: "none needed: the exponent is that of fp32",
		StoredBy: "most checkpoints since 2023", Beside: F16,
		Why:    "fp16 has three more fraction bits and a 2^112 times smaller range: gradients vanish in it or overflow",
		Source: "arXiv:1905.12322"},
	{Format: F16, Native: "NVIDIA P100 and Volta onwards, AMD Vega onwards, Intel Arc, Apple GPUs",
		Not:      "Google TPU; NVIDIA consumer Pascal (1/64 rate)",
		Scaling:  "loss scaling: multiply the loss, divide the gradients, skip steps that overflow",
		StoredBy: "checkpoints until 2023, AWQ and GPTQ scales, GGUF conversions, llama.cpp's KV cache", Beside: BF16,
		Why: "more digits than bf16 and a small range: inference does not mind, training does", Source: "arXiv:1710.03740"},
	{Format: FP8E4M3, Native: "NVIDIA Ada, Hopper and Blackwell; AMD CDNA 3 (with another bias), CDNA 4 and RDNA 4; Intel Gaudi 2 and 3; " +
		"Google TPU v7",
		Not: "NVIDIA Ampere: weights are widened to 16 bits first", Scaling: "a scale per tensor, row or block instead of one for the loss",
		StoredBy: "fp8 checkpoints (DeepSeek V3, -FP8 of the hub), fp8 KV caches", Beside: FP8E5M2,
		Why: "e5m2 reaches further with one digit less: it is for gradients, e4m3 for weights and activations", Source: "arXiv:2209.05433"},
	{Format: FP8E5M2, Native: "as e4m3", Not: "NVIDIA Ampere", Scaling: "a scale per tensor",
		StoredBy: "gradients in fp8 training; an option of KV caches", Beside: FP8E4M3,
		Why: "the range of fp16 with two fraction bits", Source: "arXiv:2209.05433"},
	{Format: FP4E2M1, Native: "NVIDIA Blackwell; AMD CDNA 4", Not: "NVIDIA Hopper and Ada: widened to 8 or 16 bits first",
		Scaling: "a scale per 16 or 32 elements, always", StoredBy: "MXFP4 (gpt-oss) and NVFP4 checkpoints", Beside: I4,
		Why:    "eight magnitudes, denser near zero than int4's even steps",
		Source: "OCP Microscaling Formats specification 1.0; arXiv:2310.10537"},
	{Format: NF4, Native: "nothing: looked up and widened to 16 bits", Scaling: "one absmax per 64 elements",
		StoredBy: "bitsandbytes 4-bit, QLoRA's frozen weights", Beside: FP4E2M1,
		Why: "levels at the quantiles of a normal distribution, which weights follow", Source: "arXiv:2305.14314"},
	{Format: E8M0, Native: "as part of MX formats: NVIDIA Blackwell, AMD CDNA 4", StoredBy: "scales of MXFP4 and MXFP8",
		Why: "a power of two: scaling moves exponents only", Source: "OCP Microscaling Formats specification 1.0"},
	{Format: I8, Native: "NVIDIA Turing and later (dp4a since Pascal), AMD CDNA and RDNA 3, Google TPU, Intel AMX and Arc; CPUs with " +
		"VNNI or dot-product instructions",
		Scaling: "not for training: a scale per row or token for inference", StoredBy: "W8A8, LLM.int8(), GPTQ-int8", Beside: FP8E4M3,
		Why: "even steps: outliers cost more digits than in fp8", Source: "arXiv:2208.07339; arXiv:2211.10438"},
	{Format: I4, Native: "NVIDIA Turing, Ampere and Ada; others widen it to 8 or 16 bits",
		Not:     "NVIDIA Hopper, which has no int4 matrix unit",
		Scaling: "a scale per 32 to 128 elements", StoredBy: "AWQ, GPTQ, W4A16 checkpoints", Beside: FP4E2M1,
		Why: "saves bytes, not arithmetic: kernels widen it to 16 bits in registers", Source: "arXiv:2210.17323; arXiv:2306.00978"},
	{Format: Q8_0, Native: "integer dot products: its blocks meet 8-bit activations", StoredBy: "GGUF files, llama.cpp's KV cache",
		Beside: F16,
		Why:    "one f16 scale for 32 elements: half the bytes of f16 and little more", Source: "ggml/src/ggml-common.h"},
	{Format: Q4_K, Native: "integer dot products: widened to 8 bits in registers", StoredBy: "GGUF files: the bulk of Q4_K_M and Q4_K_S",
		Beside: Q4_0,
		Why:    "super-blocks of 256 with 6-bit scales and minima, where q4_0 has one f16 scale for 32: the same 4.5 bits",
		Source: "ggml/src/ggml-common.h"},
	{Format: MXFP4, Native: "in llama.cpp integer dot products; as a hardware format NVIDIA Blackwell and AMD CDNA 4",
		StoredBy: "gpt-oss experts", Beside: FP4E2M1,
		Why: "e2m1 with a power-of-two scale per 32", Source: "OCP Microscaling Formats specification 1.0"},
}
