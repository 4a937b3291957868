package dtype

import (
	"maps"
	"slices"
	"strings"
)

// The mixtures of llama.cpp: src/llama-quant.cpp at 007dbbf (v0.5.0 era). A file type names a default
// type; single tensors get more or fewer bits by what they are for and where they sit. Written for
// quantisation without an importance matrix except where a type needs one.

// ftype is one file type of llama.cpp.
type ftype struct {
	name, title string
	id          int
	base        *Format
	aliases     []string
}

// LLAMA_FTYPE numbers and titles: include/llama.h, src/llama-model-loader.cpp.
var ftypes = []ftype{
	{"q4_0", "Q4_0", 2, Q4_0, nil}, {"q4_1", "Q4_1", 3, Q4_1, nil},
	{"q5_0", "Q5_0", 8, Q5_0, nil}, {"q5_1", "Q5_1", 9, Q5_1, nil}, {"q8_0", "Q8_0", 7, Q8_0, nil},
	{"q2_k", "Q2_K - Medium", 10, Q2_K, []string{"q2_k_m"}}, {"q2_k_s", "Q2_K - Small", 21, Q2_K, nil},
	{"q3_k_s", "Q3_K - Small", 11, Q3_K, nil}, {"q3_k_m", "Q3_K - Medium", 12, Q3_K, []string{"q3_k"}},
	{"q3_k_l", "Q3_K - Large", 13, Q3_K, nil},
	{"q4_k_s", "Q4_K - Small", 14, Q4_K, nil}, {"q4_k_m", "Q4_K - Medium", 15, Q4_K, []string{"q4_k"}},
	{"q5_k_s", "Q5_K - Small", 16, Q5_K, nil}, {"q5_k_m", "Q5_K - Medium", 17, Q5_K, []string{"q5_k"}},
	{"q6_k", "Q6_K", 18, Q6_K, nil},
	{"iq2_xxs", "IQ2_XXS - 2.0625 bpw", 19, IQ2_XXS, nil}, {"iq2_xs", "IQ2_XS - 2.3125 bpw", 20, IQ2_XS, nil},
	{"iq2_s", "IQ2_S - 2.5 bpw", 28, IQ2_XS, nil}, {"iq2_m", "IQ2_M - 2.7 bpw", 29, IQ2_S, nil},
	{"iq3_xxs", "IQ3_XXS - 3.0625 bpw", 23, IQ3_XXS, nil}, {"iq3_xs", "IQ3_XS - 3.3 bpw", 22, IQ3_S, nil},
	{"iq3_s", "IQ3_S - 3.4375 bpw", 26, IQ3_S, nil}, {"iq3_m", "IQ3_S mix - 3.66 bpw", 27, IQ3_S, nil},
	{"iq1_s", "IQ1_S - 1.5625 bpw", 24, IQ1_S, nil}, {"iq1_m", "IQ1_M - 1.75 bpw", 31, IQ1_M, nil},
	{"iq4_nl", "IQ4_NL - 4.5 bpw", 25, IQ4_NL, nil}, {"iq4_xs", "IQ4_XS - 4.25 bpw", 30, IQ4_XS, nil},
	{"tq1_0", "TQ1_0 - 1.69 bpw ternary", 36, TQ1_0, nil}, {"tq2_0", "TQ2_0 - 2.06 bpw ternary", 37, TQ2_0, nil},
	{"mxfp4_moe", "MXFP4 MoE", 38, MXFP4, []string{"mxfp4-gguf", "gguf-mxfp4"}},
}

