package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
)

// encoders holds the parameters of a diffusion model's text encoders and autoencoder, which compute conditioning and
// latents. Trainers run both before the first step and drop them, or keep them frozen on the device.
type encoders struct{ text, autoencoder int64 }

// Parameters of text encoders, which TestEncodersAreNetworks recomputes: the encoder of T5 v1.1 XXL with its embedding,
// and the text models of CLIP ViT-L and OpenCLIP bigG (diffusers, pipelines/flux and stable_diffusion_3). No family
// builds the autoencoder, AutoencoderKL with 16 channels: its count is from memory of black-forest-labs/FLUX.1-dev.
const (
	t5xxl, clipL, clipBigG = 4_762_310_656, 123_060_480, 694_659_840
	autoencoder16          = 83_819_683
)

var encodersOf = map[string]encoders{
	"flux": {t5xxl + clipL, autoencoder16},
	"sd3":  {t5xxl + clipL + clipBigG, autoencoder16},
}

// Names of frozen models next to a denoiser.
const textEncoder, autoencoder = "text_encoder", "vae"

// denoises reports whether the model is a diffusion model: it reads latents and text, and has no vocabulary.
func denoises(j *Job) bool { return j.Model.Part(model.PartDenoiser) != nil }

// denoiserDefaults sets the tokens of a step, and the layers that diffusers' examples adapt.
func denoiserDefaults(j *Job) {
	if !denoises(j) {
		return
	}
	t := j.Training
	j.number("sequence_length", &t.SequenceLength, model.Picture.Tokens+model.TextTokens)
	if len(t.LoRA) == 0 && t.Method != "full" && t.Method != "" {
		t.LoRA = []string{"to_q", "to_k", "to_v", "to_out"}
	}
	image, text := j.Model.Streams(j.longest())
	j.Note("denoiser_tokens", "info", "sequence_length",
		"%d tokens are %d of a picture and %d of its text; 1024 × 1024 are 4,096: as many patches of 16 × 16", image+text, image, text)
	if names := frozenBeside(j); len(names) > 0 && len(t.Frozen) == 0 {
		j.Note("made_before", "info", "frozen",
			"latents and embeddings are taken to be made before the first step; --frozen %s keeps what makes them", strings.Join(names, ","))
	}
}

// bookEncoders books the frozen encoders, replicated on each rank.
func bookEncoders(f *filler) {
	j := f.s.j
	e := encodersOf[j.Model.Family]
	for _, c := range []struct {
		name string
		n    int64
	}{{textEncoder, e.text}, {autoencoder, e.autoencoder}} {
		if denoises(j) && slices.Contains(j.Training.Frozen, c.name) {
			n := f.b.Mul(f.b.In("parameters", float64(c.n), "its repository"), f.b.In("bytes", float64(j.width()), "precision"))
			f.keep(c.name+".weights", c.name+", frozen", n, ledger.Derived, phasesPage)
		}
	}
}

// frozenBeside returns the names of frozen models next to the trained one.
func frozenBeside(j *Job) []string {
	if _, known := encodersOf[j.Model.Family]; known && denoises(j) {
		return []string{textEncoder, autoencoder}
	}
	return nil
}

// ofDenoisers are the frameworks and objectives of diffusers' examples.
var ofDenoisers = struct{ frameworks, objectives []string }{
	[]string{"transformers", "accelerate", "fsdp", "deepspeed"}, []string{"pretrain", "sft"},
}

// checkDenoiser rejects text-only frameworks and objectives over a vocabulary.
func checkDenoiser(j *Job) error {
	switch t := j.Training; {
	case !denoises(j):
		return nil
	case !slices.Contains(ofDenoisers.frameworks, j.Framework.Name):
		return impossible("framework", j.Framework.Name, "--framework transformers: diffusers' trainers are of its kind",
			"%s trains no denoiser, and %s is one", j.Framework.Name, j.Model.ID)
	case !slices.Contains(ofDenoisers.objectives, t.Objective):
		return impossible("objective", t.Objective, "--objective sft",
			"objective = %s is of models with a vocabulary, and %s is a denoiser", t.Objective, j.Model.ID)
	}
	return nil
}
