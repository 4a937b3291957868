package source

import (
	"slices"
	"strings"
	"sync"

	"github.com/memwall/memwall/dtype"
)

// What files of the hub call the tensors of a model. A name such as
// "model.language_model.layers.3.mlp.experts.17.gate_proj.weight" is a prefix, a layer, a module inside the
// layer and a parameter of that module. The tables below say what each module is for; a number inside a
// module is written #. Spellings: the model classes of transformers (src/transformers/models), the names in
// published indices, and gguf-py/gguf/tensor_mapping.py of llama.cpp.
//
// A line is a module and what it holds. "a + b" are two tensors in one module, in the order of their rows;
// "a | b" are choices, of which a layer has the first or the second.

// layerModules are the modules of a layer of the decoder, and of layers that predict further tokens.
const layerModules = `
self_attn.q_proj                  attn_q | attn_qkv
self_attn.k_proj                  attn_k | attn_qkv
self_attn.v_proj                  attn_v | attn_qkv
self_attn.qkv_proj                attn_q + attn_k + attn_v | attn_qkv
self_attn.o_proj                  attn_output
self_attn.attn_sub_norm           attn_sub_norm
mlp.ffn_sub_norm                  ffn_sub_norm
self_attn.out_proj                attn_output
self_attn.dense                   attn_output
self_attn.query_key_value         attn_qkv
self_attn.q_norm                  attn_q_norm
self_attn.k_norm                  attn_k_norm
self_attn.q_layernorm             attn_q_norm
self_attn.k_layernorm             attn_k_norm
self_attn.q_layernorm.norms.#     attn_q_norm
self_attn.k_layernorm.norms.#     attn_k_norm
self_attn.sinks                   attn_sinks
self_attn.q_a_proj                attn_q_a
self_attn.q_a_layernorm           attn_q_a_norm
self_attn.q_b_proj                attn_q_b
self_attn.kv_a_proj_with_mqa      attn_kv_a_mqa
self_attn.kv_a_layernorm          attn_kv_a_norm
self_attn.kv_b_proj               attn_kv_b | attn_k_b + attn_v_b
self_attention.query_key_value    attn_qkv
self_attention.dense              attn_output
attention.wq                      attn_q
attention.wk                      attn_k
attention.wv                      attn_v
attention.wqkv                    attn_q + attn_k + attn_v | attn_qkv
attention.wo                      attn_output
attn.c_attn                       attn_qkv | attn_q + attn_k + attn_v
attn.c_proj                       attn_output
mixer.q_proj                      attn_q
mixer.k_proj                      attn_k
mixer.v_proj                      attn_v
mixer.o_proj                      attn_output
attention.query_key_value         attn_qkv
attention.dense                   attn_output
attn.Wqkv                         attn_qkv
attn.qkv_proj                     attn_qkv
attn.q_proj                       attn_q
attn.k_proj                       attn_k
attn.v_proj                       attn_v
attn.o_proj                       attn_output
attn.out_proj                     attn_output
attn.q_ln                         attn_q_norm
attn.k_ln                         attn_k_norm
attn.attention.q_proj             attn_q
attn.attention.k_proj             attn_k
attn.attention.v_proj             attn_v
attn.attention.out_proj           attn_output
norm_attn_norm.attn.Wqkv          attn_qkv
norm_attn_norm.attn.out_proj      attn_output
self_attn.W_pack                  attn_q + attn_k + attn_v
self_attn.linear_attn             attn_output
self_attn.query_layernorm         attn_q_norm
self_attn.key_layernorm           attn_k_norm
attention.query_layernorm         attn_q_norm
attention.key_layernorm           attn_k_norm
self_attn.attention_sink_bias     attn_sinks
self_attn.g_proj                  attn_gate
self_attn.output_gate             attn_gate
self_attn.gate_proj               attn_gate
self_attn.norm                    ssm_norm
self_attn.indexer.wq_b            indexer.attn_q_b
self_attn.indexer.wk              indexer.attn_k
self_attn.indexer.k_norm          indexer.k_norm
self_attn.indexer.weights_proj    indexer.proj
self_attn.index_q_proj            indexer.attn_q_b
self_attn.index_k_proj            indexer.attn_k
self_attn.index_q_norm            indexer.q_norm
self_attn.index_k_norm            indexer.k_norm
self_attn.q_conv1d                ssm_conv1d_q
self_attn.k_conv1d                ssm_conv1d_k
self_attn.v_conv1d                ssm_conv1d_v
self_attn.f_a_proj                ssm_f_a
self_attn.f_b_proj                ssm_f_b
self_attn.g_a_proj                ssm_g_a
self_attn.g_b_proj                ssm_g_b
self_attn.b_proj                  ssm_beta
self_attn.A_log                   ssm_a
self_attn.dt_bias                 ssm_dt.bias
self_attn.o_norm                  ssm_norm
conv.in_proj                      shortconv.in_proj
conv.conv                         shortconv.conv
conv.out_proj                     shortconv.out_proj
attn.wq_a                         attn_q_a
attn.q_norm                       attn_q_a_norm
attn.wq_b                         attn_q_b
attn.wkv                          attn_kv
attn.kv_norm                      attn_kv_norm
attn.wo_a                         attn_output_a
attn.wo_b                         attn_output
attn.attn_sink                    attn_sinks
attn.compressor.wkv               attn_compress_kv
attn.compressor.wgate             attn_compress_gate
attn.compressor.ape               attn_compress_pos
attn.compressor.norm              attn_compress_norm
attn.indexer.wq_b                 indexer.attn_q_b
attn.indexer.weights_proj         indexer.proj
attn.indexer.compressor.wkv       indexer.compress_kv
attn.indexer.compressor.wgate     indexer.compress_gate
attn.indexer.compressor.ape       indexer.compress_pos
attn.indexer.compressor.norm      indexer.k_norm
hc_attn_fn                        hc_attn_fn
hc_attn_base                      hc_attn_base
hc_attn_scale                     hc_attn_scale
hc_ffn_fn                         hc_ffn_fn
hc_ffn_base                       hc_ffn_base
hc_ffn_scale                      hc_ffn_scale
hc_head_fn                        hc_head_fn
hc_head_base                      hc_head_base
hc_head_scale                     hc_head_scale
self_attention_res_norm           attn_res_norm
self_attention_res_proj           attn_res_proj
mlp_res_norm                      ffn_res_norm
mlp_res_proj                      ffn_res_proj

attention.self.query              attn_q
attention.self.key                attn_k
attention.self.value              attn_v
attention.output.dense            attn_output
attention.q_lin                   attn_q
attention.k_lin                   attn_k
attention.v_lin                   attn_v
attention.out_lin                 attn_output
attention.attn.q                  attn_q
attention.attn.k                  attn_k
attention.attn.v                  attn_v
attention.attn.o                  attn_output
attention.qkv_proj                attn_qkv
attention.o_proj                  attn_output
attn.Wqkv                         attn_qkv
attn.Wo                           attn_output
attn.qkv_proj                     attn_qkv
attn.out_proj                     attn_output
att_proj                          attn_qkv
attn_out                          attn_output
layer.0.SelfAttention.q           attn_q
layer.0.SelfAttention.k           attn_k
layer.0.SelfAttention.v           attn_v
layer.0.SelfAttention.o           attn_output
layer.0.SelfAttention.relative_attention_bias  attn_rel_b
layer.1.EncDecAttention.q         cross_attn_q
layer.1.EncDecAttention.k         cross_attn_k
layer.1.EncDecAttention.v         cross_attn_v
layer.1.EncDecAttention.o         cross_attn_o
encoder_attn.q_proj               cross_attn_q
encoder_attn.k_proj               cross_attn_k
encoder_attn.v_proj               cross_attn_v
encoder_attn.out_proj             cross_attn_o
cross_attn.q_proj                 cross_attn_q
cross_attn.k_proj                 cross_attn_k
cross_attn.v_proj                 cross_attn_v
cross_attn.o_proj                 cross_attn_o
cross_attn.q_norm                 cross_attn_q_norm
cross_attn.k_norm                 cross_attn_k_norm
cross_attn_attn_gate              cross_attn_gate
cross_attn_mlp_gate               ffn_output_gate

attention.output.LayerNorm        attn_output_norm
attention.LayerNorm               attn_output_norm
sa_layer_norm                     attn_output_norm
attn_ln                           attn_output_norm
norm1                             attn_output_norm
output.LayerNorm                  layer_output_norm
output_layer_norm                 layer_output_norm
mlp_ln                            layer_output_norm
mlp.layernorm                     layer_output_norm
norm2                             layer_output_norm
encoder_attn_layer_norm           cross_attn_norm | cross_attn_output_norm
layer.0.layer_norm                attn_norm
layer.1.layer_norm                cross_attn_norm | ffn_norm
layer.2.layer_norm                ffn_norm
attn_norm                         attn_norm
mlp_norm                          ffn_norm
ff_norm                           ffn_norm
input_layernorm                   attn_norm | cross_attn_norm
attention_norm                    attn_norm
self_attn_layer_norm              attn_norm | attn_output_norm
norm                              attn_norm
ln_1                              attn_norm
attn_norm                         attn_norm
norm_1                            attn_norm
ln_attn                           attn_norm_2
ln_mlp                            attn_norm
norm_attn_norm.norm_1             attn_norm
norm_attn_norm.norm_2             attn_output_norm
operator_norm                     attn_norm
attention_layernorm               attn_norm
pre_attn_norm                     attn_norm
post_attn_norm                    post_attention_norm | attn_output_norm
norm_2                            ffn_norm
feedforward_layernorm             ffn_norm
pre_mlp_layernorm                 ffn_norm
pre_moe_norm                      ffn_norm
post_moe_norm                     post_ffw_norm | layer_output_norm
post_attention_layernorm          post_attention_norm | ffn_norm
post_self_attn_layernorm          post_attention_norm
pre_feedforward_layernorm         ffn_norm
final_layer_norm                  ffn_norm | layer_output_norm
pre_ff_layernorm                  ffn_norm
ffn_norm                          ffn_norm | attn_norm_2
ln_2                              ffn_norm
post_feedforward_layernorm        post_ffw_norm
post_mlp_layernorm                post_ffw_norm
pre_feedforward_layernorm_2       pre_ffw_norm_2
post_feedforward_layernorm_1      post_ffw_norm_1
post_feedforward_layernorm_2      post_ffw_norm_2

mlp.gate_proj                     ffn_gate | ffn_up
mlp.up_proj                       ffn_up
mlp.gate_up_proj                  ffn_gate + ffn_up | ffn_up
mlp.down_proj                     ffn_down
intermediate.dense                ffn_up
output.dense                      ffn_down
ffn.lin1                          ffn_up
ffn.lin2                          ffn_down
mlp.fc11                          ffn_up
mlp.fc12                          ffn_gate
mlp.up_gate_proj                  ffn_up
mlp.gated_layers                  ffn_up
mlp.wo                            ffn_down
mlp.Wi                            ffn_up
mlp.Wo                            ffn_down
mlp.fc_in                         ffn_up
mlp.fc_out                        ffn_down
ff_proj                           ffn_up
ff_out                            ffn_down
layer.1.DenseReluDense.wi         ffn_up
layer.1.DenseReluDense.wi_0       ffn_gate
layer.1.DenseReluDense.wi_1       ffn_up
layer.1.DenseReluDense.wo         ffn_down
layer.2.DenseReluDense.wi         ffn_up
layer.2.DenseReluDense.wi_0       ffn_gate
layer.2.DenseReluDense.wi_1       ffn_up
layer.2.DenseReluDense.wo         ffn_down
fc1                               ffn_up
mlp.fc1                           ffn_up
fc2                               ffn_down
mlp.fc2                           ffn_down
mlp.c_fc                          ffn_up
mlp.c_proj                        ffn_down
mlp.dense_h_to_4h                 ffn_gate + ffn_up | ffn_up
mlp.dense_4h_to_h                 ffn_down
feed_forward.gate_proj            ffn_gate
feed_forward.up_proj              ffn_up
feed_forward.down_proj            ffn_down
feed_forward.w1                   ffn_gate
feed_forward.w3                   ffn_up
feed_forward.w2                   ffn_down
mixer.up_proj                     ffn_up
mixer.down_proj                   ffn_down
mlp.fc_in                         ffn_up
mlp.fc_out                        ffn_down
ffn.up_proj                       ffn_up
ffn.down_proj                     ffn_down
mlp.w1                            ffn_up
mlp.w2                            ffn_gate
mlp.c_fc_0                        ffn_gate
mlp.c_fc_1                        ffn_up
mlp.act_fn.alpha_p                xielu.alpha_p
mlp.act_fn.alpha_n                xielu.alpha_n
shared_mlp.input_linear           ffn_gate_shexp + ffn_up_shexp | ffn_gate + ffn_up
shared_mlp.output_linear          ffn_down_shexp | ffn_down

mlp.gate                          ffn_gate_inp
mlp.router                        ffn_gate_inp
mixer.gate                        ffn_gate_inp
router.proj                       ffn_gate_inp
router.scale                      ffn_gate_inp.scale
router.per_expert_scale           ffn_down_exps.scale
block_sparse_moe.gate             ffn_gate_inp
block_sparse_moe.router.layer     ffn_gate_inp
feed_forward.router               ffn_gate_inp
feed_forward.gate                 ffn_gate_inp
ffn.router.layer                  ffn_gate_inp
ffn.gate                          ffn_gate_inp
mlp.gate.wg                       ffn_gate_inp
mlp.router.gate                   ffn_gate_inp
moe.gate                          ffn_gate_inp
moe_block.gate                    ffn_gate_inp
mlp.router.classifier             ffn_gate_inp
mlp.router.e_score_correction_bias  exp_probs_b
mlp.gate.expert_bias              exp_probs_b
mlp.expert_bias                   exp_probs_b
mlp.moe_statics.e_score_correction_bias  exp_probs_b
feed_forward.expert_bias          exp_probs_b
block_sparse_moe.gate.e_score_correction_bias  exp_probs_b
moe.router_bias                   exp_probs_b
mlp.gate.e_score_correction_bias  exp_probs_b
mixer.gate.e_score_correction_bias  exp_probs_b
block_sparse_moe.e_score_correction_bias  exp_probs_b
mlp.shared_expert_gate            ffn_gate_inp_shexp

mlp.experts.#.gate_proj           ffn_gate_exps | ffn_gate_up_exps
mlp.experts.#.up_proj             ffn_up_exps | ffn_gate_up_exps
mlp.experts.#.down_proj           ffn_down_exps
mlp.experts.gate_up_proj          ffn_gate_up_exps | ffn_gate_exps + ffn_up_exps
mlp.experts.gate_proj             ffn_gate_exps
mlp.experts.up_proj               ffn_up_exps
mlp.experts.down_proj             ffn_down_exps
mlp.switch_mlp.gate_proj          ffn_gate_exps | ffn_gate_up_exps
mlp.switch_mlp.up_proj            ffn_up_exps | ffn_gate_up_exps
mlp.switch_mlp.down_proj          ffn_down_exps
block_sparse_moe.switch_mlp.gate_proj  ffn_gate_exps
block_sparse_moe.switch_mlp.up_proj    ffn_up_exps
block_sparse_moe.switch_mlp.down_proj  ffn_down_exps
experts.#.gate_proj               ffn_gate_exps | ffn_gate_up_exps
experts.#.up_proj                 ffn_up_exps | ffn_gate_up_exps
experts.#.down_proj               ffn_down_exps
experts.gate_up_proj              ffn_gate_up_exps | ffn_gate_exps + ffn_up_exps
experts.down_proj                 ffn_down_exps
block_sparse_moe.experts.#.w1     ffn_gate_exps
block_sparse_moe.experts.#.w3     ffn_up_exps
block_sparse_moe.experts.#.w2     ffn_down_exps
block_sparse_moe.input_linear     ffn_gate_exps + ffn_up_exps
block_sparse_moe.output_linear    ffn_down_exps
feed_forward.experts.#.gate_proj  ffn_gate_exps
feed_forward.experts.#.up_proj    ffn_up_exps
feed_forward.experts.#.down_proj  ffn_down_exps
feed_forward.experts.#.w1         ffn_gate_exps
feed_forward.experts.#.w3         ffn_up_exps
feed_forward.experts.#.w2         ffn_down_exps
feed_forward.experts.gate_up_proj  ffn_gate_exps + ffn_up_exps
feed_forward.experts.down_proj    ffn_down_exps
mlp.gate_weight                   ffn_gate_inp
mlp.experts.wi_gate               ffn_gate_exps
mlp.experts.wi_up                 ffn_up_exps
mlp.experts.wo                    ffn_down_exps
extra_mlp.gate_proj               ffn_gate
extra_mlp.up_proj                 ffn_up
extra_mlp.down_proj               ffn_down
pre_extra_mlp_layernorm           pre_ffw_norm_2
ffn.experts.mlp.w1                ffn_gate_exps
ffn.experts.mlp.v1                ffn_up_exps
ffn.experts.mlp.w2                ffn_down_exps
ffn.experts.#.w1                  ffn_gate_exps
ffn.experts.#.w3                  ffn_up_exps
ffn.experts.#.w2                  ffn_down_exps
moe.gate_proj                     ffn_gate_exps
moe.up_proj                       ffn_up_exps
moe.down_proj                     ffn_down_exps
moe_block.experts.#.linear        ffn_gate_exps
moe_block.experts.#.linear_v      ffn_up_exps
moe_block.experts.#.linear_1      ffn_down_exps
block_sparse_moe.routed_expert_down_proj  ffn_latent_down
block_sparse_moe.routed_expert_norm       ffn_latent_norm
block_sparse_moe.routed_expert_up_proj    ffn_latent_up
mixer.experts.#.up_proj           ffn_up_exps
mixer.experts.#.down_proj         ffn_down_exps
mixer.switch_mlp.up_proj          ffn_up_exps
mixer.switch_mlp.down_proj        ffn_down_exps
mixer.switch_mlp.fc1              ffn_up_exps
mixer.switch_mlp.fc2              ffn_down_exps
mixer.fc1_latent_proj             ffn_latent_down
mixer.fc2_latent_proj             ffn_latent_up

mlp.shared_experts.gate_proj      ffn_gate_shexp
mlp.shared_experts.up_proj        ffn_up_shexp
mlp.shared_experts.down_proj      ffn_down_shexp
mlp.shared_expert.gate_proj       ffn_gate_shexp
mlp.shared_expert.up_proj         ffn_up_shexp
mlp.shared_expert.down_proj       ffn_down_shexp
mlp.shared_mlp.gate_proj          ffn_gate_shexp
mlp.shared_mlp.up_proj            ffn_up_shexp
mlp.shared_mlp.down_proj          ffn_down_shexp
feed_forward.shared_expert.gate_proj  ffn_gate_shexp
feed_forward.shared_expert.up_proj    ffn_up_shexp
feed_forward.shared_expert.down_proj  ffn_down_shexp
block_sparse_moe.shared_experts.gate_proj  ffn_gate_shexp
block_sparse_moe.shared_experts.up_proj    ffn_up_shexp
block_sparse_moe.shared_experts.down_proj  ffn_down_shexp
ffn.shared_experts.w1             ffn_gate_shexp
ffn.shared_experts.w3             ffn_up_shexp
ffn.shared_experts.w2             ffn_down_shexp
share_expert.gate_proj            ffn_gate_shexp
share_expert.up_proj              ffn_up_shexp
share_expert.down_proj            ffn_down_shexp
mixer.shared_experts.up_proj      ffn_up_shexp
mixer.shared_experts.down_proj    ffn_down_shexp

mixer.qkv_proj                    attn_qkv
mixer.q_weight                    attn_q_norm
mixer.k_weight                    attn_k_norm
mixer.bcdt_proj                   ssm_x
mixer.dt_norm_weight              ssm_dt_norm
mixer.B_norm_weight               ssm_b_norm
mixer.C_norm_weight               ssm_c_norm
pre_mixer_norm                    attn_norm
post_mixer_norm                   post_attention_norm
pre_mlp_norm                      ffn_norm
post_mlp_norm                     post_ffw_norm
mixer.in_proj                     ssm_in
mixer.conv1d                      ssm_conv1d
mixer.x_proj                      ssm_x
mixer.dt_proj                     ssm_dt
mixer.dt_bias                     ssm_dt.bias
mixer.A_log                       ssm_a
mixer.D                           ssm_d
mixer.norm                        ssm_norm
mixer.out_proj                    ssm_out
mamba.in_proj                     ssm_in
mamba.conv1d                      ssm_conv1d
mamba.x_proj                      ssm_x
mamba.dt_proj                     ssm_dt
mamba.dt_bias                     ssm_dt.bias
mamba.A_log                       ssm_a
mamba.D                           ssm_d
mamba.norm                        ssm_norm
mamba.out_proj                    ssm_out
mamba.dt_layernorm                ssm_dt_norm
mamba.b_layernorm                 ssm_b_norm
mamba.c_layernorm                 ssm_c_norm
linear_attn.in_proj_qkvz          attn_qkv + attn_gate
linear_attn.in_proj_qkv           attn_qkv
linear_attn.in_proj_z             attn_gate
linear_attn.in_proj_ba            ssm_ba | ssm_beta + ssm_alpha
linear_attn.in_proj_b             ssm_beta | ssm_ba
linear_attn.in_proj_a             ssm_alpha | ssm_ba
linear_attn.conv1d                ssm_conv1d
linear_attn.dt_bias               ssm_dt.bias
linear_attn.A_log                 ssm_a
linear_attn.norm                  ssm_norm
linear_attn.out_proj              ssm_out

altup.router_norm                 altup_router_norm
altup.modality_router             altup_router
altup.prediction_coefs            altup_predict_coef
altup.correction_coefs            altup_correct_coef
altup.correct_output_scale        altup_correct_scale
laurel.linear_left                laurel_l
laurel.linear_right               laurel_r
laurel.post_laurel_norm           laurel_post_norm
per_layer_input_gate              inp_gate
per_layer_projection              proj
post_per_layer_input_norm         post_norm
layer_scalar                      layer_output_scale

eh_proj                           nextn.eh_proj
e_proj                            nextn.eh_proj
h_proj                            nextn.eh_proj
input_proj                        nextn.eh_proj
token_layernorm                   nextn.enorm
hidden_layernorm                  nextn.hnorm
enorm                             nextn.enorm
hnorm                             nextn.hnorm
shared_head.norm                  nextn.shared_head_norm
shared_head.head                  nextn.shared_head_head
embed_tokens                      nextn.embed_tokens
final_layernorm                   nextn.shared_head_norm
hidden_norm                       nextn.hnorm
`

