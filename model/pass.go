package model

import "github.com/memwall/memwall/unit"

// TextTokens is the maximum text length of most diffusion models (diffusers,
// examples/dreambooth/train_dreambooth_flux.py: max_sequence_length).
const TextTokens = 512

// Made is the default output of a denoiser.
type Made struct {
	Tokens int64 // of the image, or of all frames
	Words  string
}

// Picture is the image size that diffusion models are trained for (diffusers,
// examples/dreambooth/train_dreambooth_flux.py: resolution).
var Picture = Made{4096, "a picture of 1024 × 1024, in patches of 16 × 16"}

// videos holds the defaults of diffusers' pipelines (pipelines/wan/pipeline_wan.py and
// hunyuan_video/pipeline_hunyuan_video.py), with autoencoders of 8 × 8 × 4 and patches of 2 × 2.
var videos = map[string]Made{
	"wan":           {21 * 30 * 52, "81 frames of 832 × 480"},
	"hunyuan-video": {33 * 45 * 80, "129 frames of 1280 × 720"},
}

// Usual returns the output that a denoiser makes by default.
func (m *Model) Usual() Made {
	if v, ok := videos[m.Family]; ok {
		return v
	}
	return Picture
}

// PartDenoiser is the name of the part that denoises a latent image or clip: the transformer of a diffusion model.
const PartDenoiser = "denoiser"

// Streams splits the tokens of a denoiser's step into image and text tokens; 0 and 0 if the model is not a denoiser.
func (m *Model) Streams(tokens int64) (image, text int64) {
	if m.Part(PartDenoiser) == nil {
		return 0, 0
	}
	text = min(TextTokens, tokens/2)
	return tokens - text, text
}

// Share returns the number of a step's tokens that operators on rows of kind r process.
func (r Rows) Share(image, text int64) float64 {
	switch all := float64(image + text); {
	case r == PerImage && all > 0:
		return float64(image) / all
	case r == PerText && all > 0:
		return float64(text) / all
	}
	return 1
}

// Pass returns the FLOPs of one denoiser pass over the given image and text tokens: each operator processes its own
// stream, and attention joins them. Activations are 16-bit.
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

// stream returns the part of a pass that an operator processes, as a Step.
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
