package engine

import (
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
)

// The forward pass of engines that run operator by operator: what is alive between two operators of a
// layer, for every token of the step. Layers run one after another, so that only the widest one counts.

// Streams is the number of copies of the residual stream held by the callers while a layer runs: the layer's input and
// its normalized form. The rule then yields 3 × inner + 3 × hidden for a gated FFN, which is what vLLM V0 allocated for
// Llama-3.1-8B with 20,000 and 29,000 tokens (2.07 and 2.99 GiB).
const Streams = 2

// Widest returns the maximum number of elements per token live at once inside a layer. choices is the fraction of
// routed choices computed at a time: 1 for kernels that process all experts together.
func Widest(k *model.Kind, hidden int64, choices float64) (most float64) {
	last := lastUse(k)
	alive := 0.0
	if last[0] >= 0 {
		alive = width(k, 0, hidden, choices)
	}
	for i := range k.Ops {
		v := model.Val(i + 1)
		alive += width(k, v, hidden, choices)
		most = max(most, alive)
		for u := model.Val(0); u <= v; u++ {
			if last[u] == i {
				alive -= width(k, u, hidden, choices)
			}
		}
	}
	return most
}

// lastUse returns, for each value, the index of the last operator that reads it. A value without readers dies where it
// is made; the layer's result outlives the layer. A slice keeps its source alive.
func lastUse(k *model.Kind) []int {
	last := make([]int, len(k.Ops)+1)
	for v := range last {
		last[v] = v - 1
	}
	for i := range k.Ops {
		for _, v := range k.Ops[i].In {
			for ; v > 0; v = k.Ops[v-1].In[0] {
				last[v] = i
				if k.Ops[v-1].Kind != model.Slice {
					break
				}
			}
			if v == 0 {
				last[0] = i
			}
		}
	}
	last[k.Out] = len(k.Ops)
	return last
}

// width returns a value's elements per token. Slices have no storage of their own.
func width(k *model.Kind, v model.Val, hidden int64, choices float64) float64 {
	if v == 0 {
		return float64(hidden)
	}
	o := &k.Ops[v-1]
	switch {
	case o.Kind == model.Slice:
		return 0
	case o.Rows == model.PerChoice && o.Moe != nil:
		return float64(o.Out) * float64(o.Moe.Used) * choices
	}
	return float64(o.Out)
}

// Forward describes the widest of a rank's layers.
type Forward struct {
	Elements float64 // per token, including the callers' streams
	Layer    string
	Hidden   int64
}

// ForwardOf returns the widest layer.
func ForwardOf(kinds []KindCount, hidden int64, choices float64) (f Forward) {
	f.Hidden = hidden
	for i := range kinds {
		if w := Widest(kinds[i].Kind, hidden, choices) + Streams*float64(hidden); w > f.Elements {
			f.Elements, f.Layer = w, kinds[i].Kind.Name
		}
	}
	return f
}

// Peak returns the activation peak of a forward pass over tokens, with the given bytes per element.
func (f *Forward) Peak(b *ledger.Book, tokens ledger.Num, bytes int64) ledger.Num {
	return b.Mul(tokens, b.In("elements_alive", f.Elements, "widest point of layer "+f.Layer+", this rank"),
		b.Int("bytes", bytes, "activations"))
}
