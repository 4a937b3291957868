package model

import "github.com/memwall/memwall/dtype"

// Val identifies a value in a Kind: 0 is the stream entering it, i the result of Ops[i-1], None nothing.
type Val int16

// None marks an unused input. Side is the value that the part's Pre computes in addition to the stream, of which every
// layer reads its own slice (per-layer embeddings).
const (
	None Val = -1
	Side Val = -2
)

// OpKind is one mathematical step: finer than "attention block", coarser than a kernel.
type OpKind uint8

const (
	Embed        OpKind = iota // table lookup
	Norm                       // RMS or layer norm over Unit (or Out) elements; without tensors it has no weight
	Linear                     // matmul, plus bias
	Slice                      // view of part of each row of another value
	Concat                     // concatenation of two values
	Rope                       // rotary embedding
	Attention                  // softmax(q k) v over the cache; with MLA it owns k_b and v_b
	Add                        // sum of two values
	Scale                      // multiplication by a constant or a stored scalar
	Glu                        // act(In[0]) * In[1]
	Act                        // act(In[0])
	Route                      // router scores, choice of experts and their weights
	ExpertLinear               // Linear with the chosen experts' matrices
	Combine                    // weighted sum over the chosen experts
	Conv                       // short causal convolution, with state
	Scan                       // recurrent scan (Mamba-1, Mamba-2, gated delta rule), with state
	Gather                     // point where an engine may drop rows whose logits nobody needs
	Head                       // logits
	Mix                        // widening, mixing or merging of parallel residual streams (AltUp, arXiv:2301.13310)
)

// Rows says which rows an operator processes.
type Rows uint8

const (
	PerToken  Rows = iota
	PerChoice      // tokens × experts per token
	PerOutput      // rows whose logits are needed
	PerSource      // tokens of an encoder's output, once; none in decoder steps
	PerOther       // tokens of another modality; none in text steps
	PerImage       // image tokens of a denoiser
	PerText        // text tokens of a denoiser
)

// Activation functions that engines treat differently.
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
	Identity // no activation
)

// Op is an operator.
type Op struct {
	Kind OpKind
	Role dtype.Role
	In   [4]Val
	Out  int64 // elements per row of the result
	Unit int64 // width of the innermost axis (head), 0 if the row is not divided
	Off  int64 // Slice: first element
	// Stride, if positive, makes a Slice take Unit elements from Off of every Stride elements of a row, that is, part of
	// each head; otherwise a Slice is a run of Out elements. A Slice of Side takes the layer's own run.
	Stride int64
	Rows   Rows
	// Steers is the number of row-wide vectors (shifts, scales, gates) that a Scale derives from the conditioning shared
	// by all tokens.
	Steers int64
	W      []*Tensor
	// Lent reports that the weights belong to another operator (tied head) and are only read here.
	Lent bool
	// Mean reports that the norm subtracts the mean (layer norm, otherwise RMS norm).
	Mean bool
	// BySeq reports that rows are grouped by sequence, as around a scan.
	BySeq bool
	Fn    ActFn
	Attn  *Attn
	Scan  *ScanDims
	Moe   *Experts
}

// Attn holds the dimensions of an attention operator.
type Attn struct {
	Heads, KVHeads int64
	DimK, DimV     int64 // width of a head's keys and values
	// Window, if positive, is how many positions back a token attends to. Chunk, if positive, restricts it to its own
	// chunk of that size.
	Window, Chunk int64
	Latent        *Latent
	Sinks         bool
	Cap           bool // scores are soft-capped
	// SharesKV reports that keys and values come from an earlier layer; nothing is cached here.
	SharesKV bool
	// Bidirectional marks encoder attention, which caches nothing.
	Bidirectional bool
	// OneKV reports that values equal keys, so that one row is cached for both (DeepSeek V4).
	OneKV bool
	// Compress, if positive, is the number of tokens per row kept in addition to the window (DeepSeek V4).
	Compress int64
	Index    *Index
	// Chosen, if positive, is the most positions that a token attends to, chosen by an indexer in this or an earlier
	// layer.
	Chosen int64
	// CrossEncoder reports that keys and values come from an encoder. Source is the number of its tokens if fixed
	// (frames of a clip, patches of an image), 0 if the input decides.
	CrossEncoder bool
	Source       int64
}

// Latent holds the dimensions of multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): Rank+Rope elements are
// cached per token, keys are Nope+Rope wide and values V.
type Latent struct{ Rank, Rope, Nope, V int64 }

// Index is the indexer of sparse attention, which chooses the tokens attended to (DeepSeek V3.2, arXiv:2512.02556). Its
// key for each token, or for each group of Every tokens, is cached too.
type Index struct {
	Heads, Dim, Every int64
	// Plain reports that keys use the cache's format rather than FP8 with an FP32 scale per 128 elements.
	Plain bool
}

// Width returns the number of elements cached per token.
func (l *Latent) Width() int64 { return l.Rank + l.Rope }

// ScanDims holds the dimensions of a recurrent operator: Mamba-1 (arXiv:2312.00752) if Groups is 0, Mamba-2
// (arXiv:2405.21060), or gated delta net (arXiv:2412.06464).
type ScanDims struct {
	Conv    int64 // kernel size of the short convolution
	Inner   int64 // width of x
	State   int64 // state per channel (Mamba) or key width (delta net)
	Heads   int64
	HeadDim int64
	Groups  int64
	Delta   bool // gated delta rule
	// Long reports that prefill convolves the whole prompt by FFT and only single-token steps scan (arXiv:2302.10866).
	Long bool
}

// ConvDim returns the number of channels of the convolution.
func (s *ScanDims) ConvDim() int64 { return s.Inner + 2*s.Groups*s.State }

// ConvElems returns the size of the convolution's state per sequence, in elements.
func (s *ScanDims) ConvElems() int64 { return (s.Conv - 1) * s.ConvDim() }

// StateElems returns the size of the scan's state per sequence, in elements.
func (s *ScanDims) StateElems() int64 { return s.State * s.Inner }

// Experts describes a mixture of routed experts.
type Experts struct {
	N, Used  int64
	Sigmoid  bool // sigmoid scores, otherwise softmax
	Bias     bool // a bias affects the choice but not the weights
	Norm     bool // weights of the chosen experts are normalized
	Scaled   bool // and multiplied by a constant
	SoftLate bool // softmax over the chosen experts only
	// Groups, if above 1, restricts the choice to experts of the GroupsUsed best groups (DeepSeek-V2 and V3).
	Groups, GroupsUsed int64
}
