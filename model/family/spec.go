// Package family builds models. A family converts the hyperparameters of a config.json or GGUF header to a Spec, with
// one Layer value per layer; build.go turns any Spec into operators and tensors.
//
// See spec.go for what a layer can consist of and llama.go for an example of a family. To add one, follow
// docs/guides/add-a-model-family.md: one file with one row, and one test.
package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// FileName is the name in GGUF files of the tensors of a role.
type FileName struct{ Role, Name dtype.Role }

// Spec is a network in plain numbers: a decoder with what stands beside it, or an encoder alone. Two Specs are
// equal when the networks are.
type Spec struct {
	Arch    string // as the source names it
	Family  string // GGUF name of the architecture
	Vocab   int64
	Hidden  int64
	Context int64
	Tied    bool
	Native  *dtype.Format

	EmbedNorm  NormKind // normalisation right after the embedding
	EmbedScale bool
	Positions  int64 // learned absolute positions
	// ExtraTokens: rows that the embedding has beyond the head (Llama 3.2 Vision).
	ExtraTokens int64
	Segments    int64 // rows of a table of segments (BERT's token types)
	OutNorm     NormKind
	FileNames   []FileName // roles that GGUF files know by another name
	HeadBias    bool
	HeadScale   bool // logits times a constant
	HeadInput   bool // the head's input times a constant (MiniCPM)
	HeadCap     bool // logits soft-capped
	NoHead      bool
	Before      []Weight // after the embedding (a projection of image patches)
	After       []Weight // after the last norm, before the head: poolers, classifiers
	// Encodes: the layers read whole texts at once and generate nothing.
	Encodes bool
	Score   int64 // rows of the head of a reward model, which has no vocabulary; 0 for an ordinary head

	Layers []Layer
	MTP    []Layer // multi-token prediction layers
	// Trailing are prediction layers that a GGUF file holds behind the layers and MTP does not list.
	Trailing int
	// MTPStep is how many of them predict one token; 0 for one.
	MTPStep int
	// MTPEnds: files store an embedding and a head of their own with each prediction layer.
	MTPEnds  bool
	MTPHead  bool // a head alone (Step-3.5)
	MTPTable bool // an embedding alone (LongCat)
	MTPBare  bool // and no norm behind the layer (ERNIE 4.5)
	Vision   *Tower
	Beside   []*Tower // further ones: audio towers, the encoder of an encoder-decoder
	Source   Source
	Tables   []Table
	AltUp    int64 // parallel residual streams (Gemma 3n), 0 for one
	Hyper    int64 // hyper-connected residual streams (DeepSeek V4), 0 for one
	// HyperMean: the head reads the mean of the streams, which no weights sum (GLM-5.3-Flash).
	HyperMean bool
	Recall    bool  // the head reads a weighted sum of earlier blocks' outputs (Kimi K3)
	PLE       int64 // width of per-layer embeddings (Gemma 3n, 4), 0 for none
	PLEVocab  int64
	// Grams and GramWidth are of a table that is looked up by the last tokens together (Qwen3.8 Flash Next), 0 for none.
	Grams, GramWidth int64
	// Unsure is the share by which the weights of a network that no family describes may differ from what is read; 0 for others.
	Unsure float64
	// UnsureBelow is that share towards less where it is larger: a head of its own is counted that the embeddings may be. 0 for none.
	UnsureBelow float64
	// Draft is what a network that only proposes tokens takes from the model that verifies them.
	Draft Draft
}

// Drafts reports whether the network only proposes tokens for another model.
func (s *Spec) Drafts() bool { return s.Draft.Embed }

// Draft says which ends a drafter takes from its target, and what it reads of it.
type Draft struct {
	Embed, Head bool  // the target's embedding and head are used
	HeadRows    int64 // of a head for the frequent tokens alone; 0 for the whole vocabulary
	States      int64 // width of the target's states that are mapped to the drafter's own, 0 for none
	StatesNorm  bool  // and normalised then
}

// Source holds what only one of the two sources tells: it says nothing about the network's structure.
type Source struct {
	State  *dtype.Format  // of recurrent states
	Rotary []model.Rotary // tables that engines precompute
}

// Table is a stored vector that is not a parameter: rotary factors in GGUF files.
type Table struct {
	Role dtype.Role
	Rows int64
}