func ggufRecipes() []*Recipe {
	out := []*Recipe{
		{Name: "gguf-f32", Title: "all F32", Store: GGUF, Base: F32, FType: 0, Pick: func(*Site) *Scheme { return Of(F32) }},
		{Name: "gguf-f16", Title: "F16", Store: GGUF, Base: F16, FType: 1, Pick: unquantised(F16), Aliases: []string{"mostly F16"}},
		{Name: "gguf-bf16", Title: "BF16", Store: GGUF, Base: BF16, FType: 32, Pick: unquantised(BF16), Aliases: []string{"mostly BF16"}},
		// Models trained at this width use it in every matrix, embeddings and head included (PrismML's Bonsai).
		{Name: "q1_0", Title: "Q1_0", Store: GGUF, Base: Q1_0, FType: 40, Pick: unquantised(Q1_0)},
		{Name: "q2_0", Title: "Q2_0", Store: GGUF, Base: Q2_0, FType: 41, Pick: unquantised(Q2_0)},
	}
	for i := range ftypes {
		t := &ftypes[i]
		out = append(out, &Recipe{Name: t.name, Title: t.title, Aliases: t.aliases, Store: GGUF, Base: t.base, FType: t.id, Pick: t.pick})
	}
	out = append(out, forkedRecipes()...)
	for i := range dynamic {
		out = append(out, standIn(&dynamic[i], out))
	}
	for _, name := range slices.Sorted(maps.Keys(largeEnds)) {
		out = append(out, largeEnd(name, largeEnds[name], out))
	}
	for _, r := range out {
		r.Pick = keepingExperts(r.Pick)
	}
	return out
}

// keepingExperts leaves gpt-oss's experts in the MXFP4 they are published in: the converter copies their blocks
// (convert_hf_to_gguf.py, GptOssModel.repack_mxfp4), so that files named after other formats, F16 to Q2_K, use those
// for the remaining tensors only.
func keepingExperts(pick func(*Site) *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Batch > 1 && s.Dims > 2 && s.Model.Arch == "gpt-oss" && !s.Bias {
			return Of(MXFP4)
		}
		return pick(s)
	}
}

// dynamic holds Unsloth's mixtures, whose formats vary by layer and model (docs.unsloth.ai, "Dynamic 2.0 GGUFs"): name,
// the llama.cpp mixture closest in size, and the size of published files relative to it: 0.94 to 1.09 for most; the
// eight-bit one keeps much in 16 bits.
var dynamic = []struct {
	name, like string
	low, high  float64
}{
	{"ud-q2_k_xl", "q2_k", 0.9, 1.12}, {"ud-q3_k_xl", "q3_k_m", 0.9, 1.12}, {"ud-q4_k_xl", "q4_k_m", 0.9, 1.12},
	{"ud-q5_k_xl", "q5_k_m", 0.92, 1.1}, {"ud-q6_k_xl", "q6_k", 0.95, 1.15}, {"ud-q8_k_xl", "q8_0", 1, 1.35},
	{"ud-iq1_s", "iq1_s", 0.85, 1.25}, {"ud-iq1_m", "iq1_m", 0.85, 1.25}, {"ud-iq2_xxs", "iq2_xxs", 0.85, 1.2},
	{"ud-iq2_m", "iq2_m", 0.85, 1.2}, {"ud-iq2_s", "iq2_s", 0.85, 1.2}, {"ud-iq2_xs", "iq2_xs", 0.85, 1.2},
	{"ud-iq3_xxs", "iq3_xxs", 0.88, 1.15}, {"ud-iq3_s", "iq3_s", 0.88, 1.15}, {"ud-iq4_xs", "iq4_xs", 0.9, 1.12},
	{"ud-iq4_nl", "iq4_nl", 0.9, 1.12}, {"ud-tq1_0", "tq1_0", 0.85, 1.3},
	{"ud-q2_k", "q2_k", 0.9, 1.12}, {"ud-q3_k_s", "q3_k_s", 0.9, 1.12}, {"ud-q3_k_m", "q3_k_m", 0.9, 1.12},
	{"ud-q4_k_s", "q4_k_s", 0.9, 1.12}, {"ud-q4_k_m", "q4_k_m", 0.9, 1.12}, {"ud-q5_k_s", "q5_k_s", 0.92, 1.1},
	{"ud-q5_k_m", "q5_k_m", 0.92, 1.1}, {"ud-q6_k", "q6_k", 0.95, 1.15},
}

