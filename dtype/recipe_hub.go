package dtype

import (
	"strconv"
	"strings"
)

// Quantised checkpoints of the hub. Each names the scheme of the linear layers inside the blocks; what it
// leaves alone stays in the checkpoint's own format.

// Blocks returns a Pick that applies a scheme to the linear layers of the blocks (attention and FFN matrices, experts
// included). Norms, biases, embeddings, head, routers, convolutions and towers keep their native format.
func Blocks(linear *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Layer < 0 || s.Tower() || !s.Quantisable() {
			return native(s)
		}
		return linear
	}
}

// Tower reports whether the tensor belongs to a vision or audio tower.
func (s *Site) Tower() bool { return strings.HasPrefix(s.Part, "vision") || s.Part == "audio" }

// Quantisable reports whether the tensor is the matrix of a linear layer.
func (s *Site) Quantisable() bool {
	if s.Dims < 2 || s.Bias || s.Table || s.Role.Norm() || s.Role.Router() || s.Role.Embedding() {
		return false
	}
	switch s.Role {
	case SSMConv, SSMConvQ, SSMConvK, SSMConvV, SSMA, SSMD, SSMBA, SSMBeta, SSMAlpha, AttnSinks, FFNDownScale, LayerOutScale, MTPProj,
		AudioConv1, AudioConv2, AudioPosition, VisionTiles, VisionTilesPost, VisionTilePosition, VisionNeck, ProjectorQuery,
		ProjectorPosition,
		AltupProj, AltupUnembdProj, AltupRouter, AltupPredictCoef, AltupCorrectCoef, LaurelL, LaurelR, PerLayerProj,
		CompressKV, CompressGate, CompressPos, IndexKV, IndexGate, IndexPos, IndexProj, HyperAttn, HyperFFN, HyperHead,
		RecallAttn, RecallFFN, RecallOut, Score:
		return false
	}
	return true
}

func native(s *Site) *Scheme {
	if s.Table {
		return nil
	}
	return Of(s.Model.Native)
}

// FP8Tensor is e4m3 with one f32 scale per matrix and one for its input (static).
var FP8Tensor = &Scheme{Name: "fp8-tensor", Elem: FP8E4M3, With: []Companion{
	{Name: "weight_scale", Elem: F32, Fixed: 1}, {Name: "input_scale", Elem: F32, Fixed: 1}}}

// FP8Channel is e4m3 with one scale per output row; inputs are scaled dynamically (compressed-tensors).
var FP8Channel = &Scheme{Name: "fp8-channel", Elem: FP8E4M3, With: []Companion{{Name: "weight_scale", Elem: BF16, Rows: 1}}}

// FP8Block is e4m3 with one f32 scale per 128 × 128 block (DeepSeek-V3, arXiv:2412.19437).
var FP8Block = &Scheme{Name: "fp8-block", Elem: FP8E4M3, With: []Companion{{Name: "weight_scale_inv", Elem: F32, Rows: 128, Cols: 128}}}

// Int8Channel is 8-bit integers with one f32 scale per output row (W8A8, SmoothQuant, arXiv:2211.10438).
var Int8Channel = &Scheme{Name: "int8-channel", Elem: I8, With: []Companion{{Name: "weight_scale", Elem: F32, Rows: 1}}}

// LLMInt8 is bitsandbytes 8-bit: one f32 absmax per row (arXiv:2208.07339), and one byte for the matrix layout
// (weight_format in bitsandbytes/nn/modules.py).
var LLMInt8 = &Scheme{Name: "llm.int8", Elem: I8, With: []Companion{{Name: "SCB", Elem: F32, Rows: 1},
	{Name: "weight_format", Elem: U8, Fixed: 1}}}

// GPTQ returns a scheme of integer codes with, per group of columns, f16 scales and packed zero points, and an i32
// group index per column (arXiv:2210.17323; auto-gptq layout).
func GPTQ(bits *Format, group int64) *Scheme {
	return &Scheme{Name: grouped("gptq", group), Elem: bits, With: []Companion{
		{Name: "scales", Elem: F16, Rows: 1, Cols: group},
		{Name: "qzeros", Elem: bits, Rows: 1, Cols: group},
		{Name: "g_idx", Elem: I32, Rows: 0, Cols: 1}}}
}

// AWQ returns a scheme of 4-bit codes with f16 scales and packed 4-bit zero points per group of columns
// (arXiv:2306.00978; autoawq layout).
func AWQ(group int64) *Scheme {
	return &Scheme{Name: grouped("awq", group), Elem: I4, With: []Companion{
		{Name: "scales", Elem: F16, Rows: 1, Cols: group},
		{Name: "qzeros", Elem: I4, Rows: 1, Cols: group}}}
}

