package dtype

// Roles of rarer parts. Names are those of GGUF files where llama.cpp has the part, else formed like them.
const (
	// Score is the head of a reward model.
	Score Role = "cls.output"
	// AttnMidNorm is DBRX's norm between attention and experts.
	AttnMidNorm Role = "attn_output_norm"

	// The numbers of xIELU.
	ActAlphaP Role = "xielu.alpha_p"
	ActAlphaN Role = "xielu.alpha_n"

	// Short convolutions (LFM2).
	ShortConvIn  Role = "shortconv.in_proj"
	ShortConv    Role = "shortconv.conv"
	ShortConvOut Role = "shortconv.out_proj"

	// Kimi delta attention: gates through a low rank.
	SSMFA Role = "ssm_f_a"
	SSMFB Role = "ssm_f_b"
	SSMGA Role = "ssm_g_a"
	SSMGB Role = "ssm_g_b"

	// The indexer of sparse attention chooses the tokens that are attended to (DeepSeek V3.2).
	IndexQ     Role = "indexer.attn_q_b"
	IndexK     Role = "indexer.attn_k"
	IndexKNorm Role = "indexer.k_norm"
	IndexQNorm Role = "indexer.q_norm"
	IndexProj  Role = "indexer.proj"
)
