package step

import (
	"slices"

	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// thaw is the share of a model's layers that train, and of those that a gradient goes through: all of both where none is frozen.
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

// learning is the share of a kernel's layers whose weights train.
func (t *thaw) learning(in *Input, k *speed.Kernel) float64 {
	if k.Layer >= 0 {
		return t.learns
	}
	if t.learns == 1 || savedWhole(in, k) {
		return 1
	}
	return 0
}

// reach is the share of them that a gradient goes through.
func (t *thaw) reach(k *speed.Kernel) float64 {
	if k.Layer >= 0 {
		return t.reached
	}
	return 1
}

// savedWhole: the module is trained in full beside adapters or frozen layers.
func savedWhole(in *Input, k *speed.Kernel) bool {
	name := map[model.OpKind]string{model.Head: "lm_head", model.Embed: "embed_tokens"}[k.Op.Kind]
	return name != "" && slices.Contains(in.Training.Full, name)
}