// Packed returns a scheme of symmetric integers in i32 words with one bf16 scale per group, and the matrix's shape as
// two i64 (compressed-tensors, pack-quantized).
func Packed(bits *Format, group int64) *Scheme {
	return &Scheme{Name: grouped("packed", group), Elem: bits, With: []Companion{
		{Name: "weight_scale", Elem: BF16, Rows: 1, Cols: group},
		{Name: "weight_shape", Elem: I64, Fixed: 2}}}
}

// W4A8AWQ is AWQ's 4-bit codes with activations in fp8, as ModelOpt writes them for TensorRT-LLM (W4A8_AWQ).
var W4A8AWQ = &Scheme{Name: "w4a8-awq", Elem: I4, With: []Companion{{Name: "weight_scale", Elem: F32, Rows: 1, Cols: 128},
	{Name: "pre_quant_scale", Elem: F32, Cols: 1}}}

// MXFP4Split is e2m1 codes with one e8m0 scale per 32 columns, in separate tensors (gpt-oss; OCP MX specification 1.0).
var MXFP4Split = &Scheme{Name: "mxfp4-split", Elem: FP4E2M1, With: []Companion{{Name: "scales", Elem: E8M0, Rows: 1, Cols: 32}}}

// MXFP8 is e4m3 with one e8m0 scale per 32 columns (OCP MX specification 1.0).
var MXFP8 = &Scheme{Name: "mxfp8", Elem: FP8E4M3, With: []Companion{{Name: "scales", Elem: E8M0, Rows: 1, Cols: 32}}}

// NVFP4Split is e2m1 codes with one e4m3 scale per 16 columns, and one f32 scale each for the matrix and its input
// (modelopt).
var NVFP4Split = &Scheme{Name: "nvfp4-split", Elem: FP4E2M1, With: []Companion{
	{Name: "weight_scale", Elem: FP8E4M3, Rows: 1, Cols: 16},
	{Name: "weight_scale_2", Elem: F32, Fixed: 1}, {Name: "input_scale", Elem: F32, Fixed: 1}}}

// NF4Single is bitsandbytes NF4 (or FP4, of the same size) with one f32 absmax per 64 elements: 4.5 bits (QLoRA,
// arXiv:2305.14314).
var NF4Single = &Scheme{Name: "nf4-single", Elem: NF4,
	With: []Companion{{Name: "absmax", Elem: F32, Flat: 64}, {Name: "quant_map", Elem: F32, Fixed: 16}}}

// NF4Double is NF4 with absmax values quantized to 8 bits, with one f32 per 256 of them and one offset: 4.127 bits
// (QLoRA, section 3).
var NF4Double = &Scheme{Name: "nf4-double", Elem: NF4, With: []Companion{
	{Name: "absmax", Elem: U8, Flat: 64}, {Name: "nested_absmax", Elem: F32, Flat: 64 * 256},
	{Name: "nested_quant_map", Elem: F32, Fixed: 256}, {Name: "quant_map", Elem: F32, Fixed: 16}, {Name: "offset", Elem: F32, Fixed: 1}}}

// MLXGroup returns MLX's affine quantization: packed codes, and a bf16 scale and bias per group.
func MLXGroup(bits *Format, group int64) *Scheme {
	return &Scheme{Name: grouped("mlx", group), Elem: bits, With: []Companion{
		{Name: "scales", Elem: BF16, Rows: 1, Cols: group}, {Name: "biases", Elem: BF16, Rows: 1, Cols: group}}}
}

// Sparse24 keeps two of every four 16-bit weights, with 2 bits for the position of each (NVIDIA sparse tensor cores;
// arXiv:2104.08378).
var Sparse24 = &Scheme{Name: "sparse-2:4", Elem: &Format{Name: "bf16-2of4", BlockElems: 4, BlockBytes: 4, GGML: NoGGML},
	With: []Companion{{Name: "metadata", Elem: Bit, Rows: 1, Cols: 1}}}

func grouped(name string, group int64) string {
	if group <= 0 {
		return name + "-channel"
	}
	return name + "-g" + strconv.FormatInt(group, 10)
}

func hub(name, note string, base *Format, linear *Scheme, aliases ...string) *Recipe {
	return &Recipe{Name: name, Aliases: aliases, Base: base, FType: NoGGML, Note: note, Pick: Blocks(linear)}
}

