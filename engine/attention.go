package engine

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Eager attention writes the matrix of scores of one layer: sequences × heads × queries × keys. Fused
// kernels (FlashAttention, arXiv:2205.14135; memory-efficient attention, arXiv:2112.05682) never do.

// ScoreBytes returns the peak bytes that eager attention holds per score (transformers, modeling_llama.py
// eager_attention_forward; torch, aten/src/ATen/native/SoftMax.cpp): the scores, an fp32 copy, and its softmax. From
// fp16, CUDA's softmax converts on the fly, and the peak is when the probabilities are cast back.
//
//	bf16: 2 scores + 4 copy + 4 softmax
//	fp16: 2 scores + 4 softmax + 2 probabilities
//	fp32: 4 scores + 4 softmax
func ScoreBytes(f *dtype.Format) (bytes int64, why string) {
	switch {
	case f == dtype.F16:
		return 8, "2 scores + 4 softmax in fp32 + 2 probabilities"
	case f.BlockElems == 1 && f.BlockBytes == 4:
		return 8, "4 scores + 4 softmax"
	}
	return 10, "2 scores + 4 copy in fp32 + 4 softmax"
}

// scoreHeads returns the largest number of query heads in any of the rank's layers; 0 without attention.
func scoreHeads(kinds []KindCount) (heads int64) {
	for i := range kinds {
		for j := range kinds[i].Kind.Ops {
			if o := &kinds[i].Kind.Ops[j]; o.Kind == model.Attention {
				heads = max(heads, o.Attn.Heads)
			}
		}
	}
	return heads
}

// EagerScores returns the score matrix of the widest layer; false if no layer has attention. Windows do not reduce it:
// the matrix is masked, not cut.
func EagerScores(b *ledger.Book, kinds []KindCount, f *dtype.Format, sequences, queries, keys int64) (ledger.Item, bool) {
	heads := scoreHeads(kinds)
	if heads == 0 {
		return ledger.Item{}, false
	}
	bytes, why := ScoreBytes(f)
	n := b.Mul(b.Int("sequences", sequences, "plan"), b.Int("heads", heads, "of one layer, this rank"),
		b.Int("queries", queries, "prompt tokens"),
		b.Int("keys", keys, "prompt tokens"), b.Int("score_bytes", bytes, why))
	return ledger.Known("activations", "score matrix of eager attention", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#eager-attention"), true
}

// EagerCliff returns the longest prompt whose scores fit in limit: √(limit / (sequences × heads × bytes)); 0 without
// attention.
func EagerCliff(kinds []KindCount, f *dtype.Format, sequences int64, limit unit.Bytes) int64 {
	heads := scoreHeads(kinds)
	if heads == 0 || sequences <= 0 || limit <= 0 {
		return 0
	}
	bytes, _ := ScoreBytes(f)
	per := float64(sequences * heads * bytes)
	n := int64(math.Sqrt(float64(limit) / per))
	for n > 0 && per*float64(n)*float64(n) > float64(limit) {
		n--
	}
	for per*float64(n+1)*float64(n+1) <= float64(limit) {
		n++
	}
	return n
}

// eagerNote is the code of the note added by EagerNote.
const eagerNote = "eager_attention"

// EagerNote adds a note on the cost of the score matrix if the plan asks for eager attention, with the prompt length at
// which it exceeds a quarter of the device. written says whether the engine materializes the matrix, so that it is in
// the ledger. Repeated calls add one note.
func EagerNote(j *Job, written bool) {
	if j.Plan.Attention != "eager" || j.noted(eagerNote) {
		return
	}
	kinds := firstKinds(j)
	l, f := j.Load(), ActivationFormat(j.Model)
	prompt := Prompt(j, l)
	it, ok := EagerScores(nil, kinds, f, l.Sequences, prompt, prompt)
	if !ok {
		return
	}
	text := fmt.Sprintf("eager attention writes a score matrix of %s × %d heads × %s × %s: %s on each device", people(l.Sequences),
		scoreHeads(kinds), unit.Count(prompt), unit.Count(prompt), it.Bytes)
	if d := j.Device(0); d != nil && d.Usable.Known {
		text += fmt.Sprintf("; from prompts of %s tokens it takes more than a quarter of a %s",
			unit.Count(EagerCliff(kinds, f, l.Sequences, d.Usable.Value/4)+1), d.Name)
	}
	if !written {
		text += "; this engine's kernels never write it, and the ledger leaves it out"
	}
	j.Note(eagerNote, "warn", "attention", "%s", text)
}

func people(sequences int64) string {
	if sequences == 1 {
		return "1 sequence"
	}
	return unit.Count(sequences) + " sequences"
}

func firstKinds(j *Job) []KindCount {
	placed, err := Place(j.Model.Decoder(), &j.Weights.Parts[0], Parallel(j.Plan))
	if err != nil || len(placed) == 0 {
		return nil
	}
	return placed[0].Kinds
}

// ActivationFormat returns the format a model computes in: its own 16-bit format, else bf16.
func ActivationFormat(m *model.Model) *dtype.Format {
	if n := m.Native; n != nil && n.Float != nil && n.BlockElems == 1 && (n.BlockBytes == 2 || n.BlockBytes == 4) {
		return n
	}
	return dtype.BF16
}

// Prompt returns the longest prompt of a load: the context less what the plan reserves for output.
func Prompt(j *Job, l Load) int64 {
	answer := int64(j.Plan.Context - j.Plan.PromptTokens)
	if j.Plan.PromptTokens == 0 {
		answer = 0
	}
	return max(1, l.Context-max(0, answer))
}
