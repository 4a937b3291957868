package family

import (
	"slices"

	"github.com/memwall/memwall/dtype"
)

// mllama: Llama 3.2 Vision (arXiv:2407.21783, section 7): some layers of the text model attend to the tiles of
// an image instead of the text (transformers, models/mllama/modeling_mllama.py).
var mllama = &Family{
	Name: "mllama", Classes: []string{"MllamaForConditionalGeneration"}, Types: []string{"mllama"},
	Config: func(c *Config) *Spec {
		t, v := c.part("text_config"), c.part("vision_config")
		tower := v.mllamaTower()
		s := t.base(false)
		h := s.Hidden
		tower.After = append(tower.After, mapping(dtype.ProjectorIn, v.Int("vision_output_dim"), h, true))
		s.Vision = tower
		s.ExtraTokens = 8
		if t.ropeType() == "llama3" {
			s.Tables = []Table{ropeTable(t.heads().DimK / 2)}
		}
		s.Layers = t.mllamaLayers(v.Int("max_num_tiles") * v.mllamaPositions())
		return c.outerTie(s)
	},
}

func (c *Config) mllamaLayers(source int64) []Layer {
	plain := Layer{Norm: RMS, Attn: c.heads(), FFN: c.gated()}
	crossing := Layer{Norm: RMS, Cross: c.heads(), FFN: c.gated(), Gates: true}
	crossing.Cross.QKNorm, crossing.Cross.Encoder, crossing.Cross.Source = PerHead, c.Int("hidden_size"), source
	at := c.Ints("cross_attention_layers")
	out := repeat(plain, c.Layers())
	for i := range out {
		if slices.Contains(at, int64(i)) {
			out[i] = crossing
		}
	}
	return out
}

// mllamaPositions are the patches of a tile and its class token.
func (c *Config) mllamaPositions() int64 {
	side := c.Int("image_size") / c.Int("patch_size")
	return side*side + 1
}

func (c *Config) mllamaTower() *Tower {
	w, p, tiles, at := c.Int("hidden_size"), c.Int("patch_size"), c.Int("max_num_tiles"), c.mllamaPositions()
	shapes := c.IntOr(8, "max_aspect_ratio_id")
	if c.Has("supported_aspect_ratios") {
		shapes = int64(len(list(c, "supported_aspect_ratios", func(v any) (any, bool) { return v, true })))
	}
	shapes++ // one for no image
	l := Layer{Norm: LayerNormBias, Attn: seeing(w, c.Int("attention_heads", "num_attention_heads")), FFN: MLP{Inner: c.Int("intermediate_size"), Bias: true, Act: GELU}}
	gated := l
	gated.Gates = true
	t := &Tower{Width: w, Layers: append(repeat(l, c.Layers()), repeat(gated, c.layersOr(8, "num_global_layers"))...)}
	t.Before = []Weight{
		mapping(dtype.VisionPatch, c.IntOr(3, "num_channels")*p*p, w, false), mixesIn(dtype.VisionClass, w),
		shaped(dtype.VisionTiles, shapes, tiles*w), mixesIn(dtype.VisionTilesGate, 1),
		shaped(dtype.VisionPosition, at, w), mixesIn(dtype.VisionPositionGate, 1), shaped(dtype.VisionTilePosition, shapes, tiles*at*w),
		norms(dtype.VisionPreNorm, LayerNormBias, w)}
	t.After = []Weight{norms(dtype.VisionPostNorm, LayerNormBias, w), shaped(dtype.VisionTilesPost, shapes, tiles*w), mixesIn(dtype.VisionTilesPostGate, 1)}
	return t
}

// shaped is a table with a row for each shape of a tiled image.
func shaped(role dtype.Role, rows, width int64) Weight {
	return Weight{Role: role, Use: MixesIn, In: rows, Out: width}
}
