package memwall

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// Changes that move bytes from the device to the host: they cost speed and no quality.

func (q *question) offloadChanges() (out []change) {
	if !engine.ReadsGGUF(q.engine) || q.job.Machine == nil || q.job.Machine.CPUOnly {
		return nil
	}
	p := &q.request.Plan
	if q.job.Model.Traits.Experts > 0 && (p.CPUMoE == nil || *p.CPUMoE == 0) {
		out = append(out, change{"experts on the host", map[string]any{"cpu_moe": -1}})
	}
	if n, all := q.layersThatFit(); n > 0 && n < all {
		out = append(out, change{fmt.Sprintf("%d of %d layers on the device", n, all), map[string]any{"gpu_layers": n}})
	}
	return out
}

// layersThatFit is the most layers on the devices that fit with the band's high edge, and how many there
// are to place: the output layer counts as one.
func (q *question) layersThatFit() (n, all int64) {
	all = int64(len(q.job.Model.Decoder().Layers)) + 1
	if g := q.request.GPULayers; g != nil && int64(*g) >= 0 {
		all = min(all, int64(*g))
	}
	n, _ = most(all, func(n int64) unit.Bytes {
		r, err := Patch(&q.original, map[string]any{"gpu_layers": n})
		if err != nil {
			return -1
		}
		a, err := q.again().Size(r)
		if err != nil {
			return -1
		}
		return safeRoom(a)
	})
	return n, all
}

// safeRoom is what the high edge of the band leaves, where that is least.
func safeRoom(a *Answer) unit.Bytes {
	least := unit.Bytes(math.MaxInt64)
	for i := range a.Devices {
		least = min(least, a.Devices[i].Usable-a.Devices[i].NeededHigh)
	}
	if a.Host != nil && a.Host.Capacity > 0 {
		least = min(least, a.Host.Headroom)
	}
	return least
}
