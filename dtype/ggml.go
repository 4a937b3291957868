package dtype

// Types of GGUF files. Block sizes and numbers: ggml/include/ggml.h and ggml/src/ggml-common.h of
// llama.cpp v0.5.0.
var (
	Q1_0    = ggml("q1_0", 41, 128, 18, "f16 scale + 128 signs")
	Q2_0    = ggml("q2_0", 42, 64, 18, "f16 scale + 64 × 2 bits")
	Q4_0    = ggml("q4_0", 2, 32, 18, "f16 scale + 32 × 4 bits")
	Q4_1    = ggml("q4_1", 3, 32, 20, "f16 scale and minimum + 32 × 4 bits")
	Q5_0    = ggml("q5_0", 6, 32, 22, "f16 scale + 32 × 5 bits")
	Q5_1    = ggml("q5_1", 7, 32, 24, "f16 scale and minimum + 32 × 5 bits")
	Q8_0    = ggml("q8_0", 8, 32, 34, "f16 scale + 32 × 8 bits")
	Q8_1    = ggml("q8_1", 9, 32, 36, "f16 scale and sum + 32 × 8 bits")
	Q2_K    = ggml("q2_k", 10, 256, 84, "16 × (4-bit scale, 4-bit minimum), 2 f16 + 256 × 2 bits")
	Q3_K    = ggml("q3_k", 11, 256, 110, "16 × 6-bit scale, f16 + 256 × 3 bits")
	Q4_K    = ggml("q4_k", 12, 256, 144, "8 × (6-bit scale, 6-bit minimum), 2 f16 + 256 × 4 bits")
	Q5_K    = ggml("q5_k", 13, 256, 176, "8 × (6-bit scale, 6-bit minimum), 2 f16 + 256 × 5 bits")
	Q6_K    = ggml("q6_k", 14, 256, 210, "16 × 8-bit scale, f16 + 256 × 6 bits")
	Q8_K    = ggml("q8_k", 15, 256, 292, "f32 scale, 16 sums + 256 × 8 bits; intermediate only")
	IQ2_XXS = ggml("iq2_xxs", 16, 256, 66, "f16 + 256 × 2 bits through a codebook")
	IQ2_XS  = ggml("iq2_xs", 17, 256, 74, "f16, 4-bit scales + 256 × 2 bits through a codebook")
	IQ2_S   = ggml("iq2_s", 22, 256, 82, "f16, 4-bit scales + 256 × 2 bits through a codebook")
	IQ3_XXS = ggml("iq3_xxs", 18, 256, 98, "f16 + 256 × 3 bits through a codebook")
	IQ3_S   = ggml("iq3_s", 21, 256, 110, "f16, 4-bit scales + 256 × 3 bits through a codebook")
	IQ1_S   = ggml("iq1_s", 19, 256, 50, "f16, 3-bit scales + 256 × 1.5 bits through a codebook")
	IQ1_M   = ggml("iq1_m", 29, 256, 56, "3-bit scales + 256 × 1.5 bits through a codebook")
	IQ4_NL  = ggml("iq4_nl", 20, 32, 18, "f16 scale + 32 × 4 bits on a non-linear grid")
	IQ4_XS  = ggml("iq4_xs", 23, 256, 136, "6-bit scales, f16 + 256 × 4 bits on a non-linear grid")
	TQ1_0   = ggml("tq1_0", 34, 256, 54, "f16 + 256 ternary digits, five to a byte")
	TQ2_0   = ggml("tq2_0", 35, 256, 66, "f16 + 256 ternary digits in 2 bits")
	MXFP4   = ggml("mxfp4", 39, 32, 17, "e8m0 scale + 32 × e2m1")
	NVFP4   = ggml("nvfp4", 40, 64, 36, "4 × e4m3 scale + 64 × e2m1")
)

// GGML lists every GGUF tensor type, by number.
var GGML = []*Format{
	F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, Q8_K,
	IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, I8, I16, I32, I64, F64,
	IQ1_M, BF16, TQ1_0, TQ2_0, MXFP4, NVFP4, Q1_0, Q2_0,
}

func ggml(name string, id int, elems, bytes int64, note string) *Format {
	return &Format{Name: name, GGML: id, BlockElems: elems, BlockBytes: bytes, Note: note}
}

// ByGGML returns the type with the given number in GGUF files of llama.cpp or ik_llama.cpp, or nil.
func ByGGML(id uint32) *Format {
	for _, list := range [][]*Format{GGML, Forked} {
		for _, f := range list {
			if uint32(f.GGML) == id {
				return f
			}
		}
	}
	return nil
}

// retired holds type numbers that no longer exist; llama.cpp rejects files that use them.
var retired = map[uint32]string{
	4: "q4_2", 5: "q4_3", 31: "q4_0_4_4", 32: "q4_0_4_8", 33: "q4_0_8_8",
	36: "iq4_nl_4_4", 37: "iq4_nl_4_8", 38: "iq4_nl_8_8",
}

// Retired returns the name of a type number that llama.cpp no longer reads.
func Retired(id uint32) (string, bool) {
	name, ok := retired[id]
	return name, ok
}
