package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// zamba2: Mamba-2 layers, some of which also run one of a few shared blocks of attention and MLP over the stream beside the
// embedding; each use of a block has low-rank matrices of its own (arXiv:2411.15242; transformers, models/zamba2).
var zamba2 = &Family{
	Name: "zamba2", Classes: []string{"Zamba2ForCausalLM", "Zamba2Model"}, Types: []string{"zamba2"},
	Config: func(c *Config) *Spec {
		s := c.base(true)
		n := c.Layers()
		inner := int64(c.ratio(2, "mamba_expand") * float64(s.Hidden))
		heads := c.IntOr(8, "n_mamba_heads")
		mamba := SSM{Style: Mamba2, Conv: c.IntOr(4, "mamba_d_conv"), Inner: inner, State: c.IntOr(64, "mamba_d_state"), Heads: heads, Groups: max(1, c.IntOr(1, "mamba_ngroups")), BiasIn: c.Bool(false, "add_bias_linear")}
		if mamba.BiasIn {
			c.lacks("add_bias_linear", true, "is of no published Zamba2, and biases of its MLP are not described", "correct the config.json")
		}
		block := c.sharedBlock(s.Hidden)
		s.Layers = repeat(Layer{Norm: RMS, Place: Single, SSM: mamba}, n)
		used := int64(0)
		blocks := max(1, c.IntOr(1, "num_mem_blocks"))
		for i, hybrid := range c.hybridLayers(n) {
			if !hybrid {
				continue
			}
			block.Number, block.Owns = used%blocks+1, used < blocks
			s.Layers[i].Shared = block
			used++
		}
		s.NoHead = c.Class() == "Zamba2Model"
		if c.Bool(false, "use_mem_rope") {
			s.Source.Rotary = []model.Rotary{{Positions: s.Context, Dim: block.Dim}}
		} else {
			s.Source.Rotary = nil
		}
		return s
	},
}

// sharedBlock reads the sizes of a block.
func (c *Config) sharedBlock(hidden int64) SharedBlock {
	h := c.Int("num_attention_heads")
	d := c.IntOr(2*hidden/max(1, h), "attention_head_dim")
	return SharedBlock{Heads: h, KVHeads: max(1, c.IntOr(h, "num_key_value_heads")), Dim: d, Inner: c.IntOr(4*hidden, "intermediate_size"), Rank: c.IntOr(128, "adapter_rank", "lora_rank"),
		Adapts: c.Bool(false, "use_shared_attention_adapter", "use_shared_attention_lora"), Turns: c.Bool(false, "use_mem_rope")}
}

// hybridLayers marks the layers with a block: in a list of words, or in one of numbers.
func (c *Config) hybridLayers(n int) []bool {
	out := make([]bool, n)
	if types := c.Strs("layers_block_type"); len(types) >= n {
		for i := range out {
			out[i] = types[i] == "hybrid" || types[i] == "g"
		}
		return out
	}
	for _, i := range c.Ints("hybrid_layer_ids") {
		if i < int64(n) {
			out[i] = true
		}
	}
	return out
}

// SharedBlock is attention and an MLP whose weights several layers share; zero Heads means none.
type SharedBlock struct {
	Number              int64 // which of them, from 1
	Owns                bool  // the first layer to use a block holds it
	Heads, KVHeads, Dim int64
	Inner, Rank         int64
	Adapts, Turns       bool // low-rank matrices of queries, keys and values; rotary positions
}

// sharedBlock adds the block's output, through a matrix of the layer's own, to the stream that the mixer reads.
func (b *layerBuilder) sharedBlock() model.Val {
	a := &b.l.Shared
	wide := 2 * b.h
	x := b.op(model.Op{Kind: model.Concat, Out: wide}, 0, 0)
	x = b.borrowed(b.norm(RMS, dtype.SharedNorm, x, wide))
	q := b.sharedMap(x, dtype.SharedQ, dtype.SharedQA, dtype.SharedQB, heads(a.Heads*a.Dim, a.Dim), wide)
	k := b.sharedMap(x, dtype.SharedK, dtype.SharedKA, dtype.SharedKB, kvHeads(a.KVHeads*a.Dim, a.Dim), wide)
	v := b.sharedMap(x, dtype.SharedV, dtype.SharedVA, dtype.SharedVB, kvHeads(a.KVHeads*a.Dim, a.Dim), wide)
	if a.Turns {
		q, k = b.rope(q, a.Dim), b.rope(k, a.Dim)
	}
	o := b.op(model.Op{Kind: model.Attention, Out: a.Heads * a.Dim, Attn: &model.Attn{Heads: a.Heads, KVHeads: a.KVHeads, DimK: a.Dim, DimV: a.Dim}}, q, k, v)
	o = b.borrowed(b.linear(o, matrix(dtype.SharedOut, unsplit(b.h), heads(a.Heads*a.Dim, a.Dim)), false))
	f := b.borrowed(b.norm(RMS, dtype.SharedFFNNorm, o, b.h))
	up := inner(a.Inner)
	t := matrix(dtype.SharedUp, up, unsplit(b.h))
	t.Segs = append(t.Segs, up)
	gu := b.borrowed(b.linear(f, t, false))
	adapter := matrix(dtype.SharedUpB, up, unsplit(a.Rank))
	adapter.Segs = append(adapter.Segs, up)
	low := b.linear(b.linear(f, matrix(dtype.SharedUpA, unsplit(a.Rank), unsplit(b.h)), false), adapter, false)
	gu = b.add(gu, low, 2*a.Inner)
	p := b.glu(model.GELU, b.slice(gu, a.Inner, 0, a.Inner), b.slice(gu, a.Inner, a.Inner, a.Inner), 0)
	d := b.borrowed(b.linear(p, matrix(dtype.SharedDown, unsplit(b.h), up), false))
	return b.add(b.linear(d, matrix(dtype.SharedBridge, unsplit(b.h), unsplit(b.h)), false), 0, b.h)
}

// sharedMap is a matrix of the block, and the layer's own low-rank addition where it has one.
func (b *layerBuilder) sharedMap(x model.Val, role, down, up dtype.Role, rows model.Seg, from int64) model.Val {
	y := b.borrowed(b.linear(x, matrix(role, rows, unsplit(from)), false))
	if !b.l.Shared.Adapts {
		return y
	}
	low := b.linear(x, matrix(down, unsplit(b.l.Shared.Rank), unsplit(from)), false)
	low = b.linear(low, matrix(up, rows, unsplit(b.l.Shared.Rank)), false)
	return b.add(y, low, rows.Rows)
}

// blockTensor names a tensor of a shared block.
type blockTensor struct {
	block int64
	role  dtype.Role
}

// borrowed makes the last operator's weight the block's: the first layer to use the block holds it, others read it.
func (b *layerBuilder) borrowed(x model.Val) model.Val {
	o := &b.k.Ops[x-1]
	name := blockTensor{b.l.Shared.Number, o.W[0].Role}
	if b.l.Shared.Owns {
		b.blocks[name] = o.W[0]
		return x
	}
	if held := b.blocks[name]; held != nil {
		o.W[0], o.Lent = held, true
	}
	return x
}
