package arch

import (
	"fmt"

	"github.com/memwall/memwall/model/family"
	"github.com/memwall/memwall/unit"
)

var activations = map[string]family.Activation{"silu": family.SiLU, "gelu": family.GELU, "relu": family.ReLU, "relu2": family.ReLU2}

func (o *object) activation() family.Activation {
	return activations[o.word("activation", "silu", "silu", "gelu", "relu", "relu2")]
}

// ffn reads a dense feed-forward block.
func (o *object) ffn() family.MLP {
	f := family.MLP{Inner: o.need("inner"), Gated: o.flag("gated", true), Fused: o.flag("fused", false), Bias: o.flag("bias", false),
		Act: o.activation()}
	if f.Fused && !f.Gated {
		o.fail("fused", "true", "joins gate and up, and there is no gate", "gated: true")
	}
	o.close()
	return f
}

// experts reads a mixture of experts. beside reports that the layer also has a dense FFN, which runs in parallel.
func (o *object) experts(beside bool) family.MoE {
	e := family.MoE{Experts: o.need("count"), Used: o.need("used"), Inner: o.need("inner"), Gated: o.flag("gated", true),
		Bias: o.flag("bias", false), Act: o.activation(), WithFFN: beside}
	e.Shared, e.SharedGate = o.number("shared", 0), o.flag("shared_gate", false)
	e.Sigmoid = o.word("router", "softmax", "softmax", "sigmoid") == "sigmoid"
	e.ChoiceBias, e.Norm = o.flag("choice_bias", false), o.flag("normalised", true)
	e.Latent = o.number("latent", 0)
	if e.Used > e.Experts {
		o.fail("used", unit.Count(e.Used), fmt.Sprintf("is more than the %d experts", e.Experts), "as many as a token goes to")
	}
	if e.SharedGate && e.Shared == 0 {
		o.fail("shared_gate", "true", "weighs a shared expert, and there is none", "shared: and its width")
	}
	o.close()
	return e
}
