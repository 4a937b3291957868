package step

import (
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// targets maps peft's names of linear layers to roles.
var targets = map[string][]dtype.Role{
	"q_proj": {dtype.AttnQ, dtype.AttnQKV}, "k_proj": {dtype.AttnK, dtype.AttnQKV}, "v_proj": {dtype.AttnV, dtype.AttnQKV}, "c_attn": {dtype.AttnQKV},
	"qkv_proj": {dtype.AttnQKV}, "o_proj": {dtype.AttnOutput}, "gate_proj": {dtype.FFNGate}, "up_proj": {dtype.FFNUp}, "down_proj": {dtype.FFNDown},
}

// adapted reports whether a linear layer has an adapter. If the target layers are not given, all layers of blocks have one, as in
// QLoRA (arXiv:2305.14314, section 4).
func (m *Model) adapted(t *model.Tensor, k *speed.Kernel) bool {
	list := m.in.Training.LoRA
	switch {
	case !m.frozen() || t.Bias || !t.Adapt || k.Op.Kind != model.Linear || k.Layer == model.InPost:
		return false
	case len(list) == 0 || slices.Contains(list, "all-linear"):
		return true
	}
	return slices.ContainsFunc(list, func(name string) bool { return slices.Contains(targets[name], t.Role) })
}

// Bytes that peft moves per element of an adapted layer in addition to the low-rank products: its input after dropout, read by the
// first matrix, and cast to FP32 and back if the adapter is kept in FP32; and the adapter's result, scaled and added (peft,
// tuners/lora/layer.py).
const (
	adapterIn, adapterInWide   = 7, 17
	adapterOut, adapterOutWide = 10, 14
	adapterKernels             = 5
)

// adapter adds the cost of adapters: their products are thin, so that only traffic and launches matter.
func (w *walker) adapter(k *speed.Kernel) {
	in, out := 0.0, 0.0
	for _, t := range k.Op.W {
		if w.m.adapted(t, k) {
			in, out = in+float64(t.Cols), out+float64(t.Rows())
		}
	}
	if in == 0 {
		return
	}
	bytes := adapterIn*in + adapterOut*out
	if w.m.mixed() {
		bytes = adapterInWide*in + adapterOutWide*out
	}
	passes := passesOf{1 + w.recipe.repeats(k), 1}.all()
	w.out.adapters += w.count * bytes * w.tokens * w.share * passes / w.memory()
	w.out.launches += w.count * adapterKernels * passes / 3
}
