package snapshot

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/engine/startup"
)

// heldAs maps categories to those of the plans' ledgers.
var heldAs = []struct {
	id, name string
	of       []Category
}{
	{"parameters", "parameters", []Category{Parameters}},
	{"optimizer", "optimizer states", []Category{Optimizer}},
	{"gradients", "gradients, collectives", []Category{Gradients, Collective, Gathered}},
	{"working", "activations, temporary", []Category{Activation, Temporary, Inputs, Workspace}},
	{"kv_cache", "KV cache", []Category{KVCache}},
	{"rest", "not known what for", []Category{Older, Other}},
}

// Fullest returns the device that held most; nil if none has a recording.
func (r *Report) Fullest() (out *Device) {
	for i := range r.Devices {
		if d := &r.Devices[i]; out == nil || d.Peak.Live > out.Peak.Live {
			out = d
		}
	}
	return out
}

// Trains reports whether a recording has backward passes or optimizer steps.
func (r *Report) Trains() bool {
	for i := range r.Devices {
		for _, h := range r.Devices[i].Held {
			if h.Category == Gradients || h.Category == Optimizer {
				return true
			}
		}
		if p := r.Devices[i].Peak.Phase; p == phaseNames[inBackward] || p == phaseNames[inOptimizer] {
			return true
		}
	}
	return false
}

// Log returns the report as figures to compare with a plan. Figures at the peak name its phase.
func (r *Report) Log() *startup.Log {
	l := &startup.Log{Engine: "torch", Teller: "memory_snapshot", Servers: 1, Signs: 1}
	d := r.Fullest()
	if d == nil {
		return l
	}
	add := func(id, name string, bytes int64) {
		l.Figures = append(l.Figures, startup.Figure{ID: id, Name: name, Unit: "MiB", Text: fmt.Sprint(bytes),
			Value: float64(bytes) / (1 << 20), Digits: 2})
	}
	phase, _, _ := strings.Cut(d.HeldAt.Phase, " ")
	for _, g := range heldAs {
		sum := int64(0)
		for _, h := range d.Held {
			for _, c := range g.of {
				if h.Category == c {
					sum += h.Bytes
				}
			}
		}
		if sum > 0 {
			add("held_"+phase+"_"+g.id, g.name, sum)
		}
	}
	add("memory_allocated_peak", "allocated, peak", d.Peak.Live)
	add("memory_reserved_peak", "reserved, peak", d.PeakReserved)
	if len(r.Devices) > 1 {
		l.Note("one_device", "of %d devices the figures are those of GPU %d, which held most", len(r.Devices), d.Device)
	}
	return l
}
