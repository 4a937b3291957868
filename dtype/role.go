package dtype

import "strings"

// Role is the purpose of a tensor. Names are those of GGUF files (without "blk.N." and ".weight"), the only ones with
// the same meaning across architectures.
type Role string

const (
	TokenEmbd     Role = "token_embd"
	TokenEmbdNorm Role = "token_embd_norm"
	TokenTypes    Role = "token_types"
	PositionEmbd  Role = "position_embd"
	Output        Role = "output"
	OutputNorm    Role = "output_norm"

	AttnNorm     Role = "attn_norm"
	AttnNorm2    Role = "attn_norm_2"
	AttnPostNorm Role = "post_attention_norm"
	AttnQ        Role = "attn_q"
	AttnK        Role = "attn_k"
	AttnV        Role = "attn_v"
	AttnQKV      Role = "attn_qkv"
	AttnGate     Role = "attn_gate"
	AttnOutput   Role = "attn_output"
	AttnQNorm    Role = "attn_q_norm"
	AttnKNorm    Role = "attn_k_norm"
	AttnSinks    Role = "attn_sinks"
	AttnQA       Role = "attn_q_a"
	AttnQB       Role = "attn_q_b"
	AttnQANorm   Role = "attn_q_a_norm"
	AttnKVA      Role = "attn_kv_a_mqa"
	AttnKVANorm  Role = "attn_kv_a_norm"
	AttnKVB      Role = "attn_kv_b"
	AttnKB       Role = "attn_k_b"
	AttnVB       Role = "attn_v_b"

	FFNNorm       Role = "ffn_norm"
	FFNPostNorm   Role = "post_ffw_norm"
	FFNPostNorm1  Role = "post_ffw_norm_1"
	FFNPostNorm2  Role = "post_ffw_norm_2"
	FFNPreNorm2   Role = "pre_ffw_norm_2"
	FFNGate       Role = "ffn_gate"
	FFNUp         Role = "ffn_up"
	FFNDown       Role = "ffn_down"
	FFNGateInp    Role = "ffn_gate_inp"
	FFNGateInpScl Role = "ffn_gate_inp.scale"
	FFNGateInpSh  Role = "ffn_gate_inp_shexp"
	FFNGateExps   Role = "ffn_gate_exps"
	FFNUpExps     Role = "ffn_up_exps"
	FFNDownExps   Role = "ffn_down_exps"
	FFNDownScale  Role = "ffn_down_exps.scale"
	FFNGateUpExps Role = "ffn_gate_up_exps"
	FFNGateSh     Role = "ffn_gate_shexp"
	FFNUpSh       Role = "ffn_up_shexp"
	FFNDownSh     Role = "ffn_down_shexp"
	ExpProbsB     Role = "exp_probs_b"
	LayerOutScale Role = "layer_output_scale"
	FFNLatentDown Role = "ffn_latent_down"
	FFNLatentUp   Role = "ffn_latent_up"

	// Multi-token prediction layers.
	MTPEmbedNorm  Role = "nextn.enorm"
	MTPHiddenNorm Role = "nextn.hnorm"
	MTPProj       Role = "nextn.eh_proj"
	MTPOutNorm    Role = "nextn.shared_head_norm"
	MTPEmbed      Role = "nextn.embed_tokens"
	MTPHead       Role = "nextn.shared_head_head"

	SSMIn     Role = "ssm_in"
	SSMConv   Role = "ssm_conv1d"
	SSMX      Role = "ssm_x"
	SSMDt     Role = "ssm_dt"
	SSMA      Role = "ssm_a"
	SSMD      Role = "ssm_d"
	SSMNorm   Role = "ssm_norm"
	SSMOut    Role = "ssm_out"
	SSMDtNorm Role = "ssm_dt_norm"
	SSMBNorm  Role = "ssm_b_norm"
	SSMCNorm  Role = "ssm_c_norm"
	SSMBA     Role = "ssm_ba"
	SSMBeta   Role = "ssm_beta"
	SSMAlpha  Role = "ssm_alpha"

	VisionPatch    Role = "patch_embd"
	VisionPosition Role = "vision_position_embd"
	VisionPostNorm Role = "vision_post_norm"
	ProjectorNorm  Role = "projector_norm"
	ProjectorIn    Role = "projector_0"
	ProjectorOut   Role = "projector_2"
	DeepStackNorm  Role = "deepstack_norm"
	// DraftIn maps a target's states to a draft model's stream (EAGLE-3, DFlash); DraftInNorm normalizes them.
	DraftIn      Role = "draft_fc"
	DraftInNorm  Role = "draft_fc_norm"
	DeepStackIn  Role = "deepstack_0"
	DeepStackOut Role = "deepstack_2"

	RopeFreqs Role = "rope_freqs"
	RopeLong  Role = "rope_factors_long"
	RopeShort Role = "rope_factors_short"

	// Gemma 3n and 4: alternating updates, augmented residuals, per-layer embeddings.
	AltupProj         Role = "altup_proj"
	AltupUnembdProj   Role = "altup_unembd_proj"
	AltupRouter       Role = "altup_router"
	AltupRouterNorm   Role = "altup_router_norm"
	AltupPredictCoef  Role = "altup_predict_coef"
	AltupCorrectCoef  Role = "altup_correct_coef"
	AltupCorrectScale Role = "altup_correct_scale"
	LaurelL           Role = "laurel_l"
	LaurelR           Role = "laurel_r"
	LaurelPostNorm    Role = "laurel_post_norm"
	PerLayerEmbd      Role = "per_layer_token_embd"
	PerLayerProj      Role = "per_layer_model_proj"
	PerLayerProjNorm  Role = "per_layer_proj_norm"
	PerLayerGate      Role = "inp_gate"
	PerLayerOut       Role = "proj"
	PerLayerPostNorm  Role = "post_norm"
)

// Norm reports whether the tensor is the weight of a norm.
func (r Role) Norm() bool {
	return strings.Contains(string(r), "_norm") || r == MTPEmbedNorm || r == MTPHiddenNorm
}

// Expert reports whether the tensor holds one matrix per routed expert.
func (r Role) Expert() bool { return strings.HasSuffix(string(r), "_exps") }

// Router reports whether the tensor chooses experts or weighs the shared expert.
func (r Role) Router() bool {
	return r == FFNGateInp || r == FFNGateInpSh || r == ExpProbsB || r == FFNGateInpScl
}

// Embedding reports whether the tensor is a table indexed by tokens, token types or positions.
func (r Role) Embedding() bool {
	return r == TokenEmbd || r == MTPEmbed || r == MTPHead || r == TokenTypes || r == PositionEmbd || r == PerLayerEmbd || r == Table
}
