package ggml

import "github.com/memwall/memwall/model"

// Spot is a backend of a plan: its devices in their order, then the host.
type Spot = int8

// Device is what the scheduler and the allocator ask of a device.
type Device struct {
	Align int64 // of tensors in its buffers, in bytes
	// Flash reports whether it has a kernel for flash attention with heads of these widths, where group
	// query heads share keys; nil for all of them.
	Flash func(dimK, dimV, group int64) bool
	// ScratchK, ScratchV: bytes per element of cached keys and values that flash attention copies behind its
	// result.
	ScratchK, ScratchV int64
	// Shared: the host reads its memory.
	Shared bool
}

// Site is where a graph runs. A nil Site is the host alone. The host is the spot behind the last device.
type Site struct {
	Devices []Device
	// Layers is the spot of each layer. Layers of one class are alike in structure, place and storage.
	Layers  []Spot
	Classes []uint16
	// CacheOnHost: what layers keep between tokens lies on the host, wherever they run.
	CacheOnHost bool
	// Copies of every input, so that devices can work on batches one behind the other.
	Copies int
	// DryRun: what a dry run counts is asked for. It forgets where nodes must run before it schedules
	// (ggml_backend_sched_reserve_size).
	DryRun bool
	// Whole: all layers and the head are on devices.
	Whole bool
	// FewInputs: a split that has maxInputs ends where one more would be copied.
	FewInputs bool
	// Offload: a device takes over an operation on at least so many rows whose tensor lies on the host; 0 for
	// never (GGML_OP_OFFLOAD_MIN_BATCH).
	Offload int64
	// KeyRow, ValueRow are the bytes of cached rows of so many elements.
	KeyRow, ValueRow func(elems int64) int64
	// Rows are the sizes on which that is decided.
	Rows Sizes
	// Home is where a tensor of a layer, or of model.InPre, model.InPost, lies.
	Home func(layer int, t *model.Tensor) Spot
	// Key tells sites of a model apart, but for Layers and Classes: where all else is equal, classes of one number
	// are alike on both. Comparable; graphs of a site without one are not kept.
	Key any
	// Bytes is what a device, or the host, allocates for a copy of it.
	Bytes func(layer int, t *model.Tensor, at Spot) int64
}

// fewTokens: in smaller batches norms are held to the device of their layer (src/llama-context.cpp,
// graph_get_cb).
const fewTokens = 32

func (s *Site) host() Spot {
	if s == nil {
		return 0
	}
	return Spot(len(s.Devices))
}

func (s *Site) spots() int { return int(s.host()) + 1 }

func (s *Site) copies() int {
	if s == nil {
		return 1
	}
	return max(1, s.Copies)
}

func (s *Site) home(layer int, t *model.Tensor) Spot {
	if s == nil {
		return 0
	}
	return s.Home(layer, t)
}

// cache is where a layer keeps what it remembers.
func (s *Site) cache(layer int) Spot {
	if s == nil || s.CacheOnHost {
		return s.host()
	}
	return s.Layers[layer]
}

// normPin is where a norm of a layer must run, one more than the spot; 0 for anywhere.
func (s *Site) normPin(layer int) Spot {
	if s == nil || layer < 0 || !s.Whole && s.Rows.Tokens >= fewTokens {
		return 0
	}
	return s.Layers[layer] + 1
}

// scoresPin is where attention without a kernel of its own must end, one more than the spot: beside a cache
// that the plan keeps on the host (src/llama-graph.cpp, build_attn_mha).
func (s *Site) scoresPin() Spot {
	if s == nil || !s.CacheOnHost {
		return 0
	}
	return s.host() + 1
}

// classes of the layers of a part.
func (s *Site) classes(p *model.Part) []uint16 {
	if s != nil {
		return s.Classes
	}
	out := make([]uint16, len(p.Layers))
	for i, k := range p.Layers {
		out[i] = uint16(k)
	}
	return out
}

// keyRow is the bytes of a row of keys, which nobody asks on the host alone.
func (s *Site) keyRow(elems int64) int64 {
	if s == nil {
		return 0
	}
	return s.KeyRow(elems)
}

func (s *Site) valueRow(elems int64) int64 {
	if s == nil {
		return 0
	}
	return s.ValueRow(elems)
}

// align of tensors at a spot.
func (s *Site) align(at Spot) int64 {
	if at == s.host() {
		return CPUAlignment
	}
	return s.Devices[at].Align
}