func standIn(u *struct {
	name, like string
	low, high  float64
}, known []*Recipe) *Recipe {
	for _, r := range known {
		if r.Name == u.like {
			out := *r
			out.Name, out.Title, out.FType, out.Low, out.High = u.name, strings.ToUpper(u.name), NoGGML, u.low, u.high
			out.Aliases = nil
			if short, ok := strings.CutPrefix(u.name, "ud-"); ok && strings.HasSuffix(short, "_xl") {
				out.Aliases = []string{short}
			}
			out.StandsFor = u.like + " stands for Unsloth's dynamic mixture, which differs from layer to layer and from model to model"
			out.Note = "dynamic mixture of Unsloth, sized as " + u.like
			return &out
		}
	}
	panic("no recipe " + u.like) // a name in the table above
}

// largeEnds are mixtures with embeddings and head in Q8_0 (bartowski's "L" files, made with llama-quantize
// --token-embedding-type q8_0 --output-tensor-type q8_0).
var largeEnds = map[string]string{"q2_k_l": "q2_k", "q4_k_l": "q4_k_m", "q5_k_l": "q5_k_m", "q6_k_l": "q6_k"}

func largeEnd(name, like string, known []*Recipe) *Recipe {
	for _, r := range known {
		if r.Name == like {
			out, inner := *r, r.Pick
			out.Name, out.Title, out.FType, out.Aliases = name, strings.ToUpper(name), NoGGML, nil
			out.Note = like + " with embeddings and head in q8_0"
			out.Pick = func(s *Site) *Scheme {
				if c := s.Role.Category(); (c == CatEmbedding || c == CatHead) && s.Dims >= 2 && !s.Bias && !s.Table && !keptF32[s.Role] &&
					Q8_0.Fits(s.Cols) {
					return Of(Q8_0)
				}
				return inner(s)
			}
			return &out
		}
	}
	panic("no recipe " + like)
}

// unquantised picks what the converter writes (convert_hf_to_gguf.py): matrices in f, everything small in F32.
func unquantised(f *Format) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Dims < 2 || s.Bias || s.Table || s.Role.Norm() || keptF32[s.Role] {
			return Of(F32)
		}
		return Of(f)
	}
}

// keptF32 are matrices that the converter leaves in F32 because they are small and sensitive (conversion/base.py,
// prepare_tensors).
var keptF32 = map[Role]bool{
	FFNGateInp: true, FFNGateInpSh: true, FFNGateInpScl: true, FFNDownScale: true, SSMConv: true, ShortConv: true, SSMA: true, SSMD: true,
	SSMConvQ: true, SSMConvK: true, SSMConvV: true, PositionEmbd: true, TokenTypes: true, AltupPredictCoef: true, AltupCorrectCoef: true,
	TimeMixFirst: true, TimeMixW1: true, TimeMixW2: true, TimeMixDecayW1: true, TimeMixDecayW2: true,
}

// keptAsIs are matrices that the quantizer leaves as converted (src/llama-quant.cpp, tensor_allows_quantization).
var keptAsIs = map[Role]bool{
	AltupProj: true, AltupUnembdProj: true, AltupRouter: true, LaurelL: true, LaurelR: true, PerLayerProj: true, AttnRelBias: true,
	TimeMixA1: true, TimeMixA2: true, TimeMixV1: true, TimeMixV2: true, TimeMixG1: true, TimeMixG2: true,
}

// pick returns the scheme of a tensor. A matrix with one row is a vector to ggml, which the quantizer leaves unchanged.
func (t *ftype) pick(s *Site) *Scheme {
	plain := unquantised(F16)(s)
	if plain.Elem == F32 || keptAsIs[s.Role] || s.Rows*s.Batch == 1 {
		return plain
	}
	return Of(fallback(t.mixture(s), s.Cols))
}

