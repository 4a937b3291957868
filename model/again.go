package model

import "github.com/memwall/memwall/dtype"

// Modules is a set of parts of a layer whose forward pass is recomputed in the backward pass independently of the rest
// (Megatron: megatron/core/transformer/transformer_config.py, recompute_modules).
type Modules uint8

// DenseMLP, ExpertLayer and SharedExperts keep their input. CoreAttention also keeps its result, as the following
// matmul does. Norms, ExpertActs and LatentUps keep nothing, since their inputs are kept for other operators
// (megatron/core/tensor_parallel/random.py: CheckpointWithoutOutput).
const (
	CoreAttention Modules = 1 << iota // attention scores and what the kernel saves of them
	DenseMLP                          // feed-forward block of a layer without experts, with its norm
	ExpertLayer                       // router, experts and shared experts
	SharedExperts
	Norms      // norms whose result feeds more than one matmul
	ExpertActs // activations of routed experts
	LatentUps  // up-projections of latent attention, with rotary embedding
)

// modules is the number of Modules plus one.
const modules = 8

func (m Modules) index() int {
	for i := 1; i < modules; i++ {
		if m == 1<<(i-1) {
			return i
		}
	}
	return 0
}

// moduleOf returns the module that recomputes an operator, 0 for none.
func (k *Kind) moduleOf(i int, again Modules) Modules {
	for _, m := range [...]Modules{ExpertLayer, SharedExperts, DenseMLP, LatentUps} {
		if again&m != 0 && k.inModule(i, m) {
			return m
		}
	}
	return 0
}

// inModule reports whether an operator belongs to module m.
func (k *Kind) inModule(i int, m Modules) bool {
	o := &k.Ops[i]
	switch m {
	case ExpertLayer:
		return o.Kind == Route || o.Kind == ExpertLinear || o.Kind == Combine || o.Rows == PerChoice || k.inModule(i, SharedExperts)
	case SharedExperts:
		return k.follows(i, o.Role == dtype.FFNGateSh || o.Role == dtype.FFNUpSh || o.Role == dtype.FFNDownSh, m)
	case DenseMLP:
		return k.follows(i, o.Role == dtype.FFNGate || o.Role == dtype.FFNUp || o.Role == dtype.FFNDown, m) || o.Kind == Norm &&
			k.reads(i, DenseMLP)
	case LatentUps:
		return k.latent() && (o.Role == dtype.AttnQANorm || o.Role == dtype.AttnKVANorm || o.Role == dtype.AttnQB || o.Role == dtype.AttnQ)
	}
	return false
}

// follows reports whether operator i belongs to the module because the matmuls that it feeds do, as an activation does.
func (k *Kind) follows(i int, named bool, m Modules) bool {
	o := &k.Ops[i]
	if (o.Kind == Glu || o.Kind == Act) && o.Rows == PerToken && o.In[0] > 0 {
		return k.inModule(int(k.storage(o.In[0]))-1, m)
	}
	return named && o.Kind == Linear
}

// reads reports whether all readers of a value are matmuls of the module.
func (k *Kind) reads(i int, m Modules) (found bool) {
	for x := range k.Ops {
		o := &k.Ops[x]
		if o.In[0] != Val(i+1) {
			continue
		}
		if o.Kind != Linear || !k.follows(x, o.Role == dtype.FFNGate || o.Role == dtype.FFNUp, m) {
			return false
		}
		found = true
	}
	return found
}

func (k *Kind) latent() bool {
	for i := range k.Ops {
		if a := k.Ops[i].Attn; a != nil && a.Latent != nil {
			return true
		}
	}
	return false
}

// discarded returns the module that recomputes a value for the operators that need it, 0 for none.
func (k *Kind) discarded(v Val, again Modules) Modules {
	if v <= 0 {
		return 0
	}
	o := &k.Ops[v-1]
	switch {
	case again&ExpertActs != 0 && (o.Kind == Glu || o.Kind == Act) && o.Rows == PerChoice:
		return ExpertActs
	case again&Norms != 0 && o.Kind == Norm && o.Unit == 0 && k.apartFrom(v):
		return Norms
	}
	return 0
}

// apartFrom reports whether a norm is a kernel of its own rather than fused with the following matmul: routers and the
// projections of latent attention read its result (megatron/core/models/gpt/gpt_layer_specs.py).
func (k *Kind) apartFrom(v Val) bool {
	for i := range k.Ops {
		if o := &k.Ops[i]; o.In[0] == v && (o.Kind == Route || o.Role == dtype.AttnQA || o.Role == dtype.AttnKVA) {
			return true
		}
	}
	return false
}

// countRerun counts what recomputed modules hold separately from what is kept: what other operators keep, and the
// inputs of modules.
func (p *keeper) countRerun() {
	again := p.s.Again
	for i := range p.k.Ops {
		p.at = i
		m := p.k.moduleOf(i, again)
		if m == 0 {
			p.op(i)
			continue
		}
		for _, v := range p.k.Ops[i].In {
			if v = p.k.storage(v); v == 0 || v > 0 && p.k.moduleOf(int(v)-1, again) != m {
				p.keep(p.k.Ops[i].Kind, v)
			}
		}
	}
	for i := range p.k.Ops {
		if m := p.k.moduleOf(i, again); m != 0 {
			p.at, p.module = i, m.index()
			p.op(i)
		}
	}
}