// endModules are the modules before and after the layers of the decoder.
const endModules = `
fc                                draft_fc
hidden_norm                       draft_fc_norm
embed_tokens                      token_embd
word_embeddings                   token_embd
embed_in                          token_embd
embed                             token_embd
in_out_embed                      token_embd
embeddings                        token_embd
embedding                         token_embd
embedding.word_embeddings         token_embd
tok_embeddings                    token_embd
wte                               token_embd
wpe                               position_embd
embed_positions                   position_embd | audio_position_embd
shared                            token_embd
wte.embedding                     token_embd
wte.new_embedding                 token_embd
embeddings.word_embeddings        token_embd
embeddings.tok_embeddings         token_embd
embeddings.token_embedding        token_embd
embeddings.position_embeddings    position_embd
embeddings.position_embedding     position_embd
embeddings.token_type_embeddings  token_types
embeddings.LayerNorm              token_embd_norm
embeddings.norm                   token_embd_norm
pre_norm                          token_embd_norm
pre_ln                            token_embd_norm
emb_ln                            token_embd_norm
layernorm_embedding               token_embd_norm
layer_norm                        output_norm
final_norm                        output_norm
relative_attention_bias           attn_rel_b
conv1                             conv1d.0
conv2                             conv1d.1
enc_to_dec_proj                   projector_0
pooler.dense                      pooler
classifier.dense                  cls
classifier.out_proj               cls.output
classifier                        cls.output
lm_head.dense                     cls
lm_head.layer_norm                cls.norm
lm_head.decoder                   output
cls.predictions                   output
cls.predictions.decoder           output
cls.predictions.transform.dense   cls
cls.predictions.transform.LayerNorm  cls.norm
head                              text_projection
text_projection                   text_projection
logit_scale                       logit_scale
logit_bias                        logit_scale
ff_out                            output
word_embeddings_layernorm         token_embd_norm
norm                              output_norm
norm_f                            output_norm
ln_f                              output_norm
ln_out                            output_norm
final_layernorm                   output_norm
final_layer_norm                  output_norm
lm_head                           output
output_layer                      output
embed_out                         output
head                              output
embedding_norm                    output_norm
v_head                            cls.output
out_proj                          cls.output
hc_head_fn                        hc_head_fn
hc_head_base                      hc_head_base
hc_head_scale                     hc_head_scale
output_attn_res_norm              output_res_norm
output_attn_res_proj              output_res_proj
output                            output
embed_tokens_per_layer            per_layer_token_embd
per_layer_model_projection        per_layer_model_proj
per_layer_projection_norm         per_layer_proj_norm
altup_projections.#               altup_proj
altup_unembed_projections.#       altup_unembd_proj
`

