package train

import (
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
)

// away says what is offloaded from the device.
type away struct{ optimizer, params, activations bool }

func (j *Job) offload() (a away) {
	o := j.Plan.Offload
	if o == nil {
		return a
	}
	off := func(s string) bool { return s == "host" || s == "nvme" }
	// FSDP offloads states together with their parameters (torch/distributed/fsdp: CPUOffload, CPUOffloadPolicy)
	return away{off(o.Optimizer) || off(o.Params) && j.Training.ZeROStage() == 0, off(o.Params), off(o.Activations)}
}

// trainerAway reports whether training state leaves the device for the engine that generates answers on it.
func trainerAway(r *plan.Rollout) bool {
	return r != nil && on(r.Colocated) && on(r.Away)
}

// awayItem returns an offloaded item; on disk it is a swap file (ZeRO-Infinity, arXiv:2104.07857).
func awayItem(where, id, name string, n ledger.Num) ledger.Item {
	place := ledger.Host
	if where == "nvme" {
		id, name, place = "swap."+id, "swap file, "+name, ledger.Disk
	}
	return ledger.Known(id, name, n, ledger.Derived, ledger.Persistent, place, statesPage)
}

// offDevice books what a rank keeps off the device and writes to disk, including its critic.
func (s *Sizer) offDevice(b *ledger.Book, h *share) (host, disk []ledger.Item) {
	fillers := []*filler{{s: s, h: h, b: b}}
	if c := s.criticOn(b, h.pl.Stage); c != nil {
		fillers = append(fillers, c)
	}
	for _, f := range fillers {
		for _, it := range append(f.away(), f.checkpoints()...) {
			if it.Place == ledger.Disk {
				disk = append(disk, f.called(it))
			} else {
				host = append(host, f.called(it))
			}
		}
	}
	return host, disk
}

// away books what is offloaded.
func (f *filler) away() (out []ledger.Item) {
	s, off, o := f.s, f.s.j.offload(), f.s.j.Plan.Offload
	add := func(where, id, name string, n ledger.Num) {
		if n.V > 0 {
			out = append(out, awayItem(where, id, name, n))
		}
	}
	if off.optimizer {
		add(o.Optimizer, "master_weights", "fp32 copies", f.trainedBytes(master, ofStates))
		add(o.Optimizer, "optimizer", "optimizer states", f.both("state_bytes", states, 1, ofStates))
		add("host", "gradients", "gradients on their way", f.both("parameters", trained, 4, ofGrads))
	}
	if trainerAway(s.j.Training.Rollout) { // verl offloads parameters and states, slime its whole process
		whole := f.b.Add(f.both("frozen_bytes", stored, 1, ofWeights), f.trainedBytes(weight, ofWeights))
		if !off.optimizer {
			whole = f.b.Add(whole, f.b.Add(f.trainedBytes(master, ofStates), f.both("state_bytes", states, 1, ofStates)))
		}
		add("host", "waiting", "what trains, while answers are written", whole)
	}
	if off.params {
		add(o.Params, "weights", "weights", f.b.Add(f.both("frozen_bytes", stored, 1, ofWeights), f.trainedBytes(weight, ofWeights)))
	}
	if s.opt.Paged && !off.optimizer {
		add("host", "optimizer", "paged optimizer states", f.both("state_bytes", states, 1, ofStates))
	}
	if off.activations || s.j.Framework.Keep.Offloads && recomputeOf(s.j).share == 1 {
		add("host", "checkpoints", "inputs of blocks", f.b.Mul(f.tokens(), f.b.In("stream_per_token", f.h.stream, "width of the stream"), f.b.In("blocks", f.h.layers, "model")))
	}
	return out
}

// checkpoints books what this rank writes to a checkpoint: trained weights in the compute format, and the states needed
// to resume. What data-parallel ranks replicate is written once.
func (f *filler) checkpoints() []ledger.Item {
	replicas := f.s.j.Plan.DP * f.s.j.Plan.CP
	all := func(shards) int64 { return replicas }
	n := f.trainedBytes(weight, all)
	o := f.b.Add(f.trainedBytes(master, all), f.both("state_bytes", states, 1, all))
	return []ledger.Item{
		ledger.Known("checkpoints", "checkpoint of the model", n, ledger.Derived, ledger.Persistent, ledger.Disk, statesPage),
		ledger.Known("optimizer", "checkpoint of the optimizer", o, ledger.Derived, ledger.Persistent, ledger.Disk, statesPage),
	}
}

// rollout returns what a colocated inference engine takes to generate answers; zero without one.
func (f *filler) rollout() ledger.Item {
	r := f.s.j.Training.Rollout
	if r == nil || !on(r.Colocated) || f.s.j.Machine == nil || len(f.s.j.Machine.Groups) == 0 {
		return ledger.Item{}
	}
	total := f.s.j.Machine.Groups[0].Device.Usable.Value
	n := f.b.Mul(f.b.Size("device_total", total, "hardware"), f.b.In("gpu_memory_utilization", r.Share, "rollout"))
	return ledger.Known("rollout.kv_cache", "engine of the rollout", n, ledger.Derived, ledger.SemiPersistent, ledger.Device, "vllm/config/cache.py")
}
