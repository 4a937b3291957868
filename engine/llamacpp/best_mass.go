package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
)

// mass is the cumulative size of layers on one kind of device: mass[l] covers all layers before l. The output layer is
// the last.
type mass struct{ dense, experts, cache []int64 }

// massOf returns the sizes of layers under a plan, as a backend allocates them.
func (s *sizer) massOf(b *backend) mass {
	part, w := s.job.Model.Decoder(), &s.job.Weights.Parts[0]
	dense, experts := make([]int64, len(w.Variants)), make([]int64, len(w.Variants))
	for i := range w.Variants {
		for k := range s.tensors.variants[i] {
			t := &s.tensors.variants[i][k]
			if n := int64(b.alloc(t)); expertMatrix(t.Role) {
				experts[i] += n
			} else {
				dense[i] += n
			}
		}
	}
	caches := s.cacheOfKinds(b)
	n := len(part.Layers)
	m := mass{make([]int64, n+2), make([]int64, n+2), make([]int64, n+2)}
	for l, k := range part.Layers {
		v := w.Layers[l]
		m.dense[l+1], m.experts[l+1], m.cache[l+1] = m.dense[l]+dense[v], m.experts[l]+experts[v], m.cache[l]+caches[k]
	}
	m.dense[n+1], m.experts[n+1], m.cache[n+1] = m.dense[n]+s.headMass(b), m.experts[n], m.cache[n]
	return m
}

// headMass returns the size of the output layer.
func (s *sizer) headMass(b *backend) (n int64) {
	for i := range s.tensors.post {
		n += int64(b.alloc(&s.tensors.post[i]))
	}
	for i := range s.tensors.pre {
		if t := &s.tensors.pre[i]; s.isTied(t) {
			n += int64(b.alloc(t))
		}
	}
	return n
}

func (s *sizer) isTied(t *stored) bool {
	return t.Role.Embedding() && !t.Role.Norm() && s.job.Model.Tied && t.Rows() == s.job.Model.Vocab
}

// cacheOfKinds returns the cache of a layer of each kind at the plan's load.
func (s *sizer) cacheOfKinds(b *backend) []int64 {
	sh := s.set.shape(&s.rules, s.job.Load())
	rows := s.caches(b, host)
	out := make([]int64, len(rows))
	for k := range rows {
		for c := range rows[k] {
			sums := s.sums(nil, []heldCache{{&rows[k][c], 1}}, &sh, b.align)
			out[k] += int64(sums.full.V + sums.window.V + sums.state.V)
		}
	}
	return out
}

// layersBytes returns the size of layers first to last, excluding the experts of the first hosted ones.
func (m *mass) layersBytes(first, last, hosted int) int64 {
	return m.dense[last] - m.dense[first] + m.cache[last] - m.cache[first] + m.experts[last] - m.experts[first+hosted]
}

// read returns what a token reads of the same layers: a share of the experts.
func (m *mass) read(first, last, hosted int, share float64) float64 {
	return float64(m.dense[last]-m.dense[first]+m.cache[last]-m.cache[first]) + share*float64(m.experts[last]-m.experts[first+hosted])
}

// expertShare returns the share of routed experts that a token reads.
func expertShare(m *model.Model) float64 {
	t := &m.Traits
	if t.Experts == 0 {
		return 1
	}
	return float64(t.ExpertsUsed) / float64(t.Experts)
}

// rate returns a device's memory bandwidth; if unknown, all devices are treated alike.
func rate(j *engine.Job, i int) float64 {
	if d := usedDevice(j, i); d != nil && d.Bandwidth.Known {
		return float64(d.Bandwidth.Value)
	}
	return 1
}