// predictionModules stand once for all layers that predict further tokens.
const predictionModules = `
fc                                nextn.eh_proj
pre_fc_norm_embedding             nextn.enorm
pre_fc_norm_hidden                nextn.hnorm
norm                              nextn.shared_head_norm
embed_tokens                      nextn.embed_tokens
lm_head                           nextn.shared_head_head
`

// familyModules are where a family means something else by a name.
var familyModules = map[string]string{
	"glm4": `
post_attention_layernorm          ffn_norm
`,
}

// slot is a tensor of a layer: its role, and whether it is that role's bias.
type slot struct {
	role dtype.Role
	bias bool
}

// form is what a module holds: one tensor, or several one behind the other.
type form []slot

// modules says which forms a module may have.
type modules map[string][]form

// scope is where a module lies; each has its own names.
type scope uint8

const (
	inLayer scope = iota
	atEnds
	inPrediction
	inVision
	atVision
	inDenoiser
	atDenoiser
	scopes
)

var allModules = sync.OnceValue(func() (m [scopes]modules) {
	for s, text := range [scopes]string{layerModules + rwkvModules + zambaModules, endModules, predictionModules, visionModules + conformerModules, visionEnds + stageModules, denoiserModules, denoiserEnds} {
		m[s] = parseModules(text)
	}
	return m
})

