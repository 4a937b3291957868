package source

import (
	"slices"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model/catalog"
)

// TestTowerNames: names of published indices end in the slot of the part that they mean. Each is of the repository
// that the catalog's row names.
func TestTowerNames(t *testing.T) {
	for id, names := range map[string]map[string]where4{
		"qwen2.5-vl-7b": {
			"visual.patch_embed.proj.weight": {"vision", -1, dtype.VisionPatch, false}, "visual.blocks.3.mlp.gate_proj.bias": {"vision", 3, dtype.FFNGate, true},
			"visual.merger.mlp.2.weight": {"vision", -1, dtype.ProjectorOut, false}, "model.layers.5.self_attn.q_proj.bias": {"decoder", 5, dtype.AttnQ, true},
		},
		"internvl3-8b": {
			"vision_model.embeddings.class_embedding": {"vision", -1, dtype.VisionClass, false}, "vision_model.encoder.layers.23.ls2": {"vision", 23, dtype.LayerScale2, false},
			"mlp1.0.weight": {"vision", -1, dtype.ProjectorNorm, false}, "mlp1.3.bias": {"vision", -1, dtype.ProjectorOut, true},
			"language_model.model.layers.2.mlp.up_proj.weight": {"decoder", 2, dtype.FFNUp, false},
		},
		"locateanything-3b": {
			"vision_model.encoder.blocks.1.norm1.weight": {"vision", 1, dtype.FFNNorm, false}, "vision_model.encoder.blocks.1.mlp.fc1.bias": {"vision", 1, dtype.FFNDown, true},
			"vision_model.patch_embed.pos_emb.weight": {"vision", -1, dtype.VisionPosition, false},
		},
		"llama-3.2-11b-vision": {
			"vision_model.transformer.layers.0.self_attn.q_proj.weight": {"vision", 0, dtype.AttnQ, false}, "vision_model.global_transformer.layers.0.gate_ffn": {"vision", 32, dtype.FFNGateScale, false},
			"vision_model.gated_positional_embedding.tile_embedding.weight": {"vision", -1, dtype.VisionTilePosition, false},
			"language_model.model.layers.3.cross_attn.k_norm.weight":        {"decoder", 3, dtype.CrossKNorm, false},
			"language_model.model.layers.3.cross_attn_mlp_gate":             {"decoder", 3, dtype.FFNGateScale, false},
			"language_model.model.layers.3.input_layernorm.weight":          {"decoder", 3, dtype.CrossNorm, false},
			"multi_modal_projector.weight":                                  {"vision", -1, dtype.ProjectorIn, false},
		},
		"llama-4-scout": {
			"vision_model.vision_adapter.mlp.fc2.weight": {"vision", -1, dtype.ProjectorMerge, false}, "vision_model.model.layers.33.mlp.fc1.bias": {"vision", 33, dtype.FFNUp, true},
			"multi_modal_projector.linear_1.weight": {"vision", -1, dtype.ProjectorIn, false},
		},
		"molmo-7b-d": {
			"model.vision_backbone.image_vit.transformer.resblocks.22.attention.wo.bias": {"vision", 22, dtype.AttnOutput, true},
			"model.vision_backbone.image_projector.w3.weight":                            {"vision", -1, dtype.ProjectorIn, false},
			"model.transformer.wte.new_embedding":                                        {"decoder", -1, dtype.TokenEmbd, false},
			"model.transformer.blocks.1.ff_proj.weight":                                  {"decoder", 1, dtype.FFNUp, false},
			"model.transformer.ff_out.weight":                                            {"decoder", -1, dtype.Output, false},
		},
		"minicpm-v": {
			"vpm.blocks.25.attn.qkv.weight": {"vision", 25, dtype.AttnQKV, false}, "resampler.attn.in_proj_weight": {"vision", -1, dtype.ProjectorAttn, false},
			"resampler.attn.in_proj_bias": {"vision", -1, dtype.ProjectorAttn, true}, "llm.model.layers.0.mlp.gate_proj.weight": {"decoder", 0, dtype.FFNGate, false},
		},
		"deepseek-ocr": {
			"model.sam_model.blocks.2.attn.rel_pos_h": {"vision_page", 2, dtype.AttnRelBias, false}, "model.sam_model.neck.1.weight": {"vision_page", -1, dtype.VisionNeckNorm, false},
			"model.vision_model.transformer.layers.9.layer_norm2.bias": {"vision", 9, dtype.FFNNorm, true}, "model.projector.layers.weight": {"vision", -1, dtype.ProjectorIn, false},
			"model.image_newline": {"vision", -1, dtype.VisionNewline, false},
		},
		"logics-thinking-8b": {
			"model.vision_tower.vision_towers.0.vision_tower.stages.2.blocks.29.conv_dw.weight":                    {"vision", -1, dtype.VisionDepthwise, false},
			"model.vision_tower.vision_towers.1.vision_tower.vision_model.encoder.layers.25.self_attn.v_proj.bias": {"vision", 25, dtype.AttnV, true},
			"model.vision_tower.vision_towers.1.vision_tower.vision_model.embeddings.position_embedding.weight":    {"vision", -1, dtype.VisionPosition, false},
			"model.mm_projector.2.weight": {"vision", -1, dtype.ProjectorOut, false},
		},
		"voxtral-mini-3b": {
			"audio_tower.layers.31.fc1.weight": {"audio", 31, dtype.FFNUp, false}, "audio_tower.conv2.bias": {"audio", -1, dtype.AudioConv2, true},
			"multi_modal_projector.linear_2.weight": {"audio", -1, dtype.ProjectorOut, false},
		},
		"whisper-base": {
			"model.encoder.conv1.weight": {"encoder", -1, dtype.AudioConv1, false}, "model.encoder.layers.5.self_attn.v_proj.bias": {"encoder", 5, dtype.AttnV, true},
			"model.encoder.embed_positions.weight": {"encoder", -1, dtype.AudioPosition, false}, "model.decoder.embed_positions.weight": {"decoder", -1, dtype.PositionEmbd, false},
			"model.decoder.layers.5.encoder_attn.k_proj.weight": {"decoder", 5, dtype.CrossK, false}, "model.decoder.layers.5.encoder_attn_layer_norm.bias": {"decoder", 5, dtype.CrossNorm, true},
			"model.decoder.layer_norm.weight": {"decoder", -1, dtype.OutputNorm, false},
		},
		"flan-t5-base": {
			"shared.weight": {"decoder", -1, dtype.TokenEmbd, false}, "encoder.block.11.layer.1.DenseReluDense.wi_1.weight": {"encoder", 11, dtype.FFNUp, false},
			"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": {"encoder", 0, dtype.AttnRelBias, false},
			"decoder.block.4.layer.1.EncDecAttention.o.weight":                     {"decoder", 4, dtype.CrossOutput, false},
			"decoder.block.4.layer.1.layer_norm.weight":                            {"decoder", 4, dtype.CrossNorm, false},
			"encoder.block.4.layer.1.layer_norm.weight":                            {"encoder", 4, dtype.FFNNorm, false},
			"encoder.final_layer_norm.weight":                                      {"encoder", -1, dtype.OutputNorm, false},
		},
		"bart-base": {
			"encoder.layers.2.final_layer_norm.weight": {"encoder", 2, dtype.LayerOutNorm, false}, "decoder.layernorm_embedding.bias": {"decoder", -1, dtype.TokenEmbdNorm, true},
			"decoder.layers.2.self_attn_layer_norm.weight": {"decoder", 2, dtype.AttnOutNorm, false},
		},
		"bge-large-en": {
			"encoder.layer.23.attention.self.query.bias": {"encoder", 23, dtype.AttnQ, true}, "embeddings.token_type_embeddings.weight": {"encoder", -1, dtype.TokenTypes, false},
			"encoder.layer.23.output.LayerNorm.weight": {"encoder", 23, dtype.LayerOutNorm, false}, "pooler.dense.weight": {"encoder", -1, dtype.Pooler, false},
		},
		"bge-reranker-v2-m3": {
			"roberta.encoder.layer.0.intermediate.dense.weight": {"encoder", 0, dtype.FFNUp, false}, "classifier.out_proj.bias": {"encoder", -1, dtype.ClassOut, true},
		},
		"modernbert-base": {
			"layers.1.attn_norm.weight": {"encoder", 1, dtype.AttnNorm, false}, "layers.1.mlp.Wi.weight": {"encoder", 1, dtype.FFNUp, false}, "embeddings.tok_embeddings.weight": {"encoder", -1, dtype.TokenEmbd, false},
		},
		"clip-vit-large-patch14": {
			"text_model.encoder.layers.11.mlp.fc2.weight": {"encoder", 11, dtype.FFNDown, false}, "vision_model.pre_layrnorm.bias": {"vision", -1, dtype.VisionPreNorm, true},
			"visual_projection.weight": {"vision", -1, dtype.ProjectorIn, false}, "text_projection.weight": {"encoder", -1, dtype.TextProj, false}, "logit_scale": {"encoder", -1, dtype.LogitScale, false},
		},
		"dinov2-large": {
			"embeddings.mask_token": {"vision", -1, dtype.VisionMask, false}, "encoder.layer.7.layer_scale1.lambda1": {"vision", 7, dtype.LayerScale1, false},
			"encoder.layer.7.attention.attention.key.bias": {"vision", 7, dtype.AttnK, true}, "layernorm.weight": {"vision", -1, dtype.VisionPostNorm, false},
		},
	} {
		e, err := catalog.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Spec()
		if err != nil {
			t.Fatal(err)
		}
		f := newFiling(s.Model(id))
		for name, want := range names {
			x := fileTensor{name: name}
			n, ok := readName(name)
			if !ok || !f.place(&x, &n) {
				t.Errorf("%s: %s has no place", id, name)
				continue
			}
			if got := f.placed(name); !slices.Contains(got, want) {
				t.Errorf("%s: %s is %+v, want %+v", id, name, got, want)
			}
		}
	}
}

// where4 is a slot of a part.
type where4 struct {
	part  string
	layer int
	role  dtype.Role
	bias  bool
}

// placed lists the slots that hold a tensor.
func (f *filing) placed(name string) (out []where4) {
	for part, p := range f.parts {
		for at, h := range p.held {
			if h.name == name {
				out = append(out, where4{part, at.layer, at.slot.role, at.slot.bias})
			}
		}
	}
	return out
}
