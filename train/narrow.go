package train

import (
	"slices"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
)

// narrowing describes the hardware and frameworks that support a precision of 8 or 4 bits. Weights, masters and
// gradients are unaffected: torchao casts both operands per matmul and keeps inputs in 16 bits, Transformer Engine
// keeps the cast inputs.
type narrowing struct {
	since  float64 // compute capability of NVIDIA devices
	scaled bool    // block scales in hardware, which come with fp4 arithmetic (OCP MX 1.0)
	nvidia bool    // NVIDIA only
	with   []string
	source string
}

var narrowings = map[string]narrowing{
	"fp8":         {since: 8.9, source: "Transformer Engine, README, requirements; torchao/float8/README.md"},
	"fp8-rowwise": {since: 9.0, with: []string{"torchtitan"}, source: "torchao/float8/README.md; torchtitan/components/quantization/float8.py"},
	"mxfp8":       {since: 10.0, scaled: true, with: []string{"torchtitan", "megatron", "megatron-bridge", "ms-swift-megatron"}, source: "torchtitan/components/quantization/mx.py; transformer_engine/common/recipe: MXFP8BlockScaling"},
	"nvfp4":       {since: 10.0, scaled: true, nvidia: true, with: []string{"megatron", "megatron-bridge", "ms-swift-megatron"}, source: "transformer_engine/common/recipe: NVFP4BlockScaling; megatron/training/arguments.py: fp4-recipe"},
}

// checkPrecision rejects precisions that the framework or a device does not support.
func checkPrecision(j *Job) error {
	p := j.Training.Precision
	n, ok := narrowings[p]
	if !ok {
		return nil
	}
	if f := j.Framework.Name; n.with != nil && !slices.Contains(n.with, f) {
		return impossible("precision", p, "--framework "+n.with[0]+", or --precision fp8", "precision = %s: %s has no recipe for it (%s)", p, f, n.source)
	}
	if j.Machine == nil {
		return nil
	}
	for i := range j.Machine.Groups {
		if err := n.on(p, j.Machine.Name, &j.Machine.Groups[i].Device); err != nil {
			return err
		}
	}
	return nil
}

// on rejects a device without the arithmetic.
func (n *narrowing) on(precision, machine string, d *hardware.Device) error {
	c, capability := engine.Capability(d)
	lacks := func(why string, args ...any) error {
		return impossible("precision", precision, "--precision bf16-mixed, or a newer device", "precision = %s and hardware = %s: "+why, append([]any{precision, machine}, args...)...)
	}
	switch {
	case capability && c < n.since:
		return lacks("matrices multiply in it from compute capability %.1f on, and %s has %s", n.since, d.Name, d.Capability)
	case n.nvidia && d.Vendor != "NVIDIA":
		return lacks("it is a format of NVIDIA's, and %s is %s's", d.Name, d.Vendor)
	case n.scaled && !capability && !d.Peaks.At("fp4").Known:
		return lacks("%s does not multiply with scales of blocks", d.Name)
	}
	return nil
}
