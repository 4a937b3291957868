package vllm

import (
	"fmt"
	"math"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// What gpu_memory_utilization means where others use the device too. Until 0.9.1 their bytes count as used
// by vLLM; since 0.9.2 vLLM takes its share of the whole device and starts only when that much is free
// (vllm/v1/worker/gpu_worker.py, init_device: "Free memory on device … is less than desired").
var growthOnly = engine.V(0, 9, 2)

// Outside returns the CUDA context and, since 0.11, NCCL: what the device holds before vLLM takes its snapshot
// (gpu_worker.py, init_device). Before 0.9.2 everything held counts.
func (Engine) Outside(j *engine.Job) unit.Bytes {
	if j.Machine == nil || j.Version.Before(growthOnly) {
		return 0
	}
	c, _ := engine.BeforeLoading(j.Plan.TP*j.Plan.PP, j.Device(0))
	return unit.Bytes(c.Value * float64(unit.GiB))
}

// share fills in gpu_memory_utilization: the version's default, or less if others leave less free.
func share(j *engine.Job) {
	p := j.Plan
	if p.GPUMemoryUtilization != nil || p.KVCacheMemory != 0 {
		return
	}
	u := engine.At(utilization, j.Version).Value
	if most := freeShare(j); most < u {
		u = most
		j.Note("share_lowered", "info", "gpu_memory_utilization",
			"gpu_memory_utilization = %g: vLLM starts only when its share is free, and what others hold leaves no more", u)
	}
	p.GPUMemoryUtilization = &u
	j.Default("gpu_memory_utilization", u)
}

// freeShare returns the largest share, in hundredths, that others leave free on every device; 1 if they hold nothing.
func freeShare(j *engine.Job) float64 {
	if j.Plan.Reserved == 0 || j.Machine == nil || j.Version.Before(growthOnly) {
		return 1
	}
	least := 1.0
	for i := range j.Machine.Groups {
		if d := &j.Machine.Groups[i].Device; d.Usable.Known {
			free := d.Usable.Value - unit.Bytes(j.Plan.Reserved) - Engine{}.Outside(j)
			least = min(least, math.Floor(100*float64(free)/float64(seen(d).Value))/100)
		}
	}
	return max(0.01, least)
}

// checkShare rejects a share that is not free.
func checkShare(j *engine.Job) error {
	u := j.Plan.GPUMemoryUtilization
	if u == nil || j.Machine == nil || j.Plan.Reserved == 0 || j.Version.Before(growthOnly) || *u <= 0.01 {
		return nil
	}
	for i := range j.Machine.Groups {
		d := &j.Machine.Groups[i].Device
		total := seen(d)
		free := d.Usable.Value - unit.Bytes(j.Plan.Reserved) - Engine{}.Outside(j)
		if want := unit.Bytes(*u * float64(total.Value)); total.Known && want > free {
			return &plan.Problem{Field: "gpu_memory_utilization", Value: fmt.Sprint(*u), Impossible: true,
				Message: fmt.Sprintf("gpu_memory_utilization = %g: vLLM starts only when %s are free, and %s are", *u, want, max(0, free)),
				Fix:     fmt.Sprintf("--gpu-memory-utilization %g", freeShare(j))}
		}
	}
	return nil
}

// seen is the total that a share is of: what cudaMemGetInfo gives, which counts the system's part of a memory that both share.
func seen(d *hardware.Device) hardware.Fact[unit.Bytes] {
	if d.Unified != nil && d.Unified.Seen.Known {
		return d.Unified.Seen
	}
	return d.Usable
}

// limit sets what vLLM may use of the device.
func (s *sizer) limit(b *ledger.Book, r *engine.Rank) {
	p := s.job.Plan
	if r.Unlimited || p.GPUMemoryUtilization == nil {
		return
	}
	device := seen(s.job.Device(r.Index))
	total := b.Size("device_total", device.Value, device.Source)
	n := b.Mul(b.In("gpu_memory_utilization", *p.GPUMemoryUtilization, "plan"), total)
	if p.Reserved > 0 && s.job.Version.Before(growthOnly) {
		n = b.Max(b.Lit(0), b.Sub(n, b.Size("reserved", unit.Bytes(p.Reserved), "plan")))
	}
	r.Usable = b.Floor(n)
	r.Limit = fmt.Sprintf("%s × %s seen by torch", strconv.FormatFloat(*p.GPUMemoryUtilization, 'f', -1, 64),
		unit.Fixed(total.Bytes().GiB(), 2))
}
