package speed

import "github.com/memwall/memwall/model"

// Batch is one step of a rank: sequences that each decode one token, and prompts.
type Batch struct {
	// Decodes is the number of decoding sequences, Context the tokens that each has cached.
	Decodes, Context int64
	// Prefill is the number of prompt tokens computed, in Prompts sequences that each have Cached tokens already.
	// Finished is the number of prompts that complete in this step and need logits.
	Prefill, Prompts, Cached, Finished int64
}

// Points are the feature vectors at which kernels are evaluated: of decoding sequences, of prompts, and of both
// together, for kernels that do not distinguish them.
type Points struct{ Decode, Prefill, Both model.Features }

// Apart returns the features of decoding sequences and of prompts.
func (r *Rank) Apart(b Batch) (decode, prefill model.Features) {
	if b.Decodes > 0 {
		decode = model.Step{Tokens: b.Decodes, Seqs: b.Decodes, Outputs: b.Decodes, Context: b.Context}.Features(r.Spans, nil)
	}
	if b.Prefill > 0 {
		prefill = model.Step{Tokens: b.Prefill, Seqs: max(1, b.Prompts), Outputs: b.Finished, Context: b.Cached}.Features(r.Spans, nil)
	}
	return decode, prefill
}

// Points returns the features of a batch.
func (r *Rank) Points(b Batch) (p Points) {
	p.Decode, p.Prefill = r.Apart(b)
	for i := range p.Both {
		p.Both[i] = p.Decode[i] + p.Prefill[i]
	}
	p.Both[model.One] = 1
	if r.Moe != nil {
		p.Both[model.Touched] = model.TouchedExperts(r.Moe, p.Both[model.Tokens])
	}
	return p
}

// Cost returns the cost of one run of a kernel: attention and scans separately for decoding and prompts, anything else
// together.
func (k *Kernel) Cost(p *Points) (decode, prefill, both model.Cost) {
	if k.Attn != nil || k.Scan != nil {
		return k.Decode.Eval(&p.Decode), k.Prefill().Eval(&p.Prefill), model.Cost{}
	}
	return model.Cost{}, model.Cost{}, k.Decode.Eval(&p.Both)
}

// Work is what a rank reads, writes and computes in a step: bytes of weights (Experts being part of them), of caches
// and states, and FLOPs.
type Work struct{ Weights, Experts, CacheRead, CacheWrite, FLOPs float64 }

// Work returns the rank's work at the points of a batch.
func (r *Rank) Work(p *Points) (w Work) {
	for _, c := range []model.Cost{r.decode.Eval(&p.Decode), r.prefill.Eval(&p.Prefill), r.dense.Eval(&p.Both)} {
		w.Weights += c.Weights
		w.CacheRead += c.CacheRead
		w.CacheWrite += c.CacheWrite
		w.FLOPs += float64(c.FLOPs)
	}
	for i, per := range r.routed {
		w.Experts += per * p.Both[i]
	}
	return w
}
