package family

import "github.com/memwall/memwall/dtype"

// PartGenes is the name of the part that reads genes.
const PartGenes = "genes"

// genes is the encoder of genes of Scicore-Omics (the published classes NicheformerModel, GeneQFormerBiomedBERT and
// GeneProjector): a post-norm transformer, queries that attend to its output in four layers, two linear maps. The class
// keeps, beside the layers, the one that they were copied from.
func (c *Config) genes(hidden int64) *Tower {
	const extra, queries, width, depth = 5, 32, 768, 4
	g := c.part("gene_config")
	w, inner := g.Int("dim_model"), g.Int("dim_feedforward")
	l := Layer{Norm: LayerNormBias, Place: AfterSum, Attn: seeing(w, g.Int("nheads")).bias(true, true, true), FFN: MLP{Inner: inner, Bias: true, Act: ReLU}}
	l.Attn.Fused = true
	t := &Tower{Name: PartGenes, Width: w, Layers: repeat(l, 1+g.stack(12, "nlayers")),
		Before: []Weight{table(dtype.TokenEmbd, g.Int("n_tokens")+extra, w)}, Tokens: queries}
	if g.Bool(true, "learnable_pe") {
		t.Before = append(t.Before, table(dtype.PositionEmbd, g.Int("context_length"), w))
	}
	t.After = append([]Weight{norms(dtype.ProjectorNorm, LayerNormBias, w), mapping(dtype.ProjectorKV, w, width, true), {Role: dtype.ProjectorQuery, Use: MixesIn, In: queries, Out: width}}, asks(width, depth)...)
	return t.then(norms(dtype.ProjectorPost, LayerNormBias, width), norms(dtype.ProjectorKNorm, LayerNormBias, width), mapping(dtype.ProjectorIn, width, hidden, true),
		mapping(dtype.ProjectorOut, hidden, hidden, true), norms(dtype.LatentLast, LayerNormBias, hidden))
}

func (t *Tower) then(w ...Weight) *Tower {
	t.After = append(t.After, w...)
	return t
}

// asks are layers of queries that attend to themselves, then to an encoder's output (Q-Former, arXiv:2301.12597).
func asks(w int64, depth int) (out []Weight) {
	for range depth {
		out = append(out, norms(dtype.AttnNorm, LayerNormBias, w), mapping(dtype.AttnQKV, w, 3*w, true), mapping(dtype.AttnOutput, w, w, true),
			norms(dtype.CrossNorm, LayerNormBias, w), mapping(dtype.LatentQ, w, 3*w, true), mapping(dtype.LatentOut, w, w, true),
			norms(dtype.LatentFFNNorm, LayerNormBias, w), mapping(dtype.LatentUp, w, 4*w, true), mapping(dtype.LatentDown, 4*w, w, true))
	}
	return out
}
