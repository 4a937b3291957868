package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Indexer is the sparse attention indexer that selects the tokens a layer attends to. It is comparable; zero Heads means none.
type Indexer struct {
	Heads, Dim int64
	// Blocks: whole blocks of tokens are chosen; queries are made of the layer's input, both are normalised without a
	// mean, and nothing weighs the heads (MiniMax-M3).
	Blocks bool
	Every  int64 // tokens that share a key, 0 for one
	// Pooled: such a key is a sum of theirs by learned weights (GLM-5.3-Flash).
	Pooled bool
}

// chosen is how many positions a token of an indexed layer attends to: so many tokens, or blocks of them; 0 when the
// config does not say.
func (c *Config) chosen() int64 {
	if t := c.Sub("sparse_attention_config"); t != nil {
		return t.IntOr(0, "sparse_topk_blocks") * t.IntOr(0, "sparse_block_size")
	}
	return c.IntOr(0, "index_topk")
}

// index builds the indexer's operators: query is what its queries are made of (the low-rank query of latent attention).
func (b *layerBuilder) index(x, query model.Val, rank int64) {
	i := &b.l.Attn.Index
	if i.Heads == 0 {
		return
	}
	q := b.linear(query, matrix(dtype.IndexQ, unsplit(i.Heads*i.Dim), unsplit(rank)), false)
	k := b.linear(x, matrix(dtype.IndexK, unsplit(i.Dim), unsplit(b.h)), false)
	if i.Blocks {
		b.headNorm(dtype.IndexQNorm, q, i.Dim)
		b.headNorm(dtype.IndexKNorm, k, i.Dim)
		return
	}
	if i.Pooled {
		b.pool(x, k)
	}
	b.norm(LayerNormBias, dtype.IndexKNorm, k, i.Dim)
	b.linear(x, matrix(dtype.IndexProj, unsplit(i.Heads), unsplit(b.h)), false)
}

// pool sums the keys of a pool, weighed by gates and a bias of each place.
func (b *layerBuilder) pool(x, k model.Val) {
	i := &b.l.Attn.Index
	gate := b.linear(x, matrix(dtype.IndexGate, unsplit(i.Dim), unsplit(b.h)), false)
	place := matrix(dtype.IndexPos, unsplit(i.Every), unsplit(i.Dim))
	place.Adapt = false
	b.op(model.Op{Kind: model.Mix, Role: dtype.IndexPos, Out: i.Dim, W: []*model.Tensor{place}}, k, gate)
}

// keys is what the cache holds of the indexer.
func (i *Indexer) keys() *model.Index {
	if i.Heads == 0 {
		return nil
	}
	return &model.Index{Heads: i.Heads, Dim: i.Dim, Every: i.Every, Plain: i.Blocks}
}
