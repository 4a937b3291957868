package dtype

// Roles of diffusion transformers and of their conditioning.
const (
	TimeIn  Role = "time_embd.0"
	TimeOut Role = "time_embd.2"
	// SteerMix, SteerContext and SteerOut scale and shift by the conditioning: the image stream, the text stream, the
	// final layer.
	SteerMix     Role = "adaln"
	SteerContext Role = "adaln_context"
	SteerOut     Role = "adaln_out"
	SteerTable   Role = "adaln_table"
	SizeEmbed    Role = "size_embd"
	PatchOut     Role = "patch_out"

	// Text stream.
	ContextIn     Role = "context_embd"
	ContextMid    Role = "context_embd.2"
	ContextNorm   Role = "context_norm"
	ContextQ      Role = "context_q"
	ContextK      Role = "context_k"
	ContextV      Role = "context_v"
	ContextQNorm  Role = "context_q_norm"
	ContextKNorm  Role = "context_k_norm"
	ContextOutput Role = "context_output"
	ContextUp     Role = "context_up"
	ContextDown   Role = "context_down"

	// Keys and values of an image, in addition to those of the text.
	ImageK     Role = "image_k"
	ImageV     Role = "image_v"
	ImageKNorm Role = "image_k_norm"
)
