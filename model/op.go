package model

import "github.com/memwall/memwall/dtype"

// Val names a value inside a Kind: 0 is the stream entering it, i the result of Ops[i-1], None nothing.
type Val int16

// None marks an unused input. Side is the value that the part's Pre computes beside the stream, for every
// layer to read its own slice of (per-layer embeddings).
const (
	None Val = -1
	Side Val = -2
)

// OpKind is one mathematical step: finer than "attention block", coarser than a kernel.
type OpKind uint8

const (
	Embed        OpKind = iota // rows of a table
	Norm                       // RMS or layer normalisation over Unit (or Out) elements; without tensors it has no weight
	Linear                     // matrix product, plus its bias
	Slice                      // a part of each row of another value; no storage of its own
	Concat                     // two values side by side
	Rope                       // rotary position
	Attention                  // softmax(q k) v over the cache; MLA owns its k_b and v_b here
	Add                        // sum of two values
	Scale                      // times a constant (or a stored scalar)
	Glu                        // act(In[0]) * In[1]
	Act                        // act(In[0])
	Route                      // router scores, the choice of experts and their weights
	ExpertLinear               // Linear through the chosen experts' matrices
	Combine                    // weighted sum over the chosen experts
	Conv                       // short causal convolution with its state
	Scan                       // recurrent scan (Mamba-1, Mamba-2, gated delta rule) with its state
	Gather                     // where an engine may drop rows that nobody needs logits for
	Head                       // logits
	Mix                        // parallel residual streams widened, mixed or merged (AltUp, arXiv:2301.13310)
)

// Rows says how many rows an operator works on.
type Rows uint8

const (
	PerToken  Rows = iota
	PerChoice      // tokens × experts used
	PerOutput      // rows with logits
	PerSource      // tokens of an encoder's output, once: not in a step of the decoder
	PerOther       // tokens of another modality: none in a step of text
	PerImage       // of a denoiser's tokens those of the picture
	PerText        // and those of the text that it is made for
)

// Activation functions, where engines treat them differently.
type ActFn uint8

const (
	SiLU ActFn = iota
	GELU
	ReLU2
	Sigmoid
	Softcap
	Softplus
	Tanh
	TopK // zero below a quantile of a fitted normal distribution (Gemma 3n)
	ReLU
	XIELU
	Identity // no function: a plain product
)

// Op is an operator.
type Op struct {
	Kind OpKind
	Role dtype.Role
	In   [4]Val
	Out  int64 // elements per row of the result
	Unit int64 // width of the innermost axis (head), 0 when the row is one piece
	Off  int64 // Slice: first element
	// Stride > 0: a Slice takes Unit elements, from Off, of every Stride elements of a row (a part of each
	// head); else it is a run of Out elements. A Slice of Side takes the layer's own run.
	Stride int64
	Rows   Rows
	// Steers: how many vectors of the row's width a Scale makes of what all tokens are conditioned on (shifts, scales, gates).
	Steers int64
	W      []*Tensor
	// Lent: the weights belong to another operator (tied head); they are read here, not owned.
	Lent bool
	// Mean: the normalisation subtracts the mean (layer norm, else RMS).
	Mean bool
	// BySeq: rows are grouped by sequence (what surrounds a scan).
	BySeq bool
	Fn    ActFn
	Attn  *Attn
	Scan  *ScanDims
	Moe   *Experts
}

// Attn are the dimensions of an attention operator.
type Attn struct {
	Heads, KVHeads int64
	DimK, DimV     int64 // width of a head's key and value
	// Window > 0: a token sees only that many positions back. Chunk > 0: only its own chunk.
	Window, Chunk int64
	Latent        *Latent
	Sinks         bool
	Cap           bool // scores are soft-capped
	// SharesKV: keys and values are those of an earlier layer; nothing is cached here.
	SharesKV bool
	// Bidirectional: an encoder's attention, which caches nothing.
	Bidirectional bool
	// OneKV: values are the keys, and one row is cached for both (DeepSeek V4).
	OneKV bool
	// Compress > 0: beside its window the layer keeps one row for every so many tokens (DeepSeek V4).
	Compress int64
	Index    *Index
	// Chosen > 0: a token attends to that many positions at most, which an indexer chose, this layer's own or that of
	// an earlier one.
	Chosen int64
	// CrossEncoder: keys and values come from an encoder. Source is how many tokens they are of when that is
	// fixed (the frames of a clip, the patches of an image), 0 when the text decides.
	CrossEncoder bool
	Source       int64
}

// Latent are the dimensions of multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): Rank+Rope
// numbers per token are cached, keys are Nope+Rope wide, values V.
type Latent struct{ Rank, Rope, Nope, V int64 }

// Index is the indexer of sparse attention, which chooses the tokens that are attended to (DeepSeek V3.2,
// arXiv:2512.02556): its key of a token, or of Every tokens together, is cached too.
type Index struct {
	Heads, Dim, Every int64
	// Plain: keys are kept in the format of the cache; else in FP8 with an FP32 scale for 128 numbers.
	Plain bool
}

// Width is what one token leaves in the cache.
func (l *Latent) Width() int64 { return l.Rank + l.Rope }

// ScanDims are the dimensions of a recurrent operator: Mamba-1 (arXiv:2312.00752) with Groups 0,
// Mamba-2 (arXiv:2405.21060), gated delta net (arXiv:2412.06464).
type ScanDims struct {
	Conv    int64 // kernel of the short convolution
	Inner   int64 // width of x
	State   int64 // state per channel (Mamba) or key width (delta net)
	Heads   int64
	HeadDim int64
	Groups  int64
	Delta   bool // gated delta rule
	// Long: a prompt is convolved with the whole text by FFTs, and only a step of one token scans (arXiv:2302.10866).
	Long bool
}

// ConvDim is the width of what the convolution sees.
func (s *ScanDims) ConvDim() int64 { return s.Inner + 2*s.Groups*s.State }

// ConvElems is the convolution's state of one sequence.
func (s *ScanDims) ConvElems() int64 { return (s.Conv - 1) * s.ConvDim() }

// StateElems is the scan's state of one sequence.
func (s *ScanDims) StateElems() int64 { return s.State * s.Inner }

// Experts describe a routed mixture.
type Experts struct {
	N, Used  int64
	Sigmoid  bool // scores by sigmoid, else softmax
	Bias     bool // a bias enters the choice, not the weights
	Norm     bool // weights of the chosen are normalised
	Scaled   bool // and multiplied by a constant
	SoftLate bool // softmax over the chosen only
	// Groups > 1: only experts of the GroupsUsed best groups can be chosen (DeepSeek-V2 and V3).
	Groups, GroupsUsed int64
}
