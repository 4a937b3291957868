package llamacpp

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/llamacpp/ggml"
	"github.com/memwall/memwall/model"
)

// known is what plans for one model share, so that a search among them builds equal graphs once. It is for one
// goroutine at a time.
type known struct {
	graphs  *ggml.Library
	numbers map[like]uint16
	counted int // how often numbers began anew
}

// mostClasses are numbered before numbers begin anew: a stack adds no more than it has layers.
const mostClasses = 1 << 14

// begin numbers for another stack.
func (k *known) begin() {
	if len(k.numbers) >= mostClasses {
		k.numbers, k.counted = nil, k.counted+1
	}
}

// knownKey is a model: the plans for it share what is known. libraryKey is for those of all models: a library takes
// more room for the graph at hand than for those that it keeps.
type (
	knownKey   struct{ m *model.Model }
	libraryKey struct{}
)

// knownOf a job's model: its own, or that of all jobs that share.
func knownOf(j *engine.Job) *known {
	return engine.Once(j, knownKey{j.Model}, func() *known {
		return &known{graphs: engine.Once(j, libraryKey{}, func() *ggml.Library { return &ggml.Library{} })}
	})
}

// like is a class of layers: alike in structure and place, and, where devices may copy tensors from the host, in
// storage.
type like struct {
	kind    uint8
	variant uint16
	at      int
	moved   string
}

// class numbers a class of layers, the same for every plan.
func (k *known) class(of like) uint16 {
	n, ok := k.numbers[of]
	if !ok {
		if n = uint16(len(k.numbers)); k.numbers == nil {
			k.numbers = map[like]uint16{}
		}
		k.numbers[of] = n
	}
	return n
}

// siteKey is what a site hangs on, beside its layers. The build says which rules hold.
type siteKey struct {
	weights  *model.Weights
	counted  int // which numbers its classes are of
	build    engine.Version
	k, v     *dtype.Format
	backends [maxDevices]*backend
	devices  int
	head     int
	ends     string // tensors before and behind the layers that lie elsewhere
	kind     batchKind
	copies   int
	offload  int64

	cacheOnHost, whole, dry, scratch, unfused bool
}

// siteKey tells the graph's site from others; nil where there are more devices than it has room for.
func (s *sizer) siteKey(g *graph, kind batchKind) any {
	if len(s.devices) > maxDevices {
		return nil
	}
	k := siteKey{weights: s.job.Weights, counted: s.counted, build: s.rules.version, k: s.k, v: s.v, devices: len(s.devices), head: s.layout.head, ends: s.loader.movedOf(model.InPre) + "/" + s.loader.movedOf(model.InPost), kind: kind,
		copies: g.site.Copies, offload: g.site.Offload, cacheOnHost: g.site.CacheOnHost, whole: g.site.Whole, dry: g.site.DryRun, scratch: s.rules.scratch, unfused: g.unfused}
	for i := range s.devices {
		k.backends[i] = s.devices[i].backend
	}
	return k
}
