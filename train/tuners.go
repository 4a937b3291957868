package train

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// tuner is a parameter-efficient method: what it trains for a matrix, and what it holds in addition. Blocks are assumed
// to keep the same as with LoRA; the band is wider where they differ.
type tuner struct {
	// Default rank; for OFT and BOFT the block size, for prompts and prefixes the number of learned tokens.
	rank    int64
	targets []string
	// count returns the parameters trained for a matrix at a rank; nil if no matrix is adapted.
	count func(t *model.Tensor, rank float64) float64
	// kept is the number of fp32 values kept per trained parameter.
	kept float64
	// delta reports that a matrix as large as the adapted one is computed from the factors and lives until the input's
	// gradient.
	delta bool
	// virtual reports that learned tokens precede a sample; shared, that two frozen fp32 matrices serve all layers.
	virtual, shared bool
	// peft reports that only peft implements it, and that measurements exist only in its own benchmark.
	peft   bool
	source string
}

// beyondLoRA is how far reserved bytes of peft's methods were from those of LoRA with the same tokens
// (huggingface/peft, method_comparison: one model, one length).
var beyondLoRA = spread{ratio: 1, low: 0.9, high: 1.11}

var tuners = map[string]tuner{
	"lora":  {count: factors},
	"qlora": {count: factors},
	"dora":  {count: func(t *model.Tensor, r float64) float64 { return factors(t, r) + float64(t.Rows()) }}, // the magnitude (arXiv:2402.09353)
	// a singular value per rank, and three importance moments per parameter
	"adalora": {rank: 12, count: func(t *model.Tensor, r float64) float64 { return factors(t, r) + r }, kept: 3, peft: true, source: "peft/tuners/adalora/layer.py: SVDLinear, RankAllocator.reset_ipt"},
	// two vectors between shared matrices
	"vera": {rank: 256, count: func(t *model.Tensor, r float64) float64 { return r + float64(t.Rows()) }, shared: true, peft: true, source: "peft/tuners/vera/model.py: _init_vera_A_vera_B"},
	// elementwise product of two low-rank matrices
	"loha": {rank: 8, count: func(t *model.Tensor, r float64) float64 { return 2 * factors(t, r) }, delta: true, peft: true, source: "peft/tuners/loha/layer.py: get_delta_weight"},
	// Kronecker product of a small matrix and a low-rank one
	"lokr": {rank: 8, count: kronecker, delta: true, peft: true, source: "peft/tuners/lokr/layer.py: factorization, make_kron"},
	"ia3":  {targets: []string{"k_proj", "v_proj", "down_proj"}, count: oneVector, peft: true, source: "peft/tuners/ia3/layer.py: ia3_l"},
	// skew-symmetric diagonal blocks, which rotate inputs
	"oft": {rank: 32, count: func(t *model.Tensor, r float64) float64 { return float64(t.Cols) * (r - 1) / 2 }, peft: true, source: "peft/tuners/oft/layer.py: OFTRotationModule"},
	// full diagonal blocks and a scale per output; the rotated matrix is materialized
	"boft":          {rank: 4, count: func(t *model.Tensor, r float64) float64 { return float64(t.Cols)*r + float64(t.Rows()) }, delta: true, peft: true, source: "peft/tuners/boft/layer.py: boft_R, boft_s"},
	"prompt_tuning": {rank: 20, virtual: true, peft: true, source: "peft/tuners/prompt_tuning/model.py: PromptEmbedding"},
	// keys and values of learned tokens in every layer
	"prefix_tuning": {rank: 20, targets: []string{"k_proj", "v_proj"}, count: func(t *model.Tensor, r float64) float64 { return r * float64(t.Rows()) }, peft: true, source: "peft/tuners/prefix_tuning/model.py: PrefixEncoder"},
}

// Methods returns what can be trained of a model, starting with all of it.
func Methods() []string {
	return []string{"full", "lora", "qlora", "dora", "adalora", "vera", "loha", "lokr", "ia3", "oft", "boft", "prompt_tuning", "prefix_tuning"}
}

// factors returns the parameters of a low-rank product with the shape of a matrix (arXiv:2106.09685).
func factors(t *model.Tensor, rank float64) float64 { return rank * float64(t.Rows()+t.Cols) }

// oneVector returns the parameters of a scale of outputs, or for the last matmul of a feed-forward layer, of inputs
// (arXiv:2205.05638).
func oneVector(t *model.Tensor, _ float64) float64 {
	if t.Role == dtype.FFNDown || t.Role == dtype.FFNDownExps {
		return float64(t.Cols)
	}
	return float64(t.Rows())
}

// kronecker returns the parameters of LoKr, which splits both sides of a matrix into two factors as close as possible:
// a matrix of the smaller two, and a low-rank one of the larger two.
func kronecker(t *model.Tensor, rank float64) float64 {
	a, c := nearest(t.Rows())
	b, d := nearest(t.Cols)
	return float64(a*b) + min(float64(c*d), rank*float64(c+d))
}

// nearest returns two factors of n as close as possible, the smaller first.
func nearest(n int64) (small, large int64) {
	small, large = 1, n
	for i := int64(1); i*i <= n; i++ {
		if n%i == 0 {
			small, large = i, n/i
		}
	}
	return small, large
}
