package dtype

// Roles of less common layers. Names are those of GGUF files if llama.cpp supports the layer, otherwise in the same
// style.
const (
	// Score is the output layer of a reward model.
	Score Role = "cls.output"
	// AttnMidNorm is DBRX's norm between attention and experts.
	AttnMidNorm Role = "attn_output_norm"

	// Parameters of xIELU.
	ActAlphaP Role = "xielu.alpha_p"
	ActAlphaN Role = "xielu.alpha_n"

	// Short convolutions (LFM2).
	ShortConvIn  Role = "shortconv.in_proj"
	ShortConv    Role = "shortconv.conv"
	ShortConvOut Role = "shortconv.out_proj"

	// Kimi delta attention: low-rank gates,
	SSMFA Role = "ssm_f_a"
	SSMFB Role = "ssm_f_b"
	SSMGA Role = "ssm_g_a"
	SSMGB Role = "ssm_g_b"
	// and separate convolutions for queries, keys and values.
	SSMConvQ Role = "ssm_conv1d_q"
	SSMConvK Role = "ssm_conv1d_k"
	SSMConvV Role = "ssm_conv1d_v"

	// Indexer of sparse attention, which chooses the tokens attended to (DeepSeek V3.2).
	IndexQ     Role = "indexer.attn_q_b"
	IndexK     Role = "indexer.attn_k"
	IndexKNorm Role = "indexer.k_norm"
	IndexQNorm Role = "indexer.q_norm"
	IndexProj  Role = "indexer.proj"

	// DeepSeek V4: a key and value shared by all heads, compressed rows, low-rank output, hyper-connections.
	AttnKV        Role = "attn_kv"
	AttnKVNorm    Role = "attn_kv_norm"
	AttnOutputA   Role = "attn_output_a"
	CompressKV    Role = "attn_compress_kv"
	CompressGate  Role = "attn_compress_gate"
	CompressPos   Role = "attn_compress_pos"
	CompressNorm  Role = "attn_compress_norm"
	IndexKV       Role = "indexer.compress_kv"
	IndexGate     Role = "indexer.compress_gate"
	IndexPos      Role = "indexer.compress_pos"
	HyperAttn     Role = "hc_attn_fn"
	HyperAttnBase Role = "hc_attn_base"
	HyperAttnMul  Role = "hc_attn_scale"
	HyperFFN      Role = "hc_ffn_fn"
	HyperFFNBase  Role = "hc_ffn_base"
	HyperFFNMul   Role = "hc_ffn_scale"
	HyperHead     Role = "hc_head_fn"
	HyperHeadBase Role = "hc_head_base"
	HyperHeadMul  Role = "hc_head_scale"

	// Kimi K3: weights of earlier blocks' outputs, and the norm of the experts' sum.
	RecallAttnNorm Role = "attn_res_norm"
	RecallAttn     Role = "attn_res_proj"
	RecallFFNNorm  Role = "ffn_res_norm"
	RecallFFN      Role = "ffn_res_proj"
	RecallOutNorm  Role = "output_res_norm"
	RecallOut      Role = "output_res_proj"
	FFNLatentNorm  Role = "ffn_latent_norm"

	// RWKV-7.
	TimeMixLerp Role = "time_mix_lerp_fused"
	TimeMixR    Role = "time_mix_receptance"
	TimeMixK    Role = "time_mix_key"
	TimeMixV    Role = "time_mix_value"
	TimeMixOut  Role = "time_mix_output"
	TimeMixLn   Role = "time_mix_ln"
	TimeMixW0   Role = "time_mix_w0"
	TimeMixW1   Role = "time_mix_w1"
	TimeMixW2   Role = "time_mix_w2"
	TimeMixA0   Role = "time_mix_a0"
	TimeMixA1   Role = "time_mix_a1"
	TimeMixA2   Role = "time_mix_a2"
	TimeMixV0   Role = "time_mix_v0"
	TimeMixV1   Role = "time_mix_v1"
	TimeMixV2   Role = "time_mix_v2"
	TimeMixG1   Role = "time_mix_g1"
	TimeMixG2   Role = "time_mix_g2"
	TimeMixKK   Role = "time_mix_k_k"
	TimeMixKA   Role = "time_mix_k_a"
	TimeMixRK   Role = "time_mix_r_k"
	ChannelMix  Role = "channel_mix_lerp_k"

	// Zamba2: a block shared by layers, low-rank adapters for each, and its input projection.
	SharedNorm    Role = "shared.attn_norm"
	SharedQ       Role = "shared.attn_q"
	SharedK       Role = "shared.attn_k"
	SharedV       Role = "shared.attn_v"
	SharedOut     Role = "shared.attn_output"
	SharedFFNNorm Role = "shared.ffn_norm"
	SharedUp      Role = "shared.ffn_up"
	SharedDown    Role = "shared.ffn_down"
	SharedQA      Role = "shared.attn_q_lora_a"
	SharedQB      Role = "shared.attn_q_lora_b"
	SharedKA      Role = "shared.attn_k_lora_a"
	SharedKB      Role = "shared.attn_k_lora_b"
	SharedVA      Role = "shared.attn_v_lora_a"
	SharedVB      Role = "shared.attn_v_lora_b"
	SharedUpA     Role = "shared.ffn_up_lora_a"
	SharedUpB     Role = "shared.ffn_up_lora_b"
	SharedBridge  Role = "shared.bridge"

	// RWKV-4 to 6, and the MLP of all versions.
	TimeMixLerpX    Role = "time_mix_lerp_x"
	TimeMixFirst    Role = "time_mix_first"
	TimeMixDecay    Role = "time_mix_decay"
	TimeMixDecayW1  Role = "time_mix_decay_w1"
	TimeMixDecayW2  Role = "time_mix_decay_w2"
	TimeMixG        Role = "time_mix_gate"
	ChannelMixR     Role = "channel_mix_lerp_r"
	ChannelMixKey   Role = "channel_mix_key"
	ChannelMixValue Role = "channel_mix_value"
	ChannelMixGate  Role = "channel_mix_receptance"
)
