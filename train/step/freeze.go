package step

import (
	"slices"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// thaw holds the fraction of a model's layers that train, and the fraction that a gradient passes through; both are 1 if none is
// frozen.
type thaw struct{ learns, reached float64 }

func thawed(in *Input) thaw {
	trained, ok := in.Training.Layers(int64(len(in.Model.Decoder().Layers)))
	if !ok || trained == nil {
		return thaw{1, 1}
	}
	n, lowest := 0, slices.Index(trained, true)
	for _, yes := range trained {
		if yes {
			n++
		}
	}
	if slices.Contains(in.Training.Full, "embed_tokens") {
		lowest = 0
	}
	all := float64(len(trained))
	return thaw{float64(n) / all, (all - float64(lowest)) / all}
}

// learning returns the fraction of a kernel's layers whose weights train.
func (t *thaw) learning(in *Input, k *speed.Kernel) float64 {
	if k.Layer >= 0 {
		return t.learns
	}
	if t.learns == 1 || savedWhole(in, k) {
		return 1
	}
	return 0
}

// reach returns the fraction of them that a gradient passes through.
func (t *thaw) reach(k *speed.Kernel) float64 {
	if k.Layer >= 0 {
		return t.reached
	}
	return 1
}

// savedWhole reports whether the module is fully trained next to adapters or frozen layers.
func savedWhole(in *Input, k *speed.Kernel) bool {
	name := map[model.OpKind]string{model.Head: "lm_head", model.Embed: "embed_tokens"}[k.Op.Kind]
	return name != "" && slices.Contains(in.Training.Full, name)
}
