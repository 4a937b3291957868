package dtype

// Types of ik_llama.cpp files. Blocks and numbers: ggml/src/ggml-common.h and ggml/include/ggml.h of ik_llama.cpp at
// 8337e4c (2026-08-15). Some store a scale before the blocks of each row (row_meta_size in ggml/src/ggml.c).
var (
	Q6_0    = ggml("q6_0", 133, 32, 26, "f16 scale + 32 × 6 bits")
	IQ2_BN  = forked("iq2_bn", 135, 64, 16, 4, "64 ternary digits in 2 bits, f32 a row")
	IQ2_K   = ggml("iq2_k", 137, 256, 76, "f16, 4-bit scales + 256 × 2 bits on one of two grids")
	IQ3_K   = ggml("iq3_k", 138, 256, 110, "f16, 4-bit scales + 256 × 3 bits on one of two grids")
	IQ4_K   = ggml("iq4_k", 139, 256, 144, "f16, 6-bit scales + 256 × 4 bits on one of two grids")
	IQ5_K   = ggml("iq5_k", 140, 256, 176, "f16, 6-bit scales + 256 × 5 bits on one of two grids")
	IQ6_K   = ggml("iq6_k", 141, 256, 212, "f16, 8-bit scales + 256 × 6 bits on one of two grids")
	IQ4_KS  = forked("iq4_ks", 144, 256, 136, 4, "8-bit scales of 32 + 256 × 4 bits, f32 a row")
	IQ2_KS  = forked("iq2_ks", 145, 256, 70, 2, "scales of 32 + 256 × 2 bits, f16 a row")
	IQ4_KSS = forked("iq4_kss", 146, 256, 128, 4, "scales within 256 × 4 bits, f32 a row")
	Q8_KV   = forked("q8_kv", 151, 32, 32, 8, "8 bits, a scale and a sum a row")
	IQ5_KS  = forked("iq5_ks", 152, 256, 168, 4, "8-bit scales of 32 + 256 × 5 bits, f32 a row")
	IQ2_KT  = forked("iq2_kt", 153, 256, 68, 4, "a trellis of 2 bits, f32 a row")
	IQ3_KT  = forked("iq3_kt", 154, 256, 100, 4, "a trellis of 3 bits, f32 a row")
	IQ4_KT  = forked("iq4_kt", 155, 256, 128, 4, "a trellis of 4 bits, f32 a row")
	IQ3_KS  = forked("iq3_ks", 156, 256, 102, 2, "scales of 32 + 256 × 3 bits, f16 a row")
	IQ2_KL  = forked("iq2_kl", 157, 256, 86, 2, "scales of 32 + 256 × 2.5 bits, f16 a row")
	IQ1_KT  = forked("iq1_kt", 158, 256, 56, 4, "a trellis of 1.5 bits, f32 a row")

	IQ1_S_R4 = forked("iq1_s_r4", 219, 32, 6, 2, "four rows together, f16 a row")
	IQ1_M_R4 = forked("iq1_m_r4", 229, 32, 7, 2, "four rows together, f16 a row")
)

func forked(name string, id int, elems, bytes, row int64, note string) *Format {
	f := ggml(name, id, elems, bytes, note)
	f.RowBytes = row
	return f
}

// repacked formats interleave rows, as -rtr does at run time; they take as many bytes as the formats they interleave.
var repacked = []struct {
	suffix string
	id     int
	of     *Format
}{
	{"r8", 202, Q4_0}, {"r4", 206, Q5_0}, {"r8", 208, Q8_0}, {"r4", 210, Q2_K}, {"r4", 211, Q3_K}, {"r4", 212, Q4_K}, {"r4", 213, Q5_K},
	{"r4", 214, Q6_K}, {"r4", 216, IQ2_XXS}, {"r4", 217, IQ2_XS},
	{"r4", 218, IQ3_XXS}, {"r4", 220, IQ4_NL}, {"r4", 221, IQ3_S}, {"r4", 222, IQ2_S}, {"r8", 223, IQ4_XS}, {"r16", 230, BF16},
	{"r4", 233, Q6_0}, {"r4", 335, IQ2_BN}, {"r4", 337, IQ2_K}, {"r4", 338, IQ3_K},
	{"r4", 339, IQ4_K}, {"r4", 340, IQ5_K}, {"r4", 344, IQ4_KS}, {"r4", 352, IQ5_KS}, {"r8", 353, MXFP4},
}

