package dtype

// Roles of resamplers, of what a second kind of token adds to decoder layers, and of long convolutions.
const (
	LatentNorm    Role = "latent_norm"
	LatentSource  Role = "latent_source_norm"
	LatentQ       Role = "latent_q"
	LatentK       Role = "latent_k"
	LatentV       Role = "latent_v"
	LatentOut     Role = "latent_output"
	LatentFFNNorm Role = "latent_ffn_norm"
	LatentGate    Role = "latent_ffn_gate"
	LatentUp      Role = "latent_ffn_up"
	LatentDown    Role = "latent_ffn_down"
	LatentLast    Role = "latent_output_norm"
	AttnSubNorm   Role = "attn_sub_norm"
	FFNSubNorm    Role = "ffn_sub_norm"
	EncoderHead   Role = "encoder_head"

	// BranchDown and BranchUp form a low-rank branch parallel to a matrix, used by tokens of one modality.
	BranchDown Role = "branch_down"
	BranchUp   Role = "branch_up"

	// ConvMid is the matrix across channels after a convolution over time.
	ConvMid Role = "conv_pw"

	HyenaIn      Role = "hyena_in"
	HyenaShort   Role = "hyena_short_filter"
	HyenaPoles   Role = "hyena_poles"
	HyenaResidue Role = "hyena_residues"
	HyenaSkip    Role = "hyena_skip"
	HyenaOut     Role = "hyena_out"
)
