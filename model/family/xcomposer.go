package family

import "github.com/memwall/memwall/dtype"

// xcomposer2: InternLM-XComposer2 for images of up to 4K (arXiv:2404.06512; build_mlp.py, modeling_internlm2.py of its
// repository): CLIP without its last norm, four patches joined, two linear maps, InternLM2 with a branch for image tokens
// beside every matrix. Its class fixes the encoder and the ranks.
func (c *Config) xcomposer2() *Spec {
	const context, rank, rankQKV = 16384, 256, 8
	if got := c.IntOr(0, "max_length"); got != context {
		c.lacks("max_length", c.m["max_length"], "is of an InternLM-XComposer2 whose encoder and branches are not described; the one of 16384 tokens is", fromFiles)
	}
	b := c.Bool(false, "bias")
	s := c.internlm(b, b)
	for i := range s.Layers {
		s.Layers[i].Attn.Fused = true
		s.Layers[i].Branches[0] = Branch{QKV: rankQKV, Rest: rank}
	}
	c.m["vit"] = "openai/clip-vit-large-patch14-336"
	t := c.namedTower("vit")
	wide := 4 * t.Width
	t.After = append([]Weight{mixesIn(dtype.VisionNewline, wide), mixesIn(dtype.VisionSeparator, wide)}, twoLayers(wide, s.Hidden, s.Hidden, true)...)
	s.Vision, s.Family = t, "internlm2"
	return s
}
