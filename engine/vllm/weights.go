package vllm

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// What "Model loading took X GiB" counts: every parameter as torch's caching allocator rounds it, the
// rotary tables, and the padding of the vocabulary. vllm/worker (load_model), checked to 0.001 GiB on
// Llama-3.1-8B bf16 and Qwen3-14B FP8.

// merged are roles that vLLM loads into one parameter.
var merged = map[dtype.Role]dtype.Role{
	dtype.AttnK: dtype.AttnQ, dtype.AttnV: dtype.AttnQ,
	dtype.FFNUp: dtype.FFNGate, dtype.FFNUpExps: dtype.FFNGateExps, dtype.FFNUpSh: dtype.FFNGateSh,
	dtype.AttnVB: dtype.AttnKB, dtype.AttnKVA: dtype.AttnQA,
}

// vocabPadding is what the rows of embedding and head are padded to (DEFAULT_VOCAB_PADDING_SIZE).
const vocabPadding = 64

// groupBytes of one layer, as allocated: main[i] are parameters, the rest companions.
func (s *sizer) groupBytes(pl *engine.Placed, g *engine.WeightGroup) (b unit.Bytes) {
	main := map[dtype.Role]unit.Bytes{}
	var order []dtype.Role
	for i := range g.Tensors {
		t := &g.Tensors[i]
		size, rest := t.Main, t.Local-t.Main
		if padded, ok := paddedVocab(t, pl.Parallel.TP); ok {
			size, rest = padded, 0
		}
		if t.Scheme == dtype.MXFP4Split {
			size, rest = s.t.mxfp4(t, pl), 0
		}
		if rest > 0 {
			b += s.allocated(rest)
		}
		role := t.Role
		if into, ok := merged[role]; ok {
			role = into
		}
		if t.Bias {
			role += ".bias"
		}
		if _, seen := main[role]; !seen {
			order = append(order, role)
		}
		main[role] += size
	}
	for _, r := range order {
		b += s.allocated(main[r])
	}
	return b
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

// allocated is what loading takes for a tensor: whole 512-byte blocks; from 10 MiB on a segment of whole
// 2 MiB, whose rest is split off only when it is more than 1 MiB (c10/cuda/CUDACachingAllocator.cpp:
// kLargeBuffer, kMinLargeAlloc, kSmallSize). On ROCm vLLM asks the driver, which knows whole segments only
// (vllm/platforms/rocm.py, get_current_memory_usage).
func (s *sizer) allocated(b unit.Bytes) unit.Bytes {
	b = unit.Bytes(unit.PadUp(int64(b), 512))
	if b < 10*unit.MiB {
		return b
	}
	whole := unit.Bytes(unit.PadUp(int64(b), int64(2*unit.MiB)))
	if s.t.rocm || whole-b <= unit.MiB {
		return whole
	}
	return b
}

// wideRotary are families whose tables vLLM keeps in float32 (vllm/model_executor/models/gpt_oss.py).
var wideRotary = map[string]bool{"gpt-oss": true}

// rotaryBytes of the tables of cosines and sines, in the model's 16-bit format.
func rotaryBytes(m *model.Model) (b unit.Bytes) {
	width := int64(2)
	if wideRotary[m.Family] {
		width = 4
	}
	for _, r := range m.Rotary {
		b += unit.Bytes(width * r.Positions * r.Dim)
	}
	return b
}
