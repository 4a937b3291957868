package family

import (
	"testing"

	"github.com/memwall/memwall/model"
)

// TestDiffusionParameters: what FLUX.1 schnell has less than dev is the embedding of the guidance strength, and what an
// image adds to Wan is its projection and keys and values in every layer. The catalog has the published totals.
func TestDiffusionParameters(t *testing.T) {
	dev := readModel(t, `{"_class_name":"FluxTransformer2DModel","guidance_embeds":true}`).Params()
	schnell := readModel(t, `{"_class_name":"FluxTransformer2DModel"}`).Params()
	if got := dev - schnell; got != 256*3072+3072+3072*3072+3072 {
		t.Errorf("the guidance strength has %d parameters", got)
	}
	text := readModel(t, `{"_class_name":"WanTransformer3DModel"}`).Params()
	image := readModel(t, `{"_class_name":"WanTransformer3DModel","image_dim":1280,"added_kv_proj_dim":5120}`).Params()
	const projection = 2*1280 + 1280*1280 + 1280 + 1280*5120 + 5120 + 2*5120
	if got := image - text; got != projection+40*(2*(5120*5120+5120)+5120) {
		t.Errorf("an image adds %d parameters", got)
	}
}

// TestStoredPositions: fixed positions of Stable Diffusion 3 are stored and no parameters.
func TestStoredPositions(t *testing.T) {
	m := readModel(t, `{"_class_name":"SD3Transformer2DModel","pos_embed_max_size":96}`)
	bigger := readModel(t, `{"_class_name":"SD3Transformer2DModel","pos_embed_max_size":192}`)
	if m.Params() != bigger.Params() {
		t.Errorf("%d and %d parameters", m.Params(), bigger.Params())
	}
	stored := false
	for _, o := range m.Part(PartDenoiser).Pre.Ops {
		for _, w := range o.W {
			stored = stored || w.Table && w.Elems() == 96*96*18*64
		}
	}
	if !stored {
		t.Error("no table of positions")
	}
}

// TestDiffusionRefusals: sizes that do not go together are named.
func TestDiffusionRefusals(t *testing.T) {
	for config, field := range map[string]string{
		`{"_class_name":"SD3Transformer2DModel","caption_projection_dim":1000}`:                           "caption_projection_dim",
		`{"_class_name":"WanTransformer3DModel","patch_size":[1,2]}`:                                      "patch_size",
		`{"_class_name":"FluxTransformer2DModel","num_layers":1000000000}`:                                "num_layers",
		`{"_class_name":"FluxTransformer2DModel","num_attention_heads":100000}`:                           "num_attention_heads",
		`{"_class_name":"HunyuanVideoTransformer3DModel","mlp_ratio":-4}`:                                 "mlp_ratio",
		`{"_class_name":"ZImageTransformer2DModel","siglip_feat_dim":1152}`:                               "siglip_feat_dim",
		`{"_class_name":"HunyuanVideoTransformer3DModel","image_condition_type":"token_replace"}`:         "image_condition_type",
		`{"_class_name":"WanTransformer3DModel","patch_size":[1,4294967296,2]}`:                           "patch_size",
		`{"_class_name":"ZImageTransformer2DModel","dim":3841,"n_heads":30,"n_kv_heads":30,"n_layers":1}`: "n_heads",
	} {
		c, err := ParseConfig([]byte(config))
		if err != nil {
			t.Fatal(err)
		}
		_, err = FromConfig(c)
		if e, ok := err.(*FieldError); !ok || e.Field != field {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// TestDenoiserKeeps: a block of FLUX.1 that attends and multiplies side by side keeps of a token, with all weights in training and 16
// bits: what is scaled and shifted, before and after; queries, keys, values, what attention gives and its log-sums; what enters GELU;
// attention's and GELU's results side by side, which the last product reads; what is gated; and of the norms of queries and keys an
// fp32 copy and the normalised numbers (diffusers, transformer_flux.py: FluxSingleTransformerBlock). Frozen weights keep no more than
// nonlinear operators need.
func TestDenoiserKeeps(t *testing.T) {
	const w, heads = 3072, 24
	m := readModel(t, `{"_class_name":"FluxTransformer2DModel","guidance_embeds":true}`)
	kinds := m.Part(PartDenoiser).Kinds
	single := &kinds[len(kinds)-1]
	got, entry := single.SavedWithEntry(model.Style{Image: 4096, Text: 512})
	const want = 2*w*(1+1+3+1+4+5+1) + 2*(2+4)*w + 4*heads
	if got != want || !entry {
		t.Errorf("a block keeps %.0f bytes of a token, want %d", got, want)
	}
	frozen, _ := single.SavedWithEntry(model.Style{Image: 4096, Text: 512, Frozen: true})
	if want := 2.*w*(3+1+4) + 2*4*w + 4*heads; frozen != want {
		t.Errorf("frozen it keeps %.0f, want %.0f", frozen, want)
	}
	both := &kinds[0]
	all, _ := both.SavedWithEntry(model.Style{Image: 4608})
	part, _ := both.SavedWithEntry(model.Style{Image: 4096, Text: 512})
	text, _ := both.SavedWithEntry(model.Style{Text: 4608})
	if mean := (8*all + text) / 9; part < 0.99*mean || part > 1.01*mean || text > 1.2*all || all > 1.2*text {
		t.Errorf("a block of two streams keeps %.0f of a picture's tokens, %.0f of its text's, %.0f of both", all, text, part)
	}
}
