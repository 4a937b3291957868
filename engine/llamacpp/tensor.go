package llamacpp

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
)

// -sm tensor: one backend over all devices, of which each holds a part of every matrix and of every layer's cache, cut between heads,
// and all of what is added or normed by (ggml/src/ggml-backend-meta.cpp, #19378).

var (
	tensorMode   = build(8738) // #19378, 2026-04-09
	tensorQuants = build(9455) // caches of blocks are cut, too (#23792)
)

// cutsTensors reports whether a plan cuts matrices, caches and graphs over its devices.
func cutsTensors(j *engine.Job) bool { return j.Plan.SplitMode == "tensor" && used(j) > 1 }

// tensorGraph is the spread of a device's compute buffer around that of the whole graph: what is multiplied is cut, what is added and
// normed is not. Assumed: no row was fitted to it.
func tensorGraph(devices int) spread { return spread{0.9 / float64(devices), 1.1} }

// ofHeads is a cache's row as one device of several has it: whole heads up to each boundary, as the shares round down.
func (s *sizer) ofHeads(c model.Cache, device int) model.Cache {
	low, high := float32(0), s.shares[device]
	if device > 0 {
		low = s.shares[device-1]
	}
	if c.Class == model.StateCache {
		part := float64(high - low)
		c.ConvElems, c.StateElems = int64(float64(c.ConvElems)*part), int64(float64(c.StateElems)*part)
		return c
	}
	heads := max(1, c.KVHeads)
	from, to := int64(float32(heads)*low), int64(float32(heads)*high)
	if device == len(s.shares)-1 {
		to = heads
	}
	c.K, c.V, c.KVHeads = c.K/heads*(to-from), c.V/heads*(to-from), to-from
	return c
}

// checkTensor refuses what -sm tensor refuses (src/llama-context.cpp, src/llama-arch.cpp).
func (e Engine) checkTensor(j *engine.Job, r *rules) error {
	p := j.Plan
	switch {
	case !cutsTensors(j):
		return nil
	case r.version.Before(tensorMode):
		return noTensor(p, "split_mode layer, or a build from b8738 on", "%s cuts no tensors", e.versionName(j))
	case r.forked:
		return noTensor(p, "split_mode layer", "ik_llama.cpp has -sm graph in its place, which is not sized")
	case latentModel(j.Model):
		return noTensor(p, "split_mode layer", "the heads of %s share one latent, which is not cut", j.Model.ID)
	case !e.flash(j, r):
		return impossible("attention", p.Attention, "attention flash, or split_mode layer",
			"attention = %s: split_mode = tensor needs flash attention", p.Attention)
	case r.version.Before(tensorQuants) && (cacheFormat(p.KV).BlockElems > 1 || cacheFormat(p.KVV).BlockElems > 1):
		return impossible("kv", p.KV, "kv f16, or a build from b9455 on",
			"kv = %s: before b9455 split_mode = tensor cuts no quantised cache", p.KV)
	}
	return nil
}

func noTensor(p *plan.Plan, fix, format string, args ...any) error {
	return impossible("split_mode", p.SplitMode, fix, "split_mode = tensor: "+format, args...)
}

func latentModel(m *model.Model) bool {
	return m.Caches(func(c model.Cache) bool { return c.Class == model.LatentKV })
}

// mirrored adds what every device has all of.
func (ld *loader) mirrored(name string, at int, t *stored) bool {
	if !ld.whole || at == host {
		return false
	}
	for i := range ld.backends {
		ld.add(name, i, false, ld.backends[i].alloc(t))
	}
	return true
}

// tensorWeights are a device's part: boundaries lie between heads and between blocks of 128 rows, which moves a few hundredths.
func (s *sizer) tensorWeights(w ledger.Item) ledger.Item {
	return w.Band(w.Bytes-w.Bytes/25, w.Bytes+w.Bytes/25)
}
