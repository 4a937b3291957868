package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Row is a layer written out: its weights one after the other, and attention without a cache between them. Stacks whose
// layers no other field of Layer tells are made of it: blocks of diffusion transformers, conformers, convolutions.
type Row struct {
	Name    string // of the structure: "conformer"
	Weights []Weight
}

// rows gives n equal layers of weights.
func rows(n int, name string, weights ...Weight) []Layer {
	return repeat(Layer{Row: &Row{Name: name, Weights: weights}}, n)
}

// row builds a written-out layer around a residual.
func (b *layerBuilder) row() {
	b.add(b.weights(b.l.Row.Weights, 0, b.h), 0, b.h)
}

// attends is attention among all tokens of an image, a clip or a text: heads of a width.
func attends(heads, width int64) Weight {
	return Weight{Use: Attends, In: heads, Out: width}
}

// steers is a matrix of what a whole picture is conditioned on (time step, size, pooled text): its results scale and
// shift every token (adaptive layer norm, arXiv:2212.09748), and it is multiplied once a step.
func steers(role dtype.Role, in, out int64) Weight {
	return Weight{Role: role, Use: Steers, In: in, Out: out, Bias: true}
}

// attendsTo appends the attention that a weight stands for.
func (b *kindBuilder) attendsTo(w *Weight, x model.Val) model.Val {
	a := &model.Attn{Heads: w.In, KVHeads: w.In, DimK: w.Out, DimV: w.Out, Bidirectional: true, CrossEncoder: w.Text}
	return b.op(model.Op{Kind: model.Attention, Out: w.In * w.Out, Attn: a}, x, x, x)
}

// steer appends a matrix of the condition.
func (b *kindBuilder) steer(w *Weight, x model.Val, width int64) model.Val {
	var weights []*model.Tensor
	if w.Use == Steers {
		weights = append(weights, matrix(w.Role, unsplit(w.Out), unsplit(w.In)))
	}
	if w.Use == Steers && w.Bias {
		weights = append(weights, bias(weights[0]))
	}
	x = b.scale(x, width, weights...)
	b.k.Ops[x-1].Steers = w.Out / max(1, width)
	return x
}

// across is the width of all heads, whose own width a field of the config gives.
func (c *Config) across(dim string) (n, width int64) {
	const heads = "num_attention_heads"
	n, d := c.Int(heads), c.Int(dim)
	if n > 1<<12 || d > 1<<12 {
		c.fail(heads, c.m[heads], "is more heads, or wider ones, than any model's", "correct the config.json")
		return 1, 1
	}
	return n, n * d
}

// stack reads a number of layers that may be left out.
func (c *Config) stack(def int64, key string) int {
	n := c.IntOr(def, key)
	if n > maxLayers {
		c.fail(key, c.m[key], "is more layers than memwall accepts", "correct the config.json")
		return 0
	}
	return int(n)
}
