package source

// zambaModules are the modules of Zamba2's layers: a Mamba-2 layer, alone or with a block that several share.
const zambaModules = `
mamba_decoder.input_layernorm               attn_norm
mamba_decoder.mamba.in_proj                 ssm_in
mamba_decoder.mamba.conv1d                  ssm_conv1d
mamba_decoder.mamba.dt_bias                 ssm_dt.bias
mamba_decoder.mamba.A_log                   ssm_a
mamba_decoder.mamba.D                       ssm_d
mamba_decoder.mamba.norm                    ssm_norm
mamba_decoder.mamba.out_proj                ssm_out
linear                                      shared.bridge
shared_transformer.input_layernorm          shared.attn_norm
shared_transformer.pre_ff_layernorm         shared.ffn_norm
shared_transformer.self_attn.q_proj         shared.attn_q
shared_transformer.self_attn.k_proj         shared.attn_k
shared_transformer.self_attn.v_proj         shared.attn_v
shared_transformer.self_attn.o_proj         shared.attn_output
shared_transformer.self_attn.linear_q_adapter_list.#.0  shared.attn_q_lora_a
shared_transformer.self_attn.linear_q_adapter_list.#.1  shared.attn_q_lora_b
shared_transformer.self_attn.linear_k_adapter_list.#.0  shared.attn_k_lora_a
shared_transformer.self_attn.linear_k_adapter_list.#.1  shared.attn_k_lora_b
shared_transformer.self_attn.linear_v_adapter_list.#.0  shared.attn_v_lora_a
shared_transformer.self_attn.linear_v_adapter_list.#.1  shared.attn_v_lora_b
shared_transformer.feed_forward.gate_up_proj            shared.ffn_up
shared_transformer.feed_forward.down_proj               shared.ffn_down
shared_transformer.feed_forward.gate_up_proj_adapter_list.#.0  shared.ffn_up_lora_a
shared_transformer.feed_forward.gate_up_proj_adapter_list.#.1  shared.ffn_up_lora_b
`

// rwkvModules are the modules of RWKV's layers: of flash-linear-attention's files for version 7, of the published classes for
// versions 4 to 6.
const rwkvModules = `
attn.r_proj                       time_mix_receptance
attn.k_proj                       time_mix_key
attn.v_proj                       time_mix_value
attn.o_proj                       time_mix_output
attn.x_r                          time_mix_lerp_fused
attn.x_w                          time_mix_lerp_fused
attn.x_k                          time_mix_lerp_fused
attn.x_v                          time_mix_lerp_fused
attn.x_a                          time_mix_lerp_fused
attn.x_g                          time_mix_lerp_fused
attn.k_k                          time_mix_k_k
attn.k_a                          time_mix_k_a
attn.r_k                          time_mix_r_k
attn.w_lora.lora.0                time_mix_w1
attn.w_lora.lora.2                time_mix_w2
attn.w_lora.lora.2.bias           time_mix_w0
attn.a_lora.lora.0                time_mix_a1
attn.a_lora.lora.2                time_mix_a2
attn.a_lora.lora.2.bias           time_mix_a0
attn.v_lora.lora.0                time_mix_v1
attn.v_lora.lora.2                time_mix_v2
attn.v_lora.lora.2.bias           time_mix_v0
attn.g_lora.lora.0                time_mix_g1
attn.g_lora.lora.2                time_mix_g2
attn.g_norm                       time_mix_ln
ffn.x_k                           channel_mix_lerp_k
ffn.key                           channel_mix_key
ffn.value                         channel_mix_value

attention.receptance              time_mix_receptance
attention.key                     time_mix_key
attention.value                   time_mix_value
attention.gate                    time_mix_gate
attention.output                  time_mix_output
attention.ln_x                    time_mix_ln
attention.time_decay              time_mix_decay
attention.time_decay_w1           time_mix_decay_w1
attention.time_decay_w2           time_mix_decay_w2
attention.time_first              time_mix_first
attention.time_faaaa              time_mix_first
attention.time_mix_key            time_mix_lerp_fused
attention.time_mix_value          time_mix_lerp_fused
attention.time_mix_receptance     time_mix_lerp_fused
attention.time_mix_gate           time_mix_lerp_fused
attention.time_maa_x              time_mix_lerp_x
attention.time_maa_w              time_mix_lerp_fused
attention.time_maa_k              time_mix_lerp_fused
attention.time_maa_v              time_mix_lerp_fused
attention.time_maa_r              time_mix_lerp_fused
attention.time_maa_g              time_mix_lerp_fused
attention.time_maa_w1             time_mix_w1
attention.time_maa_w2             time_mix_w2
feed_forward.time_mix_key         channel_mix_lerp_k
feed_forward.time_mix_receptance  channel_mix_lerp_r
feed_forward.time_maa_k           channel_mix_lerp_k
feed_forward.time_maa_r           channel_mix_lerp_r
feed_forward.key                  channel_mix_key
feed_forward.value                channel_mix_value
feed_forward.receptance           channel_mix_receptance
ln1                               attn_norm
ln2                               attn_norm_2
`
