package dtype

// Roles of rarer parts. Names are those of GGUF files where llama.cpp has the part, else formed like them.
const (
	// Score is the head of a reward model.
	Score Role = "cls.output"
	// AttnOutNorm is DBRX's norm between attention and experts.
	AttnOutNorm Role = "attn_output_norm"
)
