package learn

import (
	"fmt"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/hardware"
)

// branch is a part of a catalog as expressions see it.
type branch map[string]any

// put adds a figure if known; expressions over absent ones are unknown.
func put[T hardware.Quantity](b branch, name string, f hardware.Fact[T]) {
	if f.Known {
		b[name] = float64(f.Value)
	}
}

// device returns a row of the hardware catalog: rates in bytes, operations and joules per second, sizes in bytes, links
// in one direction.
func device(text string) (branch, error) {
	d, err := deviceOf(text)
	if err != nil {
		return nil, err
	}
	b := branch{"name": d.Name, "peaks": peaks(&d.Peaks), "levels": levels(d.ID), "vendor": d.Vendor}
	put(b, "memory", d.Memory)
	put(b, "usable", d.Usable)
	put(b, "bandwidth", d.Bandwidth)
	put(b, "l2", d.L2)
	put(b, "multiprocessors", d.SMs)
	put(b, "shared", d.SharedPerSM)
	put(b, "tdp", d.TDP)
	put(b, "link", d.Link.EachWay)
	put(b, "pcie", d.PCIe.EachWay)
	return b, nil
}

func peaks(p *hardware.Peaks) branch {
	b := branch{}
	for _, name := range []string{"fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8"} {
		put(b, name, p.At(name))
	}
	return b
}

// levels returns the memory hierarchy, with the first known row of each figure.
func levels(id string) branch {
	out := branch{}
	for _, l := range hardware.Levels(id) {
		b, _ := out[l.Level].(branch)
		if b == nil {
			b = branch{}
			out[l.Level] = b
		}
		first(b, "size", l.Size)
		first(b, "latency", l.Latency)
		first(b, "cycles", l.Cycles)
		first(b, "bandwidth", l.Bandwidth)
	}
	return out
}

func first[T hardware.Quantity](b branch, name string, f hardware.Fact[T]) {
	if b[name] == nil {
		put(b, name, f)
	}
}

// format returns a number format: bits per element including block scales, and the range of a floating-point format.
func format(name string) (branch, error) {
	f := dtype.FindFormat(name)
	if f == nil {
		return nil, fmt.Errorf("no format called %q", name)
	}
	b := branch{"name": f.Name, "bits": f.Bits(), "elements": float64(f.BlockElems), "block": float64(f.BlockBytes)}
	if x := f.Float; x != nil {
		b["exponent"], b["fraction"] = float64(x.Exponent), float64(x.Fraction)
		b["largest"], b["normal"], b["smallest"], b["epsilon"] = x.Max(), x.SmallestNormal(), x.SmallestSubnormal(), x.Epsilon()
	}
	return b, nil
}

// recipe returns a quantization of a whole model: bits per element of its main matrices.
func recipe(name string) (branch, error) {
	r := dtype.FindRecipe(name)
	if r == nil {
		return nil, fmt.Errorf("no recipe called %q", name)
	}
	return branch{"name": r.Name, "bits": r.BulkBits()}, nil
}
