package vllm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// The profile run of models that see or hear (vllm/v1/worker/gpu_model_runner.py, profile_run; vllm/multimodal/encoder_budget.py):
// as many of the largest items as the encoder's budget has tokens for go through the tower at once, and what comes out of it is
// kept while the decoder and the sampler run. V0 gives every sequence of its dummy step a clip where the decoder reads an encoder
// (vllm/worker/enc_dec_model_runner.py).

// largest is the item with the most tokens that a model's processor makes: Tokens of the decoder, Rows of the tower.
type largest struct {
	arch         string // what the architecture begins with
	tokens, rows int64
	most         int64 // rows that the tower takes at once, of all items; 0 for all of them
}

// largestItems by processor: what preprocessor_config.json and vllm/model_executor/models (get_image_size_with_most_features) say.
var largestItems = []largest{
	{arch: "Qwen2VL", tokens: 16384, rows: 4 * 16384},    // max_pixels 12,845,056: patches of 14², 2 × 2 of them a token
	{arch: "Qwen2_5_VL", tokens: 16384, rows: 4 * 16384}, // the same
	{arch: "Qwen2_5Omni", tokens: 16384, rows: 4 * 16384},
	{arch: "Qwen3VL", tokens: 16384, rows: 4 * 16384},  // longest_edge 16,777,216: patches of 16²
	{arch: "Qwen3_5", tokens: 16384, rows: 4 * 16384},  // the same
	{arch: "Llama4", tokens: 17 * 144, rows: 17 * 577}, // max_patches 16 tiles and the whole, 24² patches and a class token, 2 × 2 a token
	{arch: "InternVL", tokens: 13 * 256, rows: 13 * 1025},
	{arch: "Mistral3", tokens: 55 * 55, rows: 110 * 110}, // longest_edge 1,540, patches of 14², 2 × 2 a token
}

// The video of Gemma 4 (vllm/model_executor/models/gemma4_mm.py: get_mm_max_tokens_per_item): frames of 70 tokens, 9 patches each, and 8
// tokens around each; a picture is of 280. Until 0.22 one of them goes through the tower at once, then as many as a tenth of the device
// holds of one-hot positions, by its own estimate (_encoder_chunk; #43169, #43296).
const (
	gemma4        = "Gemma4For"
	gemma4Frames  = 32
	gemma4Frame   = 70
	gemma4Around  = 8
	gemma4Picture = 280
	gemma4Patches = 9
)

var gemma4Chunks = engine.V(0, 22, 0)

// gemma4Item is its largest item, by how many positions each axis has.
func gemma4Item(j *engine.Job, positions int64) largest {
	l := largest{arch: gemma4, tokens: gemma4Frames * (gemma4Frame + gemma4Around), rows: gemma4Frames * gemma4Frame * gemma4Patches}
	l.most = gemma4Frame * gemma4Patches
	if engine.On(j.Plan.NoVideo, false) {
		l.tokens, l.rows, l.most = gemma4Picture, gemma4Picture*gemma4Patches, gemma4Picture*gemma4Patches
	}
	if j.Version.AtLeast(gemma4Chunks) {
		l.most *= max(1, int64(deviceTraits(j).total)/10/(l.most*4*positions*8))
	}
	return l
}

// clips are models whose largest item is a video where a request has room for it: frames of the size of the largest picture, two of
// them one in time (vllm/model_executor/models/qwen2_vl.py: get_num_frames_with_most_features).
var clips = []string{"Qwen2VL", "Qwen2_5_VL", "Qwen2_5Omni"}

// frames is how many pairs of frames a clip has at the most, and how many pictures' tokens of a request are left to pictures.
type frames struct{ pairs, pictures int64 }

var clipFrames = []engine.Since[frames]{
	{From: v1Default, Value: frames{8, 1}, Source: "qwen2_vl.py: _MAX_FRAMES_PER_VIDEO of 16, seq_len - max_image_tokens (#12128)"},
	{From: engine.V(0, 10, 2), Value: frames{8, 0}, Source: "qwen2_vl.py: _get_max_video_frames(seq_len) (#24312)"},
	{From: engine.V(0, 11, 0), Value: frames{7, 0}, Source: "qwen2_vl.py: _MAX_FRAMES_PER_VIDEO of 14 (#25648)"},
}

// clip returns a video of frames of the largest picture, if one is allowed that is larger.
func (l largest) clip(j *engine.Job) largest {
	beginsWith := func(arch string) bool { return strings.HasPrefix(j.Model.Arch, arch) }
	if l.tokens == 0 || engine.On(j.Plan.NoVideo, false) || !slices.ContainsFunc(clips, beginsWith) {
		return l
	}
	f := engine.At(clipFrames, j.Version).Value
	n := min(f.pairs, max(1, int64(j.Plan.Context)/l.tokens-f.pictures))
	return largest{arch: l.arch, tokens: n * l.tokens, rows: n * l.rows}
}

