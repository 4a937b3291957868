package train

import (
	"github.com/memwall/memwall/ledger"
)

// away is what lies off the device.
type away struct{ optimizer, params, activations bool }

func (j *Job) offload() (a away) {
	o := j.Plan.Offload
	if o == nil {
		return a
	}
	off := func(s string) bool { return s == "host" || s == "nvme" }
	return away{off(o.Optimizer) || off(o.Params) && j.Training.Sharding == "fsdp", off(o.Params), off(o.Activations)}
}

func placeOf(s string) ledger.Place {
	if s == "nvme" {
		return ledger.Disk
	}
	return ledger.Host
}

// host books what a rank keeps off the device.
func (s *Sizer) host(b *ledger.Book, h *share) (out []ledger.Item) {
	f := &filler{s: s, h: h, b: b}
	off := s.j.offload()
	add := func(id, name string, n ledger.Num, place ledger.Place) {
		if n.V > 0 {
			out = append(out, ledger.Known(id, name, n, ledger.Derived, ledger.Persistent, place, statesPage))
		}
	}
	if off.optimizer {
		place := placeOf(s.j.Plan.Offload.Optimizer)
		add("master_weights", "fp32 copies", f.held(master, ofStates), place)
		add("optimizer", "states of the optimizer", f.both("state_bytes", states, 1, ofStates), place)
		add("gradients", "gradients on their way", f.both("parameters", trained, 4, ofGrads), ledger.Host)
	}
	if off.params {
		place := placeOf(s.j.Plan.Offload.Params)
		add("weights", "weights", b.Add(f.both("frozen_bytes", stored, 1, ofWeights), f.held(weight, ofWeights)), place)
	}
	if s.opt.Paged && !off.optimizer {
		add("optimizer", "paged states of the optimizer", f.both("state_bytes", states, 1, ofStates), ledger.Host)
	}
	if off.activations || s.j.Framework.Keep.Offloads && s.j.recompute().share == 1 {
		n := b.Mul(f.tokens(), b.In("stream_per_token", h.stream, "width of the stream"), b.In("blocks", h.layers, "model"))
		add("checkpoints", "inputs of blocks", n, ledger.Host)
	}
	return out
}

// disk books what this rank writes at a checkpoint: what trains, in the format that it is computed in, and with it the
// states to go on from.
func (s *Sizer) disk(b *ledger.Book, h *share) []ledger.Item {
	f := &filler{s: s, h: h, b: b}
	replicas := s.j.Plan.DP * s.j.Plan.CP
	all := func(shards) int64 { return replicas }
	n := f.held(weight, all)
	o := b.Add(f.held(master, all), f.both("state_bytes", states, 1, all))
	return []ledger.Item{
		ledger.Known("checkpoints", "checkpoint of the model", n, ledger.Derived, ledger.Persistent, ledger.Disk, statesPage),
		ledger.Known("optimizer", "checkpoint of the optimizer", o, ledger.Derived, ledger.Persistent, ledger.Disk, statesPage),
	}
}

// rollout is what an engine on the same devices takes to write answers; zero without one.
func (f *filler) rollout() ledger.Item {
	r := f.s.j.Training.Rollout
	if r == nil || !on(r.Colocated) || f.s.j.Machine == nil || len(f.s.j.Machine.Groups) == 0 {
		return ledger.Item{}
	}
	total := f.s.j.Machine.Groups[0].Device.Usable.Value
	n := f.b.Mul(f.b.Size("device_total", total, "hardware"), f.b.In("gpu_memory_utilization", r.Share, "rollout"))
	return ledger.Known("rollout.kv_cache", "engine of the rollout", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, "vllm/config/cache.py")
}