// Layer is one layer, comparable with ==; equal layers share a kind.
type Layer struct {
	Norm  NormKind
	Place NormPlace
	Sum   SumOrder  // of parallel branches
	Attn  Attention // zero Heads: none
	Cross Attention // over an encoder's output, after Attn; zero Heads: none
	SSM   SSM       // zero Inner: none
	FFN   MLP       // zero Inner: none
	MoE   MoE       // zero Experts: none

	// Linear: one matrix stands for the mixer (Llama-Nemotron).
	Linear        bool
	ResidualScale bool // branch outputs times a constant (Granite)
	OutScale      bool // layer output times a stored scalar (Gemma 4)
	NoAttnNorm    bool // the mixer reads the stream as it is (the first layer of ModernBERT)
	LayerScale    bool // branch outputs times a vector each (CaiT, arXiv:2103.17239)
	InnerNorm     bool // what enters the output matrix of each branch is normalised (BitNet)
	Gates         bool // branch outputs times a stored scalar each (Flamingo, arXiv:2204.14198)
	// GateWidth: those scalars are vectors of this width; 0 for scalars.
	GateWidth int64
	// Branches stand beside the layer's matrices for tokens of other modalities; no rank, no branch.
	Branches [2]Branch
	AltUp    int64
	Hyper    int64
	// HyperPlain: a stream keeps to itself but for what the branches add (Hy4).
	HyperPlain bool
	// Recall: branches read a weighted sum of earlier blocks' outputs (Kimi K3).
	Recall bool
	Laurel int64 // rank of the augmented residual, 0 for none
	PLE    int64
	Shared SharedBlock // a block that several layers share, before the mixer; zero Heads: none
	// Joined: queries, keys and values are made of the stream and the next token's embedding, each normalised (EAGLE-3).
	Joined bool
	// Row writes the layer out in place of all else; nil for none.
	Row *Row
}

// NormKind is the normalization used throughout a layer.
type NormKind uint8

const (
	NoNorm NormKind = iota
	RMS
	LayerNorm     // weight only
	LayerNormBias // weight and bias
	PlainNorm     // layer norm without a weight (OLMo)
)

// NormPlace is where a layer normalizes.
type NormPlace uint8

const (
	PreNorm   NormPlace = iota // before mixer and before FFN
	PostNorm                   // after mixer and after FFN (OLMo 2)
	Sandwich                   // before and after both (Gemma 2, 3)
	Parallel                   // one norm, mixer and FFN side by side (Command R, Phi-2)
	Parallel2                  // mixer and FFN side by side, each with its own norm
	Single                     // one norm, one branch: the layer has a mixer or an FFN (Mamba, Nemotron-H)
	// PreNormPost names the FFN's norm post_attention_norm (Qwen3-Next, gpt-oss).
	PreNormPost
	AfterSum // after each residual sum (the first transformer, BERT)
	// PreNormOut names the FFN's norm attn_output_norm (DBRX).
	PreNormOut
	// PreNorm2 names the FFN's norm attn_norm_2 (RWKV).
	PreNorm2
	// SandwichOut is Sandwich whose later norms are attn_output_norm and layer_output_norm (Grok).
	SandwichOut
	// Parallel2Attn is Parallel2 whose added norm is the mixer's (Falcon 40B and 180B).
	Parallel2Attn
)

// SumOrder is the order in which a parallel layer adds mixer, FFN and residual. It affects what is alive in between, not the sum.
type SumOrder uint8

const (
	FFNFirst    SumOrder = iota // (FFN + residual) + mixer (Command R)
	Branches                    // (mixer + FFN) + residual (Phi-2)
	MixerFirst                  // FFN + (mixer + residual) (StableLM 2)
	FFNBranches                 // (FFN + mixer) + residual (Falcon)
)

// Attention describes softmax attention.
type Attention struct {
	Heads, KVHeads int64
	DimK, DimV     int64
	NoRope         bool // no rotary positions
	TurnFirst      bool // queries and keys are normalised after they are turned (Hunyuan, Llama 4)
	// LocalFactors: layers with a window read the stored rotary factors too (EXAONE 4).
	LocalFactors  bool
	Window, Chunk int64
	Fused         bool // one qkv matrix
	BiasQ, BiasKV bool
	BiasOut       bool
	QKNorm        QKNorm
	Gate          bool // query matrix is doubled; the second half gates the output (Qwen3-Next)
	// OutGate: a matrix of its own gates the output by this many numbers a head: 1 (Step-3.5) or DimV (Trinity).
	OutGate  int64
	Sinks    bool
	Scale    bool // queries times a constant in their own step (Gemma)
	Cap      bool // scores soft-capped
	SharesKV bool // keys and values of an earlier layer
	// OwnKV: the layer has K and V matrices though it shares an earlier cache (Gemma 3n).
	OwnKV bool
	KEqV  bool // values are the keys: no V matrix (Gemma 4)
	VNorm bool // values normalised without a weight (Gemma 4)
	// Bidirectional: every token sees every other and nothing is cached (encoders).
	Bidirectional bool
	NoBiasK       bool  // BiasKV is of the values alone (Whisper)
	RelBias       int64 // numbers in a table of relative positions that the layer has (T5, SAM)
	// Encoder > 0: keys and values are made of an encoder's output of this width; Source is how many tokens
	// that is when it is fixed, 0 when the text decides.
	Encoder, Source int64

	Index Indexer
	// Chosen > 0: how many positions are attended to, of those that an indexer ranks.
	Chosen int64
	// OneKV: one head whose values are its keys; Compress > 0: beside the window one row for every so many tokens; the
	// output leaves through OutGroups low ranks of OutRank (DeepSeek V4).
	OneKV              bool
	Compress           int64
	OutGroups, OutRank int64

	// Latent attention (MLA): KVRank > 0.
	QRank, KVRank, Nope int64
	// Expanded keeps kv_b whole and caches full keys and values (MiniCPM3).
	Expanded bool
}