// Forked lists the types of ik_llama.cpp files that llama.cpp does not have.
var Forked = forkedFormats()

func forkedFormats() []*Format {
	out := []*Format{Q6_0, IQ2_BN, IQ2_K, IQ3_K, IQ4_K, IQ5_K, IQ6_K, IQ4_KS, IQ2_KS, IQ4_KSS, Q8_KV, IQ5_KS, IQ2_KT, IQ3_KT, IQ4_KT,
		IQ3_KS, IQ2_KL, IQ1_KT, IQ1_S_R4, IQ1_M_R4}
	for _, r := range repacked {
		f := *r.of
		f.Name, f.GGML, f.Float, f.Note = f.Name+"_"+r.suffix, r.id, nil, "rows of "+r.of.Name+", interleaved"
		out = append(out, &f)
	}
	return out
}

// forkedTypes are file types of ik_llama.cpp (include/llama.h at 8337e4c). Their mixtures vary by build and author;
// they are represented by the default type with a 6-bit head.
var forkedTypes = []ftype{
	{"iq2_k", "IQ2_K - 2.375 bpw", 138, IQ2_K, nil}, {"iq3_k", "IQ3_K - 3.4325 bpw", 139, IQ3_K, nil},
	{"iq4_k", "IQ4_K - 4.5 bpw", 140, IQ4_K, nil}, {"iq5_k", "IQ5_K - 5.5 bpw", 141, IQ5_K, nil},
	{"iq6_k", "IQ6_K - 6.6 bpw", 142, IQ6_K, nil}, {"iq4_ks", "IQ4_KS - 4.25 bpw", 145, IQ4_KS, nil},
	{"iq2_ks", "IQ2_KS - 2.1875 bpw", 147, IQ2_KS, nil}, {"iq4_kss", "IQ4_KSS - 4.0 bpw", 148, IQ4_KSS, nil},
	{"iq5_ks", "IQ5_KS - 5.25 bpw", 150, IQ5_KS, nil}, {"iq2_kt", "IQ2_KT - 2.125 bpw", 151, IQ2_KT, nil},
	{"iq3_kt", "IQ3_KT - 3.125 bpw", 152, IQ3_KT, nil}, {"iq4_kt", "IQ4_KT - 4.0 bpw", 153, IQ4_KT, nil},
	{"iq3_ks", "IQ3_KS - 3.1875 bpw", 154, IQ3_KS, nil}, {"iq2_kl", "IQ2_KL - 2.6875 bpw", 155, IQ2_KL, nil},
	{"iq1_kt", "IQ1_KT - 1.75 bpw", 156, IQ1_KT, nil},
}

// forkedRecipes returns their recipes, each also under the name of its interleaved form.
func forkedRecipes() (out []*Recipe) {
	for i := range forkedTypes {
		t := &forkedTypes[i]
		out = append(out, &Recipe{Name: t.name, Title: t.title, Aliases: []string{t.name + "_r4"}, Store: GGUF, Base: t.base, FType: t.id,
			Note:      "mixture of ik_llama.cpp, head in q6_k",
			StandsFor: t.name + " for all matrices stands for a mixture, which differs from author to author", Low: 0.93, High: 1.25,
			Pick: t.forked})
	}
	return out
}

func (t *ftype) forked(s *Site) *Scheme {
	plain := unquantised(F16)(s)
	switch {
	case plain.Elem == F32 || keptAsIs[s.Role]:
		return plain
	case s.Role == Output && Q6_K.Fits(s.Cols):
		return Of(Q6_K)
	case t.base.Fits(s.Cols):
		return Of(t.base)
	}
	return Of(fallback(IQ4_XS, s.Cols))
}