var allFamilyModules = sync.OnceValue(func() map[string]modules {
	m := map[string]modules{}
	for family, text := range familyModules {
		m[family] = parseModules(text)
	}
	return m
})

// forms of a module of a family; nil when the module is not known.
func forms(family string, s scope, module string) []form {
	if s == inLayer {
		if f := allFamilyModules()[family][module]; f != nil {
			return f
		}
	}
	return allModules()[s][module]
}

func parseModules(text string) modules {
	m := modules{}
	for line := range strings.Lines(text) {
		module, held, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		for choice := range strings.SplitSeq(held, "|") {
			var f form
			for name := range strings.SplitSeq(choice, "+") {
				f = append(f, slotOf(strings.TrimSpace(name)))
			}
			m[module] = append(m[module], f)
		}
	}
	return m
}

func slotOf(name string) slot {
	role, bias := strings.CutSuffix(name, ".bias")
	return slot{dtype.Role(role), bias}
}

// firstComplete is the first form whose tensors a layer all has; nil when the layer has none of them whole.
func firstComplete(choices []form, has func(slot) bool) form {
	for _, f := range choices {
		if !slices.ContainsFunc(f, func(x slot) bool { return !has(x) }) {
			return f
		}
	}
	return nil
}

// spellings are the modules of a scope that may hold a role, sorted.
func spellings(s scope, role dtype.Role) []string { return allSpellings()[s][role] }

var allSpellings = sync.OnceValue(func() (m [scopes]map[dtype.Role][]string) {
	for s := range scopes {
		m[s] = map[dtype.Role][]string{}
		for module, choices := range allModules()[s] {
			for _, x := range slices.Concat(choices...) {
				if !slices.Contains(m[s][x.role], module) {
					m[s][x.role] = append(m[s][x.role], module)
				}
			}
		}
		for _, list := range m[s] {
			slices.Sort(list)
		}
	}
	return m
})
