package family

import "github.com/memwall/memwall/dtype"

// phi3v: Phi-3 and 3.5 Vision (arXiv:2404.14219): CLIP, four patches joined, two linear maps, learned
// separators, Phi-3 (the published class Phi3VForCausalLM).
var phi3v = &Family{
	Name: "phi3v", Classes: []string{"Phi3VForCausalLM"}, Types: []string{"phi3_v"},
	Config: func(c *Config) *Spec {
		s := phi3.Config(c)
		s.Family = phi3.Name
		p := c.part("img_processor")
		p.m["model_name"] = firstValue(p.m["model_name"], "openai/clip-vit-large-patch14-336")
		t := p.namedTower("model_name")
		wide := 4 * t.Width
		t.After = append(t.After, mixesIn(dtype.VisionNewline, wide), mixesIn(dtype.VisionSeparator, wide))
		t.After = append(t.After, twoLayers(wide, s.Hidden, s.Hidden, true)...)
		s.Vision = t
		return s
	},
}

func firstValue(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}