// fallback replaces a format whose block size does not divide the row length.
func fallback(f *Format, cols int64) *Format {
	if f.Fits(cols) {
		return f
	}
	next := F16
	switch f {
	case IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ4_XS:
		next = IQ4_NL
	case Q2_K, Q3_K, TQ1_0, TQ2_0, Q2_0:
		next = Q4_0
	case Q4_K:
		next = Q5_0
	case Q5_K:
		next = Q5_1
	case Q6_K:
		next = Q8_0
	}
	if !next.Fits(cols) {
		return F16
	}
	return next
}

func (t *ftype) mixture(s *Site) *Format {
	cat := s.Role.Category()
	switch {
	case cat == CatHead || cat == CatEmbedding && s.Model.Tied:
		return t.head(s)
	case t.name == "mxfp4_moe":
		if s.Batch > 1 {
			return MXFP4
		}
		return Q8_0
	case cat == CatEmbedding:
		return t.embedding()
	case t.tiny():
		return t.tinyMixture(s, cat)
	}
	return t.layerMixture(s, cat)
}

func (t *ftype) head(s *Site) *Format {
	switch {
	case t.name == "mxfp4_moe", s.Model.Arch == "falcon", !t.base.Fits(s.Cols):
		return Q8_0
	case t.tiny(), t.name == "iq3_xxs":
		return Q5_K
	case t.base == Q8_0:
		return Q8_0
	}
	return Q6_K
}

func (t *ftype) embedding() *Format {
	switch t.name {
	case "iq2_xxs", "iq2_xs", "iq1_s", "iq1_m":
		return Q2_K
	case "iq2_s", "iq2_m", "iq3_xxs":
		return IQ3_S
	case "tq1_0", "tq2_0":
		return Q4_K
	}
	return t.base
}

// tiny reports whether the file type is below 3 bits; such types share one set of exceptions.
func (t *ftype) tiny() bool {
	switch t.name {
	case "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m", "iq1_s", "iq1_m":
		return true
	}
	return false
}

func (t *ftype) tinyMixture(s *Site, cat Category) *Format {
	larger := t.name == "iq2_s" || t.name == "iq2_m"
	bump := Q2_K
	if larger {
		bump = IQ3_S
	}
	switch cat {
	case CatV:
		if s.Model.GQA >= 4 || s.Model.Experts >= 4 {
			return Q4_K
		}
		return bump
	case CatK:
		if s.Model.Experts == 8 {
			return Q4_K
		}
	case CatDown:
		if s.Nth < s.Model.Layers/8 {
			return bump
		}
	case CatAttnOut:
		switch {
		case s.Model.Experts == 8:
			return Q5_K
		case larger:
			return IQ3_S
		case t.name == "iq1_s" || t.name == "iq1_m":
			return IQ2_XXS
		}
	}
	return t.base
}

func (t *ftype) layerMixture(s *Site, cat Category) *Format {
	switch cat {
	case CatV:
		return t.attnV(s)
	case CatK:
		if s.Model.Experts == 8 {
			return Q8_0
		}
		return t.attnQK()
	case CatQ:
		return t.attnQK()
	case CatDown:
		return t.ffnDown(s)
	case CatAttnOut:
		return t.attnOut(s)
	case CatGate, CatUp:
		if i, n := s.depth(); t.name == "iq3_xs" && i >= n/8 && i < 7*n/8 {
			return IQ3_XXS
		}
	}
	return t.base
}

func (t *ftype) attnQK() *Format {
	switch t.name {
	case "iq3_xs":
		return IQ3_XXS
	case "iq3_xxs":
		return IQ2_S
	}
	return t.base
}

// moreBits reports whether layer i of n is in the first or last eighth, or every third in between.
func moreBits(i, n int) bool { return i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2 }

func (t *ftype) attnV(s *Site) *Format {
	f := t.attnVByType(s)
	if s.Model.is70B() && (f == Q3_K || f == Q4_K) {
		f = Q5_K // their value matrices are small
	}
	if s.Model.Experts == 8 {
		return Q8_0
	}
	return f
}

