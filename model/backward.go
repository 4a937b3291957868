package model

// BackwardPeak returns the peak of one layer's backward pass beyond what its forward pass kept, in bytes per token,
// including the layer's output and its gradient. It walks the operators in reverse, tracking the lifetimes of
// gradients; a gated activation takes two steps, its product and then its activation.
func (k *Kind) BackwardPeak(s Style) int64 {
	if len(k.Ops) == 0 {
		return 0 // a block without attention and MLP (Nemotron Ultra) passes its gradient on
	}
	w := backward{k: k, s: s, grad: make([]int64, len(k.Ops)+1), first: make([]int, len(k.Ops)+1), own: make([]int64, len(k.Ops))}
	w.keepers()
	h := k.rowBytes(Val(len(k.Ops)), &s)
	w.now, w.peak = 2*h, 2*h
	w.grad[len(k.Ops)] = h
	var again *keeper
	if s.Again != 0 {
		again = k.keepers(&s)
	}
	for i := len(k.Ops) - 1; i >= 0; i-- {
		w.up(again.before(i))
		if k.Ops[i].Kind == Glu {
			w.gated(i)
		} else {
			w.step(i)
		}
	}
	return w.peak
}

// before returns the bytes that modules recompute before the backward pass of an operator.
func (p *keeper) before(i int) (n int64) {
	if p == nil {
		return 0
	}
	for m := range p.again {
		if p.last[m] == i {
			n += p.again[m]
		}
	}
	return n
}

type backward struct {
	k         *Kind
	s         Style
	grad      []int64 // live gradient of each value
	first     []int   // first operator that keeps a value, after whose backward pass it is freed; -1 for none
	own       []int64 // bytes that an operator keeps besides values
	now, peak int64
}

// imbalance is the load of the busiest expert relative to the mean (measured on Mixtral).
const imbalance = 1.3

// bytes returns the size of a value's gradient; if experts run one after another, that of the active one.
func (w *backward) bytes(v Val) int64 {
	n := w.k.rowBytes(v, &w.s)
	if o := &w.k.Ops[v-1]; w.s.ExpertLoop && o.Rows == PerChoice {
		n = int64(imbalance * float64(n) / float64(o.Moe.N))
	}
	return n
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
		if !w.s.FusedGlu {
			w.own[i] = w.bytes(Val(i + 1))
		}
		return o.In[:2]
	case Attention:
		return append(o.In[:3:3], Val(i+1))
	case Norm:
		input, own := o.normKeeps(&w.s, w.bytes(Val(i+1)))
		w.own[i] = own
		if input {
			return o.In[:1]
		}
	}
	return nil
}

func (w *backward) free(i int) {
	for v := 1; v < len(w.first); v++ {
		if w.first[v] == i {
			w.now -= w.bytes(Val(v))
		}
	}
	w.now -= w.own[i]
}

// gated handles a gated activation: the gradients of activation and value are live together, then the gate's replaces
// the activation's.
func (w *backward) gated(i int) {
	o := &w.k.Ops[i]
	f := w.bytes(Val(i + 1))
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

// step allocates the gradients of the inputs and frees that of the result. Sums, slices and row drops pass their
// gradient on without storage of their own.
func (w *backward) step(i int) {
	o := &w.k.Ops[i]
	passes := o.Kind == Add || o.Kind == Gather || o.Kind == Slice || o.Kind == Scale
	for _, v := range o.In {
		if v > 0 && w.grad[v] == 0 && !passes {
			w.grad[v] = w.bytes(v)
			w.up(w.grad[v])
		}
	}
	if o.Kind != Add && o.Kind != Gather {
		w.now -= w.grad[i+1]
		w.grad[i+1] = 0
	}
	w.free(i)
}