func hubRecipes() []*Recipe {
	g128 := int64(128)
	return []*Recipe{
		hub("fp8", "e4m3, one scale per output row", FP8E4M3, FP8Channel, "fp8_e4m3", "fp8-dynamic", "float8", "w8a8-fp8", "fp8-channel"),
		hub("fp8-tensor", "e4m3, one scale per matrix", FP8E4M3, FP8Tensor, "fp8-static"),
		hub("fp8-block", "e4m3, one scale per 128 × 128", FP8E4M3, FP8Block, "deepseek-fp8", "fp8_block"),
		{Name: "fp8-block-fp4-experts", Base: FP8E4M3, FType: NoGGML,
			Note: "fp8-block, routed experts in e2m1 with e8m0 scales of 32 (DeepSeek V4)", Pick: expertsApart(FP8Block, MXFP4Split)},
		{Name: "fp8-block-nvfp4-experts", Base: FP4E2M1, FType: NoGGML,
			Note: "fp8-block, routed experts in e2m1 with e4m3 scales of 16", Pick: expertsApart(FP8Block, NVFP4Split)},
		hub("int8", "8-bit, one scale per output row", I8, Int8Channel, "w8a8", "w8a8-int8", "smoothquant", "i8"),
		hub("bnb-int8", "LLM.int8()", I8, LLMInt8, "bitsandbytes-8bit", "bnb-8bit", "load_in_8bit", "llm.int8"),
		hub("bnb-int8-all", "bnb-int8, experts that a class stacks among it", I8, LLMInt8),
		hub("gptq", "4-bit, groups of 128", I4, GPTQ(I4, g128), "gptq-int4", "gptq-4bit", "gptq-4bit-128g"),
		hub("gptq-g32", "4-bit, groups of 32", I4, GPTQ(I4, 32), "gptq-int4-g32"),
		hub("gptq-int8", "8-bit, groups of 128", I8, GPTQ(I8, g128), "gptq-8bit"),
		hub("awq", "4-bit with zero points, groups of 128", I4, AWQ(g128), "awq-int4", "awq-4bit"),
		hub("int4", "4-bit symmetric, groups of 128", I4, Packed(I4, g128), "int4_wo", "w4a16", "int4-g128", "i4"),
		hub("w4a8-awq", "4-bit, groups of 128, activations in fp8", I4, W4A8AWQ, "w4a8_awq", "w4a8"),
		hub("int4-g32", "4-bit symmetric, groups of 32", I4, Packed(I4, 32), "w4a16-g32"),
		{Name: "int4-g32-experts", Base: I4, FType: NoGGML, Note: "experts only, symmetric, groups of 32",
			Pick: expertsOnly(Packed(I4, 32))},
		hub("int4-g64", "4-bit symmetric, groups of 64", I4, Packed(I4, 64), "w4a16-g64"),
		hub("nf4", "bitsandbytes NF4, double quantisation", NF4, NF4Double, "bnb-nf4", "bnb-4bit", "bitsandbytes", "bitsandbytes-4bit",
			"qlora", "load_in_4bit", "nf4-dq"),
		hub("nf4-all", "nf4, experts that a class stacks among it", NF4, NF4Double),
		hub("nf4-single", "bitsandbytes NF4, f32 absmax", NF4, NF4Single, "nf4-no-dq"),
		hub("fp4", "bitsandbytes FP4, f32 absmax", FP4E2M1, NF4Single, "bnb-fp4"),
		{Name: "mxfp4", Base: FP4E2M1, FType: NoGGML, Note: "experts, as in gpt-oss; all linear layers of a dense model",
			Pick: expertsElseAll(MXFP4Split), Aliases: []string{"mxfp4-experts"}},
		hub("mxfp4-all", "every linear layer", FP4E2M1, MXFP4Split),
		hub("mxfp8", "e4m3 with e8m0 scales", FP8E4M3, MXFP8),
		hub("nvfp4", "e2m1 with e4m3 scales of 16", FP4E2M1, NVFP4Split, "modelopt-fp4", "fp4-nvidia"),
		{Name: "nvfp4-experts", Base: FP4E2M1, FType: NoGGML, Note: "nvfp4, routed experts only", Pick: expertsOnly(NVFP4Split)},
		{Name: "nvfp4-mlp", Base: FP4E2M1, FType: NoGGML, Note: "nvfp4, feed-forward layers and experts, not attention",
			Pick: feedForward(NVFP4Split)},
		hub("sparse-2:4", "half of the weights kept, 16-bit", BF16, Sparse24, "2:4", "sparse", "semi-structured"),
	}
}

// expertsOnly quantizes the routed experts only.
func expertsOnly(scheme *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if s.Role.Expert() && s.Quantisable() {
			return scheme
		}
		return native(s)
	}
}

// expertsElseAll quantizes the routed experts, or all linear layers if there are none.
func expertsElseAll(scheme *Scheme) func(*Site) *Scheme {
	experts, all := expertsOnly(scheme), Blocks(scheme)
	return func(s *Site) *Scheme {
		if s.Model != nil && s.Model.Experts == 0 {
			return all(s)
		}
		return experts(s)
	}
}

// feedForward quantizes feed-forward layers and experts only.
func feedForward(scheme *Scheme) func(*Site) *Scheme {
	return func(s *Site) *Scheme {
		if strings.HasPrefix(string(s.Role), "ffn_") && !s.Role.Router() && s.Quantisable() {
			return scheme
		}
		return native(s)
	}
}

// expertsApart stores routed experts in a scheme of their own.
func expertsApart(rest, experts *Scheme) func(*Site) *Scheme {
	all := Blocks(rest)
	return func(s *Site) *Scheme {
		if s.Role.Expert() && s.Quantisable() {
			return experts
		}
		return all(s)
	}
}
