package model

// Style is how a training framework keeps values for the backward pass, with 16-bit activations.
type Style struct {
	// Frozen: the base weights do not train (LoRA).
	Frozen bool
	// FusedNorm keeps a norm's input instead of an fp32 copy of it.
	FusedNorm bool
	// Adapts says which linear layers have an adapter; nil for none. With Dropout an adapter keeps a masked
	// copy of its input and the mask.
	Adapts  func(*Tensor) bool
	Dropout bool
	// RepeatKV: keys and values are repeated to all heads before the kernel.
	RepeatKV bool
}

const half = 2 // bytes of an activation

// Saved is what one layer's forward pass keeps for its backward pass, in bytes per token, by operator
// kind. A value counts once however many operators keep it; the stream entering the layer is a checkpoint,
// which the caller counts. Rules: what PyTorch's autograd saves for each operator of a transformers block,
// checked against measured runs (docs/formulas.md#saved-activations).
func (k *Kind) Saved(s Style) map[OpKind]int64 {
	keep := keeper{k: k, out: map[OpKind]int64{}, kept: make([]bool, len(k.Ops)+1)}
	for i := range k.Ops {
		keep.op(i, &s)
	}
	return keep.out
}

// SavedBytes sums Saved.
func (k *Kind) SavedBytes(s Style) (n int64) {
	for _, b := range k.Saved(s) {
		n += b
	}
	return n
}

type keeper struct {
	k    *Kind
	out  map[OpKind]int64
	kept []bool
}

// storage follows views to the value that owns the bytes.
func (k *Kind) storage(v Val) Val {
	for v > 0 && (k.Ops[v-1].Kind == Slice || k.Ops[v-1].Kind == Gather) {
		v = k.Ops[v-1].In[0]
	}
	return v
}

// rowBytes of a value: per token, all chosen experts together.
func (k *Kind) rowBytes(v Val) int64 {
	o := &k.Ops[v-1]
	return half * o.Out * int64(o.choices())
}

func (p *keeper) keep(kind OpKind, v Val) {
	if v = p.k.storage(v); v > 0 && !p.kept[v] {
		p.kept[v] = true
		p.out[kind] += p.k.rowBytes(v)
	}
}

func (p *keeper) op(i int, s *Style) {
	o := &p.k.Ops[i]
	add := func(n int64) { p.out[o.Kind] += n }
	switch o.Kind {
	case Norm:
		switch {
		case s.FusedNorm:
			p.keep(o.Kind, o.In[0])
		default:
			add(2 * half * o.Out) // fp32 copy
			if !s.Frozen {
				add(half * o.Out) // normalised, for the weight's gradient
			}
		}
	case Linear, ExpertLinear:
		p.linear(o, s)
	case Attention:
		p.attention(i, o, s)
	case Glu, Act:
		p.keep(o.Kind, o.In[0])
		if o.Kind == Glu {
			p.keep(o.Kind, o.In[1])
			add(half * o.Out * int64(o.choices())) // activation of the gate
		}
	case Conv:
		p.keep(o.Kind, o.In[0])
		add(half * o.Out) // before the activation
	case Scan:
		p.keep(o.Kind, o.In[0])
		p.keep(o.Kind, o.In[1])
		add(2 * half * o.Scan.Heads) // dt in fp32
	case Combine:
		p.keep(o.Kind, o.In[0])
	case Route:
		add(2 * half * o.W[0].Rows())
		if !s.Frozen {
			p.keep(Linear, o.In[0])
		}
	}
}

func (p *keeper) linear(o *Op, s *Style) {
	switch {
	case !s.Frozen:
		p.keep(Linear, o.In[0])
	case s.Adapts != nil && s.Adapts(o.W[0]) && s.Dropout:
		p.out[Linear] += (half + 1) * o.W[0].Cols * int64(o.choices())
	case s.Adapts != nil && s.Adapts(o.W[0]):
		p.keep(Linear, o.In[0])
	}
}

