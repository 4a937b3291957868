package train

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// tuner is a method that trains little beside a frozen model: what it trains for a matrix, and what it holds beside that. What
// blocks keep of a token is as of LoRA, whose place it takes; where it differs the band is wider.
type tuner struct {
	// rank when none is said; of OFT and BOFT the size of a block, of prompts and prefixes how many tokens are learnt.
	rank    int64
	targets []string
	// count is how many numbers train for a matrix of a rank; nil where no matrix has an adapter.
	count func(t *model.Tensor, rank float64) float64
	// kept are numbers in fp32 beside each that trains.
	kept float64
	// delta: a matrix as large as the adapted one is made of the factors, and lives until the input's gradient.
	delta bool
	// virtual: learnt tokens stand before a sample. shared: two frozen matrices in fp32 serve all layers.
	virtual, shared bool
	// peft: peft alone has it, and runs of it were compared with others' only in its own benchmark.
	peft   bool
	source string
}

// beyondLoRA is how far reserved bytes of peft's methods lay from those of LoRA with as many tokens (huggingface/peft,
// method_comparison: one model, one length).
var beyondLoRA = spread{ratio: 1, low: 0.9, high: 1.11}

var tuners = map[string]tuner{
	"lora":  {count: factors},
	"qlora": {count: factors},
	"dora":  {count: func(t *model.Tensor, r float64) float64 { return factors(t, r) + float64(t.Rows()) }}, // the magnitude (arXiv:2402.09353)
	// a singular value for each rank, and three moments of each number's importance
	"adalora": {rank: 12, count: func(t *model.Tensor, r float64) float64 { return factors(t, r) + r }, kept: 3, peft: true, source: "peft/tuners/adalora/layer.py: SVDLinear, RankAllocator.reset_ipt"},
	// two vectors between shared matrices
	"vera": {rank: 256, count: func(t *model.Tensor, r float64) float64 { return r + float64(t.Rows()) }, shared: true, peft: true, source: "peft/tuners/vera/model.py: _init_vera_A_vera_B"},
	// two products of factors, multiplied number by number
	"loha": {rank: 8, count: func(t *model.Tensor, r float64) float64 { return 2 * factors(t, r) }, delta: true, peft: true, source: "peft/tuners/loha/layer.py: get_delta_weight"},
	// a small matrix, and the factors of another, whose Kronecker product is the whole
	"lokr": {rank: 8, count: kronecker, delta: true, peft: true, source: "peft/tuners/lokr/layer.py: factorization, make_kron"},
	"ia3":  {targets: []string{"k_proj", "v_proj", "down_proj"}, count: oneVector, peft: true, source: "peft/tuners/ia3/layer.py: ia3_l"},
	// skew-symmetric blocks on the diagonal, which turn inputs
	"oft": {rank: 32, count: func(t *model.Tensor, r float64) float64 { return float64(t.Cols) * (r - 1) / 2 }, peft: true, source: "peft/tuners/oft/layer.py: OFTRotationModule"},
	// whole blocks on the diagonal, and a scale of each output; the turned matrix is made
	"boft":          {rank: 4, count: func(t *model.Tensor, r float64) float64 { return float64(t.Cols)*r + float64(t.Rows()) }, delta: true, peft: true, source: "peft/tuners/boft/layer.py: boft_R, boft_s"},
	"prompt_tuning": {rank: 20, virtual: true, peft: true, source: "peft/tuners/prompt_tuning/model.py: PromptEmbedding"},
	// keys and values of learnt tokens in every layer
	"prefix_tuning": {rank: 20, targets: []string{"k_proj", "v_proj"}, count: func(t *model.Tensor, r float64) float64 { return r * float64(t.Rows()) }, peft: true, source: "peft/tuners/prefix_tuning/model.py: PrefixEncoder"},
}

// Methods lists what may be trained of a model, the whole of it first.
func Methods() []string {
	return []string{"full", "lora", "qlora", "dora", "adalora", "vera", "loha", "lokr", "ia3", "oft", "boft", "prompt_tuning", "prefix_tuning"}
}

// factors of a low rank, whose product has the shape of a matrix (arXiv:2106.09685).
func factors(t *model.Tensor, rank float64) float64 { return rank * float64(t.Rows()+t.Cols) }

// oneVector scales outputs, or inputs of the product that ends a feed-forward layer (arXiv:2205.05638).
func oneVector(t *model.Tensor, _ float64) float64 {
	if t.Role == dtype.FFNDown || t.Role == dtype.FFNDownExps {
		return float64(t.Cols)
	}
	return float64(t.Rows())
}

// kronecker cuts both sides of a matrix in two factors as near to each other as they come: the smaller two are a matrix, the
// larger two are those of a matrix of a low rank.
func kronecker(t *model.Tensor, rank float64) float64 {
	a, c := nearest(t.Rows())
	b, d := nearest(t.Cols)
	return float64(a*b) + min(float64(c*d), rank*float64(c+d))
}

// nearest are two factors of n, the smaller first, as near to each other as they come.
func nearest(n int64) (small, large int64) {
	small, large = 1, n
	for i := int64(1); i*i <= n; i++ {
		if n%i == 0 {
			small, large = i, n/i
		}
	}
	return small, large
}
