package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Shares says who computes what: matrices are multiplied where they lie (the scheduler follows the weights,
// ggml/src/ggml-backend.cpp, ggml_backend_sched_backend_id_from_cur), attention where the cache lies.
func (s *sizer) Shares() []engine.Share {
	by := make([]engine.Share, len(s.devices)+1) // the host last
	for i := range s.devices {
		by[i] = engine.Share{Device: i, Backend: backendNames[s.devices[i].backend.name]}
	}
	by[len(by)-1] = engine.Share{Device: engine.Host, Backend: "cpu"}
	at := func(place int) *engine.Share {
		if place == host {
			return &by[len(by)-1]
		}
		return &by[place]
	}
	s.shareLayers(at)
	at(s.layout.head).Head = 1
	return working(by)
}

// Flash reports whether attention is fused: as asked, else by the default of the build and by what the devices take.
func (s *sizer) Flash() bool { return s.set.flash }

var backendNames = map[string]string{"CUDA": "cuda", "ROCm": "rocm", "MUSA": "musa", "SYCL": "sycl", "Vulkan": "vulkan", "CANN": "cann", "MTL": "metal", "CPU": "cpu"}

// shareLayers adds the matrices of each layer to where they lie, and its cache.
func (s *sizer) shareLayers(at func(place int) *engine.Share) {
	w := &s.job.Weights.Parts[0]
	kinds := s.tensors.variants
	sums := make([][2]unit.Bytes, len(w.Variants))
	for v := range w.Variants {
		for i := range kinds[v] {
			sums[v][expertIndex(&kinds[v][i])] += kinds[v][i].bytes
		}
	}
	for l, place := range s.layout.layer {
		v := w.Layers[l]
		cache := place
		if !s.set.offloadKV {
			cache = host
		}
		at(cache).Cache++
		if s.loader.m.none() && s.loader.rows == nil {
			at(place).Dense += float64(sums[v][0])
			at(place).Experts += float64(sums[v][1])
			continue
		}
		for i := range kinds[v] {
			s.shareTensor(at, l, place, &kinds[v][i])
		}
	}
}

func (s *sizer) shareTensor(at func(place int) *engine.Share, layer, place int, t *stored) {
	add := func(to int, n float64) {
		if expertIndex(t) == 1 {
			at(to).Experts += n
		} else {
			at(to).Dense += n
		}
	}
	if o, moved := s.loader.m.place(layer, t.Tensor); moved {
		add(o.place, float64(t.bytes))
		return
	}
	if !s.loader.cut(place, t) {
		add(place, float64(t.bytes))
		return
	}
	low := float32(0)
	for i, high := range s.loader.rows {
		add(i, float64(high-low)*float64(t.bytes))
		low = high
	}
}

func expertIndex(t *stored) int {
	if t.BatchBy == model.ByExpert {
		return 1
	}
	return 0
}

// working turns sums into fractions, and leaves out who computes nothing.
func working(by []engine.Share) (out []engine.Share) {
	var sum engine.Share
	for _, x := range by {
		sum.Dense, sum.Experts, sum.Cache = sum.Dense+x.Dense, sum.Experts+x.Experts, sum.Cache+x.Cache
	}
	for _, x := range by {
		for _, f := range []struct {
			v   *float64
			all float64
		}{{&x.Dense, sum.Dense}, {&x.Experts, sum.Experts}, {&x.Cache, sum.Cache}} {
			if f.all > 0 {
				*f.v /= f.all
			}
		}
		if x.Dense+x.Experts+x.Head+x.Cache > 0 {
			out = append(out, x)
		}
	}
	return out
}
