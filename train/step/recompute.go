package step

import (
	"strconv"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// recompute describes how much of the forward pass is recomputed before the backward pass: all layers, every n-th layer, or some
// operators (Korthikanti et al., arXiv:2205.05198; Megatron's --recompute-modules).
type recompute struct {
	layers  float64 // fraction of layers recomputed in full
	half    bool    // torchtitan's selective mode keeps the result of every second product, and attention's
	modules []string
}

func (m *Model) recompute() (r recompute) {
	mode, list, _ := strings.Cut(m.in.Training.Recompute, ":")
	switch mode {
	case "full", "uniform":
		r.layers = 1
	case "block":
		r.layers = blockShare(m, list)
	case "every":
		if n, err := strconv.ParseFloat(list, 64); err == nil && n >= 1 {
			r.layers = 1 / n
		}
	case "selective":
		switch {
		case list != "":
			r.modules = strings.Split(list, "+")
		case m.class() == sharded:
			r.half = true
		default:
			r.modules = []string{"core_attn"}
		}
	}
	return r
}

// blockShare returns the fraction of layers that are among the first count of each virtual stage.
func blockShare(m *Model, count string) float64 {
	n, err := strconv.ParseFloat(count, 64)
	if err != nil || n < 1 {
		return 0
	}
	return min(1, n*float64(m.groups.pp*m.groups.vpp)/float64(len(m.in.Model.Decoder().Layers)))
}

// repeats returns how many times an operator's forward pass is repeated.
func (r *recompute) repeats(k *speed.Kernel) float64 {
	if r.layers > 0 {
		return r.layers
	}
	if r.half {
		return r.every(k)
	}
	for _, name := range r.modules {
		if repeats(name, k) {
			return 1
		}
	}
	return 0
}

func (r *recompute) every(k *speed.Kernel) float64 {
	switch k.Op.Kind {
	case model.Linear, model.ExpertLinear:
		return 0.5
	case model.Attention:
		return 0
	}
	return 1
}

// repeats reports whether a module of Megatron's list contains the operator.
func repeats(module string, k *speed.Kernel) bool {
	switch module {
	case "core_attn":
		return k.Op.Kind == model.Attention
	case "mlp":
		return feedForward(k)
	case "moe":
		return k.Op.Kind == model.ExpertLinear || k.Op.Kind == model.Combine
	case "moe_act":
		return k.Op.Kind == model.Glu && k.Op.Rows == model.PerChoice
	case "layernorm":
		return k.Op.Kind == model.Norm
	case "mla_up_proj":
		return k.Op.Role == dtype.AttnQB
	case "shared_experts":
		return k.Op.Role == dtype.FFNGateSh || k.Op.Role == dtype.FFNUpSh || k.Op.Role == dtype.FFNDownSh
	}
	return false
}
