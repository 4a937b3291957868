package source

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/model/family"
)

// What diffusers' files call the tensors of diffusion transformers, in the manner of names.go.

// denoiserModules are the modules of a block.
const denoiserModules = `
norm1.linear                      adaln
norm.linear                       adaln
norm_out.linear                   adaln
img_mod.#                         adaln
adaLN_modulation.#                adaln
norm1_context.linear              adaln_context
txt_mod.#                         adaln_context
scale_shift_table                 adaln_table
attn.to_q                         attn_q
attn.to_k                         attn_k
attn.to_v                         attn_v
attn.to_out.#                     attn_output
attn.norm_q                       attn_q_norm
attn.norm_k                       attn_k_norm
attn.add_q_proj                   context_q
attn.add_k_proj                   context_k
attn.add_v_proj                   context_v
attn.to_add_out                   context_output
attn.norm_added_q                 context_q_norm
attn.norm_added_k                 context_k_norm
attn1.to_q                        attn_q
attn1.to_k                        attn_k
attn1.to_v                        attn_v
attn1.to_out.#                    attn_output
attn1.norm_q                      attn_q_norm
attn1.norm_k                      attn_k_norm
attn2.to_q                        cross_attn_q | attn_q
attn2.to_k                        cross_attn_k | attn_k
attn2.to_v                        cross_attn_v | attn_v
attn2.to_out.#                    cross_attn_o | attn_output
attn2.norm_q                      cross_attn_q_norm | attn_q_norm
attn2.norm_k                      cross_attn_k_norm | attn_k_norm
attn2.add_k_proj                  image_k
attn2.add_v_proj                  image_v
attn2.norm_added_k                image_k_norm
attention.to_q                    attn_q
attention.to_k                    attn_k
attention.to_v                    attn_v
attention.to_out.#                attn_output
attention.norm_q                  attn_q_norm
attention.norm_k                  attn_k_norm
attention_norm1                   attn_norm
attention_norm2                   post_attention_norm
ffn_norm1                         ffn_norm
ffn_norm2                         post_ffw_norm
norm1                             attn_norm
norm2                             cross_attn_norm | ffn_norm
ff.net.#.proj                     ffn_up
ff.net.#                          ffn_down
ffn.net.#.proj                    ffn_up
ffn.net.#                         ffn_down
img_mlp.net.#.proj                ffn_up
img_mlp.net.#                     ffn_down
ff_context.net.#.proj             context_up
ff_context.net.#                  context_down
txt_mlp.net.#.proj                context_up
txt_mlp.net.#                     context_down
proj_mlp                          ffn_up
proj_out                          ffn_down
feed_forward.w1                   ffn_gate
feed_forward.w3                   ffn_up
feed_forward.w2                   ffn_down
`

// denoiserEnds are the modules before and after the blocks.
const denoiserEnds = `
time_text_embed.timestep_embedder.linear_1       time_embd.0
time_text_embed.timestep_embedder.linear_2       time_embd.2
time_text_embed.guidance_embedder.linear_1       time_embd.0
time_text_embed.guidance_embedder.linear_2       time_embd.2
time_text_embed.text_embedder.linear_1           time_embd.0
time_text_embed.text_embedder.linear_2           time_embd.2
adaln_single.emb.timestep_embedder.linear_1      time_embd.0
adaln_single.emb.timestep_embedder.linear_2      time_embd.2
adaln_single.emb.resolution_embedder.linear_1    time_embd.0
adaln_single.emb.resolution_embedder.linear_2    time_embd.2
adaln_single.emb.aspect_ratio_embedder.linear_1  time_embd.0
adaln_single.emb.aspect_ratio_embedder.linear_2  time_embd.2
condition_embedder.time_embedder.linear_1        time_embd.0
condition_embedder.time_embedder.linear_2        time_embd.2
t_embedder.mlp.0                                 time_embd.0
t_embedder.mlp.2                                 time_embd.2
adaln_single.linear                              adaln
condition_embedder.time_proj                     adaln
scale_shift_table                                adaln_table
norm_out.linear                                  adaln_out
all_final_layer.2-1.adaLN_modulation.#           adaln_out
pos_embed.proj                                   patch_embd
x_embedder                                       patch_embd
x_embedder.proj                                  patch_embd
img_in                                           patch_embd
patch_embedding                                  patch_embd
all_x_embedder.2-1                               patch_embd
pos_embed.pos_embed                              vision_position_embd
context_embedder                                 context_embd
context_embedder.proj_in                         context_embd
txt_in                                           context_embd
caption_projection.linear_1                      context_embd
caption_projection.linear_2                      context_embd.2
condition_embedder.text_embedder.linear_1        context_embd
condition_embedder.text_embedder.linear_2        context_embd.2
cap_embedder.0                                   context_norm
cap_embedder.1                                   context_embd
txt_norm                                         context_norm
x_pad_token                                      mask_embd
cap_pad_token                                    mask_embd
condition_embedder.image_embedder.norm1          projector_norm
condition_embedder.image_embedder.ff.net.#.proj  projector_0
condition_embedder.image_embedder.ff.net.#       projector_2
condition_embedder.image_embedder.norm2          projector_post_norm
condition_embedder.image_embedder.pos_embed      projector_position
context_embedder.time_text_embed.timestep_embedder.linear_1  time_embd.0
context_embedder.time_text_embed.timestep_embedder.linear_2  time_embd.2
context_embedder.time_text_embed.text_embedder.linear_1      time_embd.0
context_embedder.time_text_embed.text_embedder.linear_2      time_embd.2
time_text_embed.addition_t_embedding             size_embd
proj_out                                         patch_out
all_final_layer.2-1.linear                       patch_out
`

// denoiserStacks are the words before a block's number whose blocks do not come first, and what the first of them is called
// in the model.
var denoiserStacks = map[string]string{"transformer_blocks": "joint block", "single_transformer_blocks": "block", "refiner_blocks": "text block", "context_refiner": "text block", "layers": "block"}

// behind says how many blocks of a denoiser come before those of the stack that a name is of.
func behind(p *filedPart, name string) int {
	for word := range strings.SplitSeq(name, ".") {
		kind, ok := denoiserStacks[word]
		if !ok {
			continue
		}
		return max(0, slices.IndexFunc(p.part.Layers, func(k uint8) bool { return p.part.Kinds[k].Name == kind }))
	}
	return 0
}

// isDenoiser reports whether a part is the transformer of a diffusion model.
func isDenoiser(part string) bool {
	return part == family.PartDenoiser || part == family.PartSecondDenoiser
}
