package vllm

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// What "Model loading took X GiB" counts: every parameter in whole 512-byte blocks, with the padding of the
// vocabulary and the scales of the attention layers (here), the rotary tables, and what torch's allocator
// cannot give away of its segments (loading.go).

// vocabPadding is what the rows of embedding and head are padded to (DEFAULT_VOCAB_PADDING_SIZE).
const vocabPadding = 64

// param is a parameter of one layer, in bytes: its elements, and its companions when it is created and once
// it is processed.
type param struct {
	role         dtype.Role
	main         unit.Bytes
	scales, kept unit.Bytes
	expanded     unit.Bytes // a bf16 copy that attention reads beside the stored matrix
	how          processing
}

// bytes that the parameter takes in the end, in whole blocks.
func (p *param) bytes() unit.Bytes { return rounded(p.main) + rounded(p.kept) + rounded(p.expanded) }

// params of a layer, or of an end of the part, in the order in which modules list them: norms of the layer last.
func (s *sizer) params(pl *engine.Placed, g *engine.WeightGroup) (out []param) {
	at := map[dtype.Role]int{}
	for i := range g.Tensors {
		p := s.param(pl, &g.Tensors[i])
		n, seen := at[p.role]
		if !seen {
			at[p.role] = len(out)
			out = append(out, p)
			continue
		}
		o := &out[n]
		o.main, o.scales, o.kept, o.expanded = o.main+p.main, o.scales+p.scales, o.kept+p.kept, o.expanded+p.expanded
	}
	stable.Sort(out, func(a, b param) int { return norms(&a) - norms(&b) })
	return out
}

func norms(p *param) int {
	if engine.LayerNorm(dtype.Role(strings.TrimSuffix(string(p.role), ".bias"))) {
		return 1
	}
	return 0
}

func (s *sizer) param(pl *engine.Placed, t *engine.WeightTensor) param {
	p := param{role: t.Role, main: t.Main, scales: t.Local - t.Main, kept: t.Local - t.Main}
	if padded, ok := paddedVocab(t, pl.Parallel.TP); ok {
		p.main, p.scales, p.kept = padded, 0, 0
	}
	s.process(&p, t, pl)
	p.role = engine.Fused(p.role)
	if t.Bias {
		p.role += ".bias"
	}
	return p
}

func paddedVocab(t *engine.WeightTensor, tp int64) (unit.Bytes, bool) {
	if t.Bias || t.Scheme == nil || len(t.Segs) != 1 || t.Segs[0].By != model.ByVocab {
		return 0, false
	}
	to := int64(vocabPadding)
	if to%tp != 0 {
		to *= tp
	}
	return t.Scheme.Bytes(1, unit.PadUp(t.Rows(), to)/tp, t.Cols), true
}

// processing is what becomes of a parameter after loading. A copy takes a block of its own while the
// parameter is still there, and takes its place.
type processing uint8

const (
	asLoaded   processing = iota
	copied                // one copy
	transposed            // a copy of a transposed copy
)

// process knows the kernels that want another layout: vllm/model_executor/layers/quantization (fp8.py,
// mxfp4.py, compressed_tensors, kernels/mixed_precision, utils/marlin_utils_fp8.py).
func (s *sizer) process(p *param, t *engine.WeightTensor, pl *engine.Placed) {
	switch {
	case t.Scheme == nil:
	case t.Scheme == dtype.MXFP4Split:
		p.main, p.scales, p.kept = s.t.mxfp4(t, pl), 0, 0
	case t.Scheme == dtype.FP8Channel:
		p.scales *= 2 // fp32 in vLLM, bf16 in the file
		if p.kept = p.scales; s.t.marlinFP8 {
			p.how, p.kept = transposed, p.scales/2
		}
	case t.Scheme == dtype.FP8Block && s.t.marlinFP8:
		p.how, p.kept = transposed, p.main/128*2 // bf16, one for 128 rows of every column
	case t.Scheme == dtype.FP8Tensor && s.t.marlinFP8:
		p.how = transposed
	case grouped(t.Scheme, "packed") && !t.Role.Expert():
		p.how = transposed
	case grouped(t.Scheme, "gptq", "awq") && !t.Role.Expert():
		p.how = copied
	case grouped(t.Scheme, "packed") && s.t.rocm:
		p.how = copied // Marlin's experts are written over the loaded ones
		n := groupIndices(t, pl)
		p.scales, p.kept = p.scales+n, p.kept+n
	}
	if (t.Role == dtype.AttnKB || t.Role == dtype.AttnVB) && t.Scheme != nil && t.Scheme.Elem.Bits() < 16 &&
		s.job.Version.AtLeast(v1Default) {
		q := pl.Parallel.Piece(t.Tensor, pl.Coord)
		p.expanded = unit.Bytes(2 * q.Batch * q.Rows * q.Cols) // vllm/v1/attention/backends/mla/common.py (W_UV, W_UK_T)
	}
}

