package model

import "github.com/memwall/memwall/unit"

// TextTokens are the longest text of most denoisers (diffusers, examples/dreambooth/train_dreambooth_flux.py: max_sequence_length).
const TextTokens = 512

// Made is what a denoiser makes at once where nobody says another size.
type Made struct {
	Tokens int64 // of the picture, or of all frames
	Words  string
}

// Picture is what models of pictures are trained to make (diffusers, examples/dreambooth/train_dreambooth_flux.py: resolution).
var Picture = Made{4096, "a picture of 1024 × 1024, in patches of 16 × 16"}

// videos are the defaults of diffusers' pipelines: pipelines/wan/pipeline_wan.py and hunyuan_video/pipeline_hunyuan_video.py, through
// autoencoders of 8 × 8 × 4 and patches of 2 × 2.
var videos = map[string]Made{
	"wan":           {21 * 30 * 52, "81 frames of 832 × 480"},
	"hunyuan-video": {33 * 45 * 80, "129 frames of 1280 × 720"},
}

// Usual is what a denoiser makes by default.
func (m *Model) Usual() Made {
	if v, ok := videos[m.Family]; ok {
		return v
	}
	return Picture
}

// PartDenoiser is the name of the part that takes noise from a latent image or clip: the transformer of a diffusion model.
const PartDenoiser = "denoiser"

// Streams are how many of the tokens that a denoiser's step sees are of the picture, and how many of its text; 0 and 0 of a model
// that is none.
func (m *Model) Streams(tokens int64) (image, text int64) {
	if m.Part(PartDenoiser) == nil {
		return 0, 0
	}
	text = min(TextTokens, tokens/2)
	return tokens - text, text
}

// Share of a step's tokens that operators on such rows see.
func (r Rows) Share(image, text int64) float64 {
	switch all := float64(image + text); {
	case r == PerImage && all > 0:
		return float64(image) / all
	case r == PerText && all > 0:
		return float64(text) / all
	}
	return 1
}

// Pass is the arithmetic of one pass of a denoiser over so many tokens of a picture and of the text that it is made for: each
// operator works on the tokens of its stream, and attention joins them. Steps of 16-bit activations.
func (m *Model) Pass(image, text int64) (x unit.FLOPs) {
	m.Decoder().Each(func(k *Kind, n int64) { x += unit.FLOPs(n) * k.pass(image, text) })
	return x
}

func (k *Kind) pass(image, text int64) (x unit.FLOPs) {
	e := Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}
	for i := range k.Ops {
		o := k.Ops[i]
		if a := o.Attn; a != nil && a.CrossEncoder {
			to := *a
			to.Source = text
			o.Attn = &to
		}
		if o.Rows == PerText && text == 0 {
			continue
		}
		f := o.stream(image, text).Features(nil, o.Moe)
		c := o.Coeffs(&e, func(int) unit.Bytes { return 0 })
		x += c.Eval(&f).FLOPs
	}
	return x
}

// stream is the step that an operator sees of a pass.
func (o *Op) stream(image, text int64) Step {
	n := image + text
	switch o.Rows {
	case PerImage:
		n = image
	case PerText:
		n = text
	}
	return Step{Tokens: n, Seqs: 1, Outputs: n}
}