// attention keeps queries, keys, values, its output, and a log-sum per head. MLA keeps the expanded,
// concatenated forms.
func (p *keeper) attention(i int, o *Op, s *Style) {
	a := o.Attn
	switch {
	case a.Latent != nil:
		l := a.Latent
		p.out[o.Kind] += half * a.Heads * (2*(l.Nope+l.Rope) + l.V)
		p.keep(o.Kind, o.In[2]) // the latent, input of the expansion
	case s.RepeatKV:
		p.keep(o.Kind, o.In[0])
		p.out[o.Kind] += half * a.Heads * (a.DimK + a.DimV)
	default:
		for _, v := range o.In {
			p.keep(o.Kind, v)
		}
	}
	p.keep(o.Kind, Val(i+1))
	p.out[o.Kind] += 4 * a.Heads
}

// BackwardPeak is the most that one layer's backward pass holds above what its forward pass kept, in bytes
// per token, with the layer's output and its gradient. It walks the operators in reverse with gradients as
// lifetimes; a gated activation takes two steps, its product and then its activation.
func (k *Kind) BackwardPeak(s Style) int64 {
	w := backward{k: k, s: s, grad: make([]int64, len(k.Ops)+1), first: make([]int, len(k.Ops)+1), own: make([]int64, len(k.Ops))}
	w.keepers()
	h := k.Ops[len(k.Ops)-1].Out
	w.now, w.peak = 2*half*h, 2*half*h
	w.grad[len(k.Ops)] = half * h
	for i := len(k.Ops) - 1; i >= 0; i-- {
		if k.Ops[i].Kind == Glu {
			w.gated(i)
		} else {
			w.step(i)
		}
	}
	return w.peak
}

type backward struct {
	k         *Kind
	s         Style
	grad      []int64 // live gradient of each value
	first     []int   // earliest operator that keeps a value, -1 for none: it is freed there
	own       []int64 // what an operator keeps besides values
	now, peak int64
}

func (w *backward) up(n int64) {
	w.now += n
	w.peak = max(w.peak, w.now)
}

func (w *backward) keepers() {
	for i := range w.first {
		w.first[i] = -1
	}
	for i := len(w.k.Ops) - 1; i >= 0; i-- {
		for _, v := range w.saves(i) {
			if v > 0 {
				w.first[v] = i
			}
		}
	}
}

func (w *backward) saves(i int) []Val {
	o := &w.k.Ops[i]
	switch o.Kind {
	case Linear, ExpertLinear, Route:
		if !w.s.Frozen {
			return o.In[:1]
		}
	case Glu:
		w.own[i] = w.k.rowBytes(Val(i + 1))
		return o.In[:2]
	case Attention:
		return append(o.In[:3:3], Val(i+1))
	case Norm:
		w.own[i] = 2 * half * o.Out
		if !w.s.Frozen {
			w.own[i] += half * o.Out
		}
	}
	return nil
}

func (w *backward) free(i int) {
	for v := 1; v < len(w.first); v++ {
		if w.first[v] == i {
			w.now -= w.k.rowBytes(Val(v))
		}
	}
	w.now -= w.own[i]
}

// gated: gradients of activation and value live together; then that of the gate replaces the activation's.
func (w *backward) gated(i int) {
	o := &w.k.Ops[i]
	f := w.k.rowBytes(Val(i + 1))
	w.up(2 * f)
	w.now -= w.grad[i+1] + w.own[i]
	w.grad[i+1], w.grad[o.In[1]] = 0, f
	if w.first[o.In[1]] == i {
		w.now -= f
	}
	w.up(f)
	w.grad[o.In[0]] = f
	w.now -= f
	if w.first[o.In[0]] == i {
		w.now -= f
	}
}

// step: gradients of the inputs appear, that of the result goes. Sums, slices and row drops pass their
// gradient on without storage of its own.
func (w *backward) step(i int) {
	o := &w.k.Ops[i]
	passes := o.Kind == Add || o.Kind == Gather || o.Kind == Slice || o.Kind == Scale
	for _, v := range o.In {
		if v > 0 && w.grad[v] == 0 && !passes {
			w.grad[v] = w.k.rowBytes(v)
			w.up(w.grad[v])
		}
	}
	if o.Kind != Add && o.Kind != Gather {
		w.now -= w.grad[i+1]
		w.grad[i+1] = 0
	}
	w.free(i)
}
