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
func groupBytes(g *engine.WeightGroup, tp int64) (b unit.Bytes) {
	main := map[dtype.Role]unit.Bytes{}
	var order []dtype.Role
	for i := range g.Tensors {
		t := &g.Tensors[i]
		size, rest := t.Main, t.Local-t.Main
		if padded, ok := paddedVocab(t, tp); ok {
			size, rest = padded, 0
		}
		if rest > 0 {
			b += allocated(rest)
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
		b += allocated(main[r])
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

// allocated is what torch's caching allocator takes for a tensor: whole 512-byte blocks; from 10 MiB on a
// segment of whole 2 MiB, whose rest is split off only when it is more than 1 MiB
// (c10/cuda/CUDACachingAllocator.cpp: kLargeBuffer, kMinLargeAlloc, kSmallSize).
func allocated(b unit.Bytes) unit.Bytes {
	b = unit.Bytes(unit.PadUp(int64(b), 512))
	if b < 10*unit.MiB {
		return b
	}
	whole := unit.Bytes(unit.PadUp(int64(b), int64(2*unit.MiB)))
	if whole-b <= unit.MiB {
		return whole
	}
	return b
}

// rotaryBytes of the tables of cosines and sines, in the model's 16-bit format.
func rotaryBytes(m *model.Model) (b unit.Bytes) {
	for _, r := range m.Rotary {
		b += unit.Bytes(2 * r.Positions * r.Dim)
	}
	return b
}