// is70B reports whether llama.cpp considers the model a 70B (LLM_TYPE_70B: load_arch_hparams in src/models/llama.cpp,
// qwen2.cpp, deci.cpp, jais2.cpp).
func (m *Facts) is70B() bool {
	switch m.Arch {
	case "llama":
		return m.Layers == 80 && m.GQA > 1
	case "qwen2", "deci":
		return m.Layers == 80
	}
	return m.Arch == "jais2" && m.Layers == 68
}

func (t *ftype) attnVByType(s *Site) *Format {
	wide := s.Model.GQA >= 4
	switch t.name {
	case "q2_k":
		return choose(wide, Q4_K, Q3_K)
	case "q2_k_s", "iq3_xs", "iq3_s":
		return choose(wide, Q4_K, t.base)
	case "iq3_xxs":
		return choose(wide, Q4_K, IQ3_S)
	case "iq3_m":
		return Q4_K
	case "q3_k_m":
		return choose(s.Nth < 2, Q5_K, Q4_K)
	case "q3_k_l":
		return Q5_K
	case "iq4_nl", "iq4_xs":
		return choose(wide, Q5_K, t.base)
	case "q4_k_m", "q5_k_m":
		return choose(moreBits(s.Nth, s.Of), Q6_K, t.base)
	case "q4_k_s":
		return choose(s.Nth < 4, Q5_K, t.base)
	}
	return t.base
}

// depth returns the layer index that mixtures count by: the tensor's ordinal in its category, or with experts its
// block.
func (s *Site) depth() (i, n int) {
	if s.Model.Experts > 1 {
		return s.Layer, s.Model.Layers
	}
	return s.Nth, s.Model.Layers
}

func (t *ftype) ffnDown(s *Site) *Format {
	i, n := s.depth()
	falcon := s.Model.Arch == "falcon"
	switch t.name {
	case "q2_k":
		return Q3_K
	case "q2_k_s":
		return choose(i < n/8, Q4_K, t.base)
	case "iq3_xxs":
		return choose(i < n/8, Q4_K, Q3_K)
	case "q3_k_m":
		if i < n/16 {
			return Q5_K
		}
		return choose(!falcon || moreBits(i, n), Q4_K, Q3_K)
	case "iq3_m":
		return choose(i < n/8 || s.Model.Experts == 8 && moreBits(i, n), Q4_K, t.base)
	case "q3_k_l":
		return choose(falcon, Q4_K, Q5_K)
	case "q4_k_m":
		if falcon {
			return choose(i < n/16, Q6_K, choose(moreBits(i, n), Q5_K, Q4_K))
		}
		return choose(moreBits(i, n), Q6_K, t.base)
	case "q5_k_m":
		return choose(moreBits(i, n), Q6_K, t.base)
	case "q4_k_s":
		return choose(!falcon && i < n/8, Q5_K, t.base)
	case "iq4_nl", "iq4_xs":
		return choose(i < n/8, Q5_K, t.base)
	}
	return t.base
}

func (t *ftype) attnOut(s *Site) *Format {
	if s.Model.Arch == "falcon" {
		return choose(t.name == "q3_k_l", Q4_K, t.base)
	}
	if s.Model.Experts == 8 {
		switch t.name {
		case "q2_k", "iq3_xs", "iq3_xxs", "q3_k_s", "q3_k_m", "iq4_nl", "q4_k_s", "q4_k_m", "iq3_s", "iq3_m", "iq4_xs":
			return Q5_K
		}
		return t.base
	}
	switch t.name {
	case "q2_k":
		return Q3_K
	case "iq3_xxs":
		return IQ3_S
	case "q3_k_m", "iq3_m":
		return Q4_K
	case "q3_k_l":
		return Q5_K
	}
	return t.base
}

func choose(cond bool, yes, no *Format) *Format {
	if cond {
		return yes
	}
	return no
}
