package memwall

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/unit"
)

// Changes that move bytes from the device to the host: they cost speed and no quality.

func (q *question) offloadChanges(a *Answer) (out []change) {
	if !engine.ReadsGGUF(q.engine) || q.job.Machine == nil || q.job.Machine.CPUOnly {
		return nil
	}
	p := &q.request.Plan
	if q.job.Model.Traits.Experts > 0 && (p.CPUMoE == nil || *p.CPUMoE == 0) {
		out = append(out, change{"experts on the host", map[string]any{"cpu_moe": -1}})
	}
	if n, all := q.layersThatFit(a); n > 0 && n < all {
		out = append(out, change{fmt.Sprintf("%d of %d layers on the device", n, all), map[string]any{"gpu_layers": n}})
	}
	return out
}

// layersThatFit is the most layers on the devices that fit with the band's high edge, and how many there
// are to place: the output layer counts as one.
func (q *question) layersThatFit(a *Answer) (n, all int64) {
	all = int64(len(q.job.Model.Decoder().Layers)) + 1
	if g := q.request.GPULayers; g != nil && int64(*g) >= 0 {
		all = min(all, int64(*g))
	}
	return lastThat(func(n int64) bool { return n < all && q.fitsWith(n) }, all-layersTooMany(a, all)), all
}

func (q *question) fitsWith(layers int64) bool {
	r, err := Patch(&q.original, map[string]any{"gpu_layers": layers})
	if err != nil {
		return false
	}
	a, err := q.again().Size(r)
	return err == nil && safeRoom(a) >= 0
}

// layersTooMany guesses how many layers must go: each takes an equal part of a device's weights and cache.
func layersTooMany(a *Answer, all int64) (n int64) {
	for i := range a.Devices {
		d := &a.Devices[i]
		if over, layers := d.NeededHigh-d.Usable, d.Sum("weights", "kv_cache", "state"); over > 0 && layers > 0 {
			n = max(n, unit.CeilDiv(int64(over)*all, int64(layers)))
		}
	}
	return min(n, all)
}

// lastThat is the last n from 1 on for which ok holds, 0 when there is none, sought in growing steps from a
// guess; ok must not come back once it failed.
func lastThat(ok func(int64) bool, guess int64) int64 {
	lo, hi := int64(0), max(1, guess)
	if ok(hi) {
		for step := int64(1); ; step *= 2 {
			if lo, hi = hi, hi+step; !ok(hi) {
				break
			}
		}
	} else {
		for step := int64(1); hi-step > 0; step *= 2 {
			if ok(hi - step) {
				lo = hi - step
				break
			}
			hi -= step
		}
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
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