// groupIndices of experts that Marlin does not multiply: for each input of an expert its group and its place,
// which the matrices of gate and up share (compressed_tensors_moe.py, CompressedTensorsWNA16MoEMethod).
func groupIndices(t *engine.WeightTensor, pl *engine.Placed) unit.Bytes {
	if t.Role == dtype.FFNUpExps {
		return 0
	}
	p := pl.Parallel.Piece(t.Tensor, pl.Coord)
	return unit.Bytes(2 * 4 * p.Batch * p.Cols)
}

// grouped reports whether a scheme packs integers of few bits with scales per group, in one of these ways.
func grouped(s *dtype.Scheme, ways ...string) bool {
	name, _, _ := strings.Cut(s.Name, "-")
	return slices.Contains(ways, name)
}

// mxfp4 experts are padded to what the kernel multiplies: 128 × 256 for Marlin, 256 × 256 for the kernels of
// Blackwell and ROCm; values and scales together (vllm/model_executor/layers/quantization/mxfp4.py).
func (t *traits) mxfp4(w *engine.WeightTensor, pl *engine.Placed) unit.Bytes {
	inner, hidden := int64(128), int64(256)
	if t.rocm || t.sm100 {
		inner = 256
	}
	p := pl.Parallel.Piece(w.Tensor, pl.Coord)
	rows, cols := inner, hidden
	if w.Role == dtype.FFNDownExps {
		rows, cols = hidden, inner
	}
	return w.Scheme.Bytes(p.Batch, unit.PadUp(p.Rows, rows), unit.PadUp(p.Cols, cols))
}

// attentionScalars are the scales of queries, keys, values and probabilities, and the ranges of the first
// three, that every attention layer keeps as tensors of their own (vllm/attention/layer.py).
var attentionScalars = []engine.Since[int64]{
	{From: engine.V(0, 0, 0), Value: 0, Source: "vllm/attention/layer.py: numbers"},
	{From: engine.V(0, 8, 0), Value: 7, Source: "vllm/attention/layer.py (set_default_quant_scales, q_range)"},
}

// scalars of one layer, in bytes.
func scalars(k *model.Kind, v engine.Version) unit.Bytes {
	n := int64(0)
	for i := range k.Ops {
		if k.Ops[i].Kind == model.Attention {
			n += engine.At(attentionScalars, v).Value
		}
	}
	return unit.Bytes(n * blockRound)
}

// wideRotary are families whose tables vLLM keeps in float32 (vllm/model_executor/models/gpt_oss.py).
var wideRotary = map[string]bool{"gpt-oss": true}

// rotaryWidth is the bytes of a cosine or sine: the model's 16-bit format, or float32.
func rotaryWidth(m *model.Model) int64 {
	if wideRotary[m.Family] {
		return 4
	}
	return 2
}

// rotaryBytes of the tables of cosines and sines.
func rotaryBytes(m *model.Model) (b unit.Bytes) {
	for _, r := range rotaryTables(m) {
		b += unit.Bytes(rotaryWidth(m) * r.Positions * r.Dim)
	}
	return b
}

// rotaryTables: those over time, height and width have four times the positions of the text, for long videos
// (vllm/model_executor/layers/rotary_embedding/mrope.py, cache_max_position_num).
func rotaryTables(m *model.Model) []model.Rotary {
	if !slices.ContainsFunc(threeAxes, func(arch string) bool { return strings.HasPrefix(m.Arch, arch) }) {
		return m.Rotary
	}
	out := slices.Clone(m.Rotary)
	for i := range out {
		out[i].Positions *= 4
	}
	return out
}

// threeAxes are what architectures with such tables begin with.
var threeAxes = []string{"Qwen2VL", "Qwen2_5_VL", "Qwen2_5Omni", "Qwen3VL", "Qwen3_5", "Qwen3Omni", "Glm4v"}
