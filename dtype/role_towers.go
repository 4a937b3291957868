package dtype

// Roles of encoders, towers and cross-attention. Where llama.cpp has a name for the tensor
// (gguf-py/gguf/constants.py), it is that name; else one in its manner.
const (
	AttnRelBias  Role = "attn_rel_b"
	AttnOutNorm  Role = "attn_output_norm"
	LayerOutNorm Role = "layer_output_norm"
	LayerScale1  Role = "ls1"
	LayerScale2  Role = "ls2"

	CrossNorm    Role = "cross_attn_norm"
	CrossOutNorm Role = "cross_attn_output_norm"
	CrossQ       Role = "cross_attn_q"
	CrossK       Role = "cross_attn_k"
	CrossV       Role = "cross_attn_v"
	CrossOutput  Role = "cross_attn_o"
	CrossQNorm   Role = "cross_attn_q_norm"
	CrossKNorm   Role = "cross_attn_k_norm"
	CrossGate    Role = "cross_attn_gate"
	FFNGateScale Role = "ffn_output_gate"

	Pooler     Role = "pooler"
	Classifier Role = "cls"
	ClassOut   Role = "cls.output"
	MaskedNorm Role = "cls.norm"
	LogitScale Role = "logit_scale"
	TextProj   Role = "text_projection"

	VisionClass    Role = "class_embd"
	VisionPreNorm  Role = "pre_norm"
	VisionTiles    Role = "tile_embd"
	VisionNewline  Role = "image_newline"
	ProjectorMid   Role = "projector_1"
	ProjectorMerge Role = "patch_merger"
	ProjectorQuery Role = "projector_query"
	ProjectorKNorm Role = "projector_k_norm"
	ProjectorAttn  Role = "projector_attn"
	ProjectorPost  Role = "projector_post_norm"
	VisionNeck     Role = "neck"
	VisionNeckNorm Role = "neck_norm"
	AudioConv1     Role = "conv1d.0"
	AudioConv2     Role = "conv1d.1"
	AudioPosition  Role = "audio_position_embd"
	AudioBounds    Role = "audio_bounds"
)