// encoder is the tower that the profile run exercises.
type encoder struct {
	item  largest
	each  bool       // V0: an item for every sequence
	sees  bool       // pictures, which a plan may leave out
	width int64      // of its stream
	ffn   int64      // this rank
	parts int64      // values of that width alive at once
	input unit.Bytes // of a row, in float32 as processors give it
	kept  int64      // numbers that the decoder gets of a token
}

// placedEncoder returns the tower of a first rank, if the plan runs it.
func placedEncoder(j *engine.Job, pl *engine.Placed) *encoder {
	tp := pl.Parallel.TP
	if engine.On(j.Plan.WholeTower, false) {
		tp = 1
	}
	e := encoderOf(j, tp, j.Version.Before(v1Default))
	if e != nil && e.sees && engine.On(j.Plan.TextOnly, false) {
		return nil
	}
	return e
}

// encoderOf returns the tower and its largest item; nil for a model without one, or whose items are not described.
func encoderOf(j *engine.Job, tp int64, v0 bool) *encoder {
	m := j.Model
	for i := 1; i < len(m.Parts); i++ {
		p := &m.Parts[i]
		item := largestOf(j, p)
		if item.tokens == 0 || len(p.Kinds) == 0 || v0 && p.Name != "encoder" {
			continue
		}
		if p.Name == "vision" {
			item = item.clip(j)
		}
		e := &encoder{item: item, each: v0, sees: p.Name != "encoder", parts: 2, kept: m.Hidden}
		e.read(p, tp)
		return e
	}
	return nil
}

func largestOf(j *engine.Job, p *model.Part) largest {
	m := j.Model
	positions := int64(0)
	for i := range p.Pre.Ops {
		if o := &p.Pre.Ops[i]; o.Kind == model.Embed {
			positions = o.W[0].Rows()
		}
	}
	switch {
	case p.Name == "encoder":
		return largest{tokens: positions, rows: positions}
	case p.Name != "vision":
		return largest{}
	case strings.HasPrefix(m.Arch, gemma4) && positions > 0:
		return gemma4Item(j, positions/2)
	case m.Traits.ImageTokens > 0:
		return largest{tokens: m.Traits.ImageTokens, rows: max(positions, m.Traits.ImageTokens)}
	}
	for _, l := range largestItems {
		if strings.HasPrefix(m.Arch, l.arch) {
			return l
		}
	}
	return largest{}
}

// read sets the widths of a tower; its layers are sharded like the decoder's if its heads divide.
func (e *encoder) read(p *model.Part, tp int64) {
	if o := &p.Pre.Ops[0]; len(o.W) > 0 {
		e.width, e.input = o.Out, unit.Bytes(4*o.W[0].Cols)
		if o.Role == dtype.AudioConv1 { // a row is of two frames, the kernel of three
			e.input = e.input * 2 / 3
		}
	}
	for i := range p.Kinds[0].Ops {
		o := &p.Kinds[0].Ops[i]
		switch {
		case o.Attn != nil && o.Attn.Heads%tp != 0:
			tp = 1
		case o.Kind == model.Glu:
			e.ffn, e.parts = o.Out/tp, 3
		case o.Kind == model.Act:
			e.ffn = o.Out / tp
		}
	}
	for i := range p.Post.Ops {
		if o := &p.Post.Ops[i]; o.Role == dtype.DeepStackOut {
			e.kept += o.Out
		}
	}
}

// items returns the number of items that pass the tower at once.
func (e *encoder) items(s *sizer) int64 {
	p := s.job.Plan
	seqs, tokens := int64(p.MaxSeqs), int64(p.MaxBatchedTokens)
	if e.each {
		return seqs
	}
	each := max(1, int64(p.Context)/e.item.tokens)
	return max(1, min(max(tokens, e.item.tokens)/e.item.tokens, seqs*each))
}

// peak returns the largest of a layer: its FFN, the input stream, the residual and the FFN's input, beside the inputs.
func (e *encoder) peak(b *ledger.Book, items ledger.Num) ledger.Num {
	rows := b.Mul(items, b.Int("rows", e.item.rows, "of the largest item"))
	layer := b.Add(b.Mul(b.Int("values", e.parts, "of the FFN at once"), b.Int("encoder_ffn", e.ffn, "model, this rank")),
		b.Mul(b.Lit(3), b.Int("encoder_hidden", e.width, "model")))
	input := b.Size("input", e.input, "of a row, float32")
	if e.item.most == 0 {
		return b.Mul(rows, b.Add(b.Mul(b.Lit(2), layer), input))
	}
	once := b.Min(rows, b.Int("rows_at_once", e.item.most, "of the tower"))
	return b.Add(b.Mul(b.Lit(2), once, layer), b.Mul(rows, input))
}

// outputs returns the encoder outputs kept while the decoder runs.
func (e *encoder) outputs(b *ledger.Book, items ledger.Num) ledger.Num {
	return b.Mul(b.Lit(2), items, b.Int("tokens", e.item.tokens, "of the largest item"), b.Int("numbers", e.kept, "of a token"))
}

func (e *encoder) name(items int64) string {
	return fmt.Sprintf("activations: encoder over %s items", unit.Count(items))
}