// QKNorm is the normalization of queries and keys.
type QKNorm uint8

const (
	NoQKNorm   QKNorm = iota
	PerHead           // one weight of a head's width
	FullWidth         // over all heads at once (OLMo 2, MiniMax-M2)
	EachHead          // a weight of its own for every head (StableLM 2)
	Weightless        // of a head's width, without a weight (Llama 4)
	// PerHeadBias: a layer norm of a head's width with weight and bias (Persimmon).
	PerHeadBias
)

// SSM describes a recurrent mixer.
type SSM struct {
	Style  SSMStyle
	Conv   int64
	Inner  int64
	State  int64
	Heads  int64
	Groups int64
	Rank   int64 // of dt (Mamba-1)
	// DBCNorm: dt, B and C are normalised with weights (Jamba).
	DBCNorm bool
	// SplitBA: beta and alpha are separate matrices (Qwen3.5).
	SplitBA    bool
	BiasIn     bool
	NoConvBias bool
	NoNorm     bool // no gated norm before the output projection
	HeadNorm   bool // queries and keys normalised per head (Lightning of Ling 2.5)
	// Ranks of TimeMix: of decay, learning rate, the share of the first layer's values (0: none), and gate; of Finch: of
	// the mixes and the decay.
	Ranks    [4]int64
	WideGate bool // the gate is one matrix, not a product of two (Kimi K3)
	// WideDecay: so is the decay (Ling 3).
	WideDecay bool
}

// SSMStyle is the kind of recurrence.
type SSMStyle uint8

const (
	Mamba1 SSMStyle = iota + 1
	Mamba2
	DeltaNet
	DeltaHeads // delta rule with a decay of every channel, gates through a low rank (Kimi Linear)
	Lightning  // linear attention with a fixed decay of every head (MiniMax-Text-01)
	MambaWide  // Mamba-2's heads with Mamba-1's projections (PLaMo 2)
	TimeMix    // RWKV-7: a delta rule whose inputs are mixed with those of the token before
	Channels   // RWKV-4: a decay of every channel, and a number of state for it
	Eagle      // RWKV-5: the same with a matrix of state for every head
	Finch      // RWKV-6: decays and mixes depend on the input
	ShortOnly  // a gated short convolution without a scan (LFM2)
	LongConv   // a gated convolution over the whole text, by poles (StripedHyena)
)

// Branch is a product of two matrices of a low rank, whose result tokens of one modality add to that of each matrix of
// the layer (partial LoRA, arXiv:2401.16420).
type Branch struct {
	QKV  int64 // rank beside the fused matrix of queries, keys and values
	Rest int64 // beside the others
}

// MLP is a dense feed-forward block.
type MLP struct {
	Inner int64
	Gated bool
	Fused bool // gate and up in one matrix
	Bias  bool
	Act   Activation
	// Shift: the input is mixed with that of the token before (RWKV); with Receptance a matrix of its own gates the output
	// (before RWKV-7).
	Shift, Receptance bool
	// BiasDown: the second matrix alone has a bias.
	BiasDown bool
	// Sparse: of the gate only what lies above a quantile passes (Gemma 3n).
	Sparse bool
	// GateTwice: the gate is gated in turn, by the other half of its matrix (OpenMoE).
	GateTwice bool
}

// Activation is the activation function of an MLP.
type Activation uint8

const (
	SiLU Activation = iota
	GELU
	ReLU2
	ReLU
	XIELU // with two learned numbers (Apertus)
	// XIELUKnown has its numbers beside the tensors (the metadata of a GGUF file).
	XIELUKnown
)

// MoE is a routed mixture with an optional shared expert.
type MoE struct {
	Experts, Used int64
	Inner         int64
	Gated         bool
	FusedGateUp   bool  // one matrix per expert for gate and up (Gemma 4)
	Bias          bool  // experts and router have biases (gpt-oss)
	Shared        int64 // width of the shared expert, 0 for none
	SharedGate    bool  // the shared expert is weighed by a learned scalar
	Sigmoid       bool
	ChoiceBias    bool // e_score_correction_bias
	Norm          bool
	Scaled        bool
	SoftLate      bool
	Groups        int64 // experts are chosen within the GroupsUsed best of so many groups, 0 for anywhere
	GroupsUsed    int64
	WithFFN       bool  // runs beside the dense FFN, on the same input (LongCat)
	Zero          int64 // further choices of the router that return their input (LongCat)
	Beside        bool  // runs beside a dense FFN with norms of its own (Gemma 4)
	Latent        int64 // experts work on a projection of this width (Nemotron 3)
	GateTwice     bool  // as in MLP
	Behind        bool  // a dense FFN with a norm of its own follows (OpenMoE)
	LatentNorm    bool  // their sum is normalised before it leaves the projection (Kimi K3)
	Images        int64 // width of as many experts for tokens of images, with a router of their own (ERNIE 4.5 VL); 0 for none
	Act           Activation
}
