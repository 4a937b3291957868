package dtype

import "strconv"

// Widths that only MLX supports.
var (
	I5 = &Format{Name: "i5", BlockElems: 8, BlockBytes: 5, GGML: NoGGML}
	I6 = &Format{Name: "i6", BlockElems: 4, BlockBytes: 3, GGML: NoGGML}
)

// mlxRecipes returns the conversions of mlx_lm.convert: affine codes in groups of 64, or an MX or NV format, for every
// linear layer and the embeddings (mlx.nn.quantize).
func mlxRecipes() (out []*Recipe) {
	for _, b := range []struct {
		bits int
		f    *Format
	}{{2, I2}, {3, I3}, {4, I4}, {5, I5}, {6, I6}, {8, I8}} {
		n := strconv.Itoa(b.bits)
		r := &Recipe{Name: "mlx-" + n + "bit", Store: MLX, Base: b.f, FType: NoGGML, Note: "groups of 64, embeddings too",
			Pick: everyMatrix(MLXGroup(b.f, 64)), Aliases: []string{"mlx-q" + n}}
		if b.bits == 4 {
			r.Aliases = append(r.Aliases, "mlx")
		}
		out = append(out, r)
	}
	mx := &Scheme{Name: "mlx-mxfp4-g32", Elem: FP4E2M1, With: []Companion{{Name: "scales", Elem: E8M0, Rows: 1, Cols: 32}}}
	nv := &Scheme{Name: "mlx-nvfp4-g16", Elem: FP4E2M1, With: []Companion{{Name: "scales", Elem: FP8E4M3, Rows: 1, Cols: 16}}}
	return append(out,
		&Recipe{Name: "mlx-mxfp4", Store: MLX, Base: FP4E2M1, FType: NoGGML, Note: "e2m1 with e8m0 scales of 32, embeddings too",
			Pick: everyMatrix(mx)},
		&Recipe{Name: "mlx-mxfp4-q8", Store: MLX, Base: FP4E2M1, FType: NoGGML, Note: "mlx-mxfp4 for routed experts, mlx-8bit for the rest",
			Pick: experts(mx, MLXGroup(I8, 64))},
		&Recipe{Name: "mlx-mxfp4-q4", Store: MLX, Base: FP4E2M1, FType: NoGGML, Note: "mlx-mxfp4 for routed experts, mlx-4bit for the rest",
			Pick: experts(mx, MLXGroup(I4, 64))},
		// mlc_llm/quantization/quantization.py, q4f16_1: group_size 32, quantize_embedding and quantize_final_fc.
		&Recipe{Name: "q4f16_1", Base: I4, FType: NoGGML, Note: "MLC's groups of 32 with a scale in f16, embeddings too",
			Aliases: []string{"q4f16_0", "q4bf16_1"},
			Pick:    everyMatrix(&Scheme{Name: "mlc-i4-g32", Elem: I4, With: []Companion{{Name: "scales", Elem: F16, Rows: 1, Cols: 32}}})},
		&Recipe{Name: "mlx-nvfp4", Store: MLX, Base: FP4E2M1, FType: NoGGML, Note: "e2m1 with e4m3 scales of 16, embeddings too",
			Pick: everyMatrix(nv)})
}

// everyMatrix applies a scheme to every tensor that MLX quantizes.
func everyMatrix(scheme *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Multiplied() {
			return scheme
		}
		return native(s)
	}
}

// experts applies one scheme to routed experts and another to the rest of what MLX quantizes.
func experts(inside, rest *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Role.Expert() && s.Quantisable() {
			return inside
		}
		return everyMatrix(rest)(s)
	}
}

// Multiplied reports whether MLX quantizes the tensor: every Linear and Embedding (mlx.nn.quantize), including
// per-layer embeddings and routers but not encoders, which mlx-vlm leaves unchanged (mlx_vlm/utils.py,
// skip_multimodal_module).
func (s *Site) Multiplied() bool {
	if s.Tower() {
		return false
	}
	switch s.Role {
	case FFNGateInp, FFNGateInpSh, SSMBA, SSMBeta, SSMAlpha, TokenEmbd, Output, PerLayerEmbd:
		return !s.Bias
	}
	return s.Quantisable()
}
