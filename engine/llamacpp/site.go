package llamacpp

import (
	"slices"

	"github.com/memwall/memwall/engine/llamacpp/ggml"
	"github.com/memwall/memwall/model"
)

// Where the graph runs: the plan's devices and places, as the scheduler sees them.

// offloadBatch is the fewest rows for which a device copies a tensor from the host
// (GGML_OP_OFFLOAD_MIN_BATCH).
const offloadBatch = 32

// maxCopies of every input, for devices that work one behind the other (GGML_SCHED_MAX_COPIES).
const maxCopies = 4

// site of a plan with devices; nil on the host alone.
func (s *sizer) site() *ggml.Site {
	if len(s.devices) == 0 {
		return nil
	}
	t := &ggml.Site{CacheOnHost: !s.set.offloadKV, Copies: 1, Whole: s.layout.head != host && !s.layout.any(host), Home: s.home, Bytes: s.copied,
		KeyRow: func(n int64) int64 { return int64(s.k.Row(n)) }, ValueRow: func(n int64) int64 { return int64(s.v.Row(n)) }}
	for i := range s.devices {
		t.Devices = append(t.Devices, s.siteDevice(s.devices[i].backend))
	}
	for _, at := range s.layout.layer {
		t.Layers = append(t.Layers, s.spot(at))
	}
	t.Classes = s.classes()
	if s.rules.batches && on(s.job.Plan.OpOffload) {
		t.Offload = offloadBatch
	}
	t.DryRun, t.FewInputs = s.set.dry, !s.rules.crowds
	if s.pipelined() {
		t.Copies = maxCopies
	}
	return t
}

func (s *sizer) siteDevice(b *backend) ggml.Device {
	d := ggml.Device{Align: b.align, Shared: b.mapped}
	if b.narrowFA {
		d.Flash = flashHeads
	}
	if s.rules.scratch && b.narrowFA {
		if s.k.BlockElems > 1 {
			d.ScratchK = 2
		}
		if s.v.BlockElems > 1 {
			d.ScratchV = 2
		}
	}
	return d
}

// spot of a place.
func (s *sizer) spot(at int) ggml.Spot {
	if at == host {
		return ggml.Spot(len(s.devices))
	}
	return ggml.Spot(at)
}

// home is where a tensor lies.
func (s *sizer) home(layer int, t *model.Tensor) ggml.Spot {
	if o, moved := s.loader.m.place(layer, t); moved {
		return s.spot(o.place)
	}
	return s.spot(s.loader.placeOf(layer, t))
}

// backendAt a spot.
func (s *sizer) backendAt(at ggml.Spot) *backend {
	if int(at) == len(s.devices) {
		return &cpu
	}
	return s.devices[at].backend
}

// copied is what a spot allocates for a copy of a tensor.
func (s *sizer) copied(layer int, t *model.Tensor, at ggml.Spot) int64 {
	for _, list := range [...][]stored{s.storedIn(layer), s.storedIn(model.InPre)} { // which is lent to others
		for i := range list {
			if list[i].Tensor == t {
				return int64(s.backendAt(at).alloc(&list[i]))
			}
		}
	}
	return 0
}

// storedIn is the tensors of a layer, or of model.InPre, model.InPost. Equal layers share a list.
func (s *sizer) storedIn(layer int) []stored {
	switch layer {
	case model.InPre:
		return s.tensors.pre
	case model.InPost:
		return s.tensors.post
	}
	return s.tensors.variants[s.job.Weights.Parts[0].Layers[layer]]
}

// classes number the layers that are alike in structure and place, and, where devices may copy tensors from
// the host, in storage.
func (s *sizer) classes() []uint16 {
	out := make([]uint16, len(s.layout.layer))
	for l, at := range s.layout.layer {
		k := like{kind: s.job.Model.Decoder().Layers[l], at: at, moved: s.loader.movedOf(l)}
		if at == host || k.moved != "" {
			k.variant = s.job.Weights.Parts[0].Layers[l]
		}
		out[l] = s.known.class(k)
	}
	return out
}

// kindAt is the kind of a layer, or of what lies before or behind the layers.
func kindAt(p *model.Part, layer int) *model.Kind {
	switch layer {
	case model.InPre:
		return &p.Pre
	case model.InPost:
		return &p.Post
	}
	return &p.Kinds[p.Layers[layer]]
}

// movedOf says which tensors of a layer lie elsewhere, in no particular words.
func (ld *loader) movedOf(layer int) string {
	if ld.m.none() {
		return ""
	}
	var out []byte
	k := kindAt(ld.j.Model.Decoder(), layer)
	for i := range k.Ops {
		for _, t := range k.Ops[i].W {
			o, moved := ld.m.place(layer, t)
			if !moved {
				o.place = host - 1
			}
			out = append(out, byte(o.place-host+1))
		}
	}
	return string(out)
}

// pipelined: all layers on several devices, in whole layers, with their caches, and nothing moved
// (src/llama-context.cpp).
func (s *sizer) pipelined() bool {
	if len(s.devices) < 2 || s.rowSplit() || s.shares != nil {
		return false
	}
	if !s.set.offloadKV || s.layout.head == host || s.layout.any(host) || !s.loader.m.none() {
		return false
	}
	for i := range s.devices {
		if !s.devices[i].backend.async {
			return false
		}
	}
	return true
}

func (l *layout) any(at int) bool {
	return slices.Contains(l.layer, at)
}
