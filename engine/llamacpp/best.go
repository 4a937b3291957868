package llamacpp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// The inverse of sizing: given the free memory of every device and of the host, find the placement that leaves the host
// the least to read per token and, among those, the one that the devices read fastest. --fit (fit.go) says what
// llama.cpp would choose; this is what can be chosen.
//
// best_mass.go has the size of each layer, best_search.go the search.

// Room is what a placement may use: bytes of each device, in order, and of the host, 0 for unlimited. Pages of a mapped
// file count as host memory: what does not stay there is read from disk for every token.
type Room struct {
	Devices []unit.Bytes
	Host    unit.Bytes
}

// RoomOf returns all that a plan may use of its machine.
func RoomOf(j *engine.Job) (r Room) {
	if j.Machine == nil {
		return r
	}
	for i := range used(j) {
		r.Devices = append(r.Devices, usedDevice(j, i).Usable.Value-unit.Bytes(j.Plan.Reserved))
	}
	if m := j.Machine.Host.Memory; m.Known && !j.Machine.CPUOnly {
		r.Host = m.Value
	}
	return r
}

// Placement says where a plan's layers and experts are held.
type Placement struct {
	// Patch holds the request fields of the placement: gpu_layers unless all, tensor_split, cpu_moe and override_tensor.
	Patch map[string]any
	// Layers of All are on devices, counting the output layer; Hosted of them leave their experts on the host.
	Layers, All, Hosted int
	// HostRead is what the host reads per token of one sequence, including its whole cache.
	HostRead unit.Bytes
}

// AllOnDevice reports whether the devices hold all layers with all experts.
func (p *Placement) AllOnDevice() bool { return p.Layers == p.All && p.Hosted == 0 }

// ErrNoRoom reports that no placement fits.
var ErrNoRoom = errors.New("no placement of layers leaves every device, and the host, enough room")

// Best returns the best placement of a job whose plan has only explicitly given fields; its gpu_layers, tensor_split,
// cpu_moe and override_tensor are replaced. A placement fits if it does with the high edge of every band. The error is
// ErrNoRoom, or why the plan cannot run at all.
func (e Engine) Best(j *engine.Job, room Room) (*Placement, error) {
	s, err := newSearch(e, j, room)
	if err != nil {
		return nil, err
	}
	at, ok := s.run()
	if !ok {
		return nil, ErrNoRoom
	}
	return s.placement(at), nil
}

// placement converts a placing to request fields.
func (s *search) placement(at placing) *Placement {
	p := at.plan(s)
	patch := map[string]any{}
	if n := int(*p.GPULayers); n < s.layers+nextN(s.job)+1 || s.given.GPULayers != nil {
		patch["gpu_layers"] = int64(n)
	}
	put := func(field string, value any, is, was bool) {
		if is {
			patch[field] = value
		} else if was {
			patch[field] = nil
		}
	}
	put("tensor_split", p.TensorSplit, p.TensorSplit != "", s.given.TensorSplit != "")
	put("override_tensor", p.OverrideTensor, p.OverrideTensor != "", s.given.OverrideTensor != "")
	experts := int64(0)
	if p.CPUMoE != nil {
		experts = int64(*p.CPUMoE)
	}
	put("cpu_moe", experts, p.CPUMoE != nil, s.given.CPUMoE != nil)
	put("split_mode", nil, false, s.given.SplitMode != "")
	out := &Placement{Patch: patch, All: s.layers + 1, HostRead: unit.Bytes(s.hostRead(at))}
	for _, x := range at.slices {
		out.Layers += x.last - x.first
		out.Hosted += x.hosted
	}
	return out
}

// plan returns the search's plan with a placing as command-line settings.
func (at placing) plan(s *search) plan.Plan {
	p := *s.job.Plan
	n := plan.Int(at.gpuLayers(s))
	p.GPULayers, p.TensorSplit, p.OverrideTensor, p.CPUMoE = &n, at.split(s), "", nil
	holders, hosted := 0, []string(nil)
	for _, x := range at.slices {
		if x.hosted > 0 {
			holders++
		}
		for l := x.first; l < x.first+x.hosted; l++ {
			hosted = append(hosted, strconv.Itoa(l))
		}
	}
	if first, ok := at.firstHolder(); ok && holders == 1 && first.hosted > 0 {
		n := plan.Int(first.first + first.hosted) // layers before the first on a device are on the host anyway
		p.CPUMoE = &n
	} else if holders > 0 {
		p.OverrideTensor = fmt.Sprintf(`blk\.(%s)\.%s=CPU`, strings.Join(hosted, "|"), leaving[dense])
	}
	return p
}

// firstHolder returns the first slice with layers.
func (at placing) firstHolder() (slice, bool) {
	for _, x := range at.slices {
		if x.last > x.first {
			return x, true
		}
	}
	return slice{}, false
}

// gpuLayers returns -ngl, which counts the output layer, and layers that are not loaded.
func (at placing) gpuLayers(s *search) int {
	all := s.layers + nextN(s.job) + 1
	first, ok := at.firstHolder()
	switch {
	case !ok:
		return 0
	case s.rules.headLast && first.first > 0:
		return all - 1 - first.first
	}
	return all - first.first
}

// split returns -ts: the number of layers on each device.
func (at placing) split(s *search) string {
	if len(at.slices) < 2 {
		return ""
	}
	counts, last := make([]int, len(at.slices)), -1
	for i, x := range at.slices {
		if counts[i] = x.last - x.first; counts[i] > 0 {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	counts[last] += nextN(s.job)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", ","), "[]")
}

// hostUse returns what ranks keep in host memory, at the high edge, excluding a server's caches that fill at run time
// and may be given up.
func hostUse(ranks []engine.Rank) (n unit.Bytes) {
	for i := range ranks {
		for _, it := range ranks[i].Host {
			if it.Low > 0 && it.Place != ledger.Disk {
				n += it.High
			}
		}
	}
	return n
}
