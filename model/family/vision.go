package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Tower is a vision transformer and what carries its output to the decoder.
type Tower struct {
	Layers        int
	Width, Inner  int64
	Heads         int64
	Patch         int64 // numbers in one patch: channels × frames × height × width
	PatchBias     bool
	Positions     int64 // learned position embeddings
	Fused         bool  // one qkv matrix
	PostNorm      bool  // a layer norm after the blocks
	Tokens        int64 // tokens of one image for the decoder; 0 when it depends on the image's size
	Joined        int64 // neighbouring patches that the projector joins to one token
	Norm          NormKind
	NormWidth     int64 // of the projector's norm
	Projector     [2]Projection
	DeepStack     int // extra projectors, one for each of as many decoder layers (Qwen3-VL)
	DeepNormWidth int64
}

// Projection is one linear map of a projector; zero Out: none.
type Projection struct {
	In, Out int64
	Bias    bool
}

// PartVision is the name of the part with a vision tower and its projector.
const PartVision = "vision"

func (t *Tower) part() model.Part {
	s := &partBuilder{Spec: &Spec{Hidden: t.Width}}
	a := Attention{Heads: t.Heads, KVHeads: t.Heads, DimK: t.Width / max(1, t.Heads), Fused: t.Fused, NoRope: true, Bidirectional: true}.bias(true, true, true)
	a.DimV = a.DimK
	p := s.part(PartVision, repeat(Layer{Norm: LayerNormBias, Attn: a, FFN: MLP{Inner: t.Inner, Bias: true, Act: GELU}}, t.Layers))
	p.Pre, p.Post = t.patches(), t.projector()
	return p
}

func (t *Tower) patches() model.Kind {
	b := &kindBuilder{}
	x := b.linear(0, matrix(dtype.VisionPatch, whole(t.Width), whole(t.Patch)), t.PatchBias)
	if t.Positions > 0 {
		p := matrix(dtype.VisionPosition, whole(t.Positions), whole(t.Width))
		e := b.op(model.Op{Kind: model.Embed, Role: p.Role, Out: t.Width, W: []*model.Tensor{p}})
		b.add(x, e, t.Width)
	}
	b.k.Name = "patches"
	return b.k
}

func (t *Tower) projector() model.Kind {
	b := &kindBuilder{}
	x := model.Val(0)
	if t.PostNorm {
		x = b.norm(LayerNormBias, dtype.VisionPostNorm, x, t.Width)
	}
	b.project(x, t.Norm, t.NormWidth, t.Projector, dtype.ProjectorNorm, dtype.ProjectorIn, dtype.ProjectorOut)
	for range t.DeepStack {
		b.project(x, t.Norm, t.DeepNormWidth, t.Projector, dtype.DeepStackNorm, dtype.DeepStackIn, dtype.DeepStackOut)
	}
	b.k.Name = "projector"
	return b.k
}

func (b *kindBuilder) project(x model.Val, norm NormKind, width int64, p [2]Projection, roles ...dtype.Role) {
	x = b.norm(norm, roles[0], x, width)
	for i, q := range p {
		if q.Out > 0 {
			x = b.linear(x, matrix(roles[i+1], whole(q.Out), whole(q.In)), q.Bias)
		}
	}
}

// siglip reads Gemma 3's tower: SigLIP (arXiv:2303.15343) and a projection without bias of pooled tokens.
func (c *Config) siglip(hidden int64) *Tower {
	v := c.Sub("vision_config")
	if v == nil {
		return nil
	}
	patch, image := v.Int("patch_size"), v.Int("image_size")
	side := image / patch
	t := &Tower{Layers: v.Layers(), Width: v.Int("hidden_size"), Inner: v.Int("intermediate_size"), Heads: v.Int("num_attention_heads"),
		Patch: v.IntOr(3, "num_channels") * patch * patch, PatchBias: true, Positions: side * side, PostNorm: true, Norm: RMS,
		Tokens: c.IntOr(256, "mm_tokens_per_image")}
	t.NormWidth = t.Width
	t.Projector[0] = Projection{In: t.Width, Out: hidden}
	return t
}

// qwenVision reads the tower of Qwen3-VL and Qwen3.5: patches over two frames, learned positions, a merger
// of 2 × 2 patches, and in Qwen3-VL mergers for deeper layers.
func (c *Config) qwenVision() *Tower {
	v := c.Sub("vision_config")
	if v == nil {
		return nil
	}
	p, merge := v.Int("patch_size"), v.IntOr(2, "spatial_merge_size")
	t := &Tower{Layers: int(min(v.Int("depth"), maxLayers)), Width: v.Int("hidden_size"), Inner: v.Int("intermediate_size"), Heads: v.Int("num_heads"),
		Patch: v.IntOr(3, "in_channels") * v.IntOr(2, "temporal_patch_size") * p * p, PatchBias: true, Positions: v.IntOr(0, "num_position_embeddings"),
		Fused: true, Norm: LayerNormBias, Joined: merge * merge, DeepStack: min(len(v.Ints("deepstack_visual_indexes")), 64)}
	wide := t.Width * t.Joined
	t.NormWidth, t.DeepNormWidth = t.Width, wide
	t.Projector = [2]Projection{{In: wide, Out: wide, Bias: true}, {In: wide, Out: v.Int("out_hidden_size"), Bias: true}}
	return t
}
