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

// The reverse of a ledger: given what every device and the host have free, the placement that leaves the host the
// least to read for a token, and of those the one that the devices read in the shortest time. --fit (fit.go) says
// what llama.cpp would choose; this is what can be chosen.
//
// best_mass.go has what each layer takes, best_search.go the search.

// Room is what a placement may use: bytes of each device, in their order, and of the host, 0 for no bound. A file's
// mapped pages count as the host's: what does not stay there is read from disk for every token.
type Room struct {
	Devices []unit.Bytes
	Host    unit.Bytes
}

// RoomOf is all that a plan may use of its machine.
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

// Placement is where a plan's layers and experts lie.
type Placement struct {
	// Patch has the fields of a request that make it: gpu_layers unless it is all, tensor_split, cpu_moe and
	// override_tensor.
	Patch map[string]any
	// Layers are on devices, the output layer counted, of All; Hosted of them leave their experts on the host.
	Layers, All, Hosted int
	// HostRead is what the host reads for a token of one sequence, with its whole cache.
	HostRead unit.Bytes
}

// AllOnDevice reports whether the devices hold all layers with all experts.
func (p *Placement) AllOnDevice() bool { return p.Layers == p.All && p.Hosted == 0 }

// ErrNoRoom: no placement has room.
var ErrNoRoom = errors.New("no placement of layers leaves every device, and the host, enough room")

// Best is the best placement of a job whose plan has only what somebody gave: gpu_layers, tensor_split, cpu_moe and
// override_tensor of it are replaced. A fit is one with the high edge of every band. The error is ErrNoRoom, or
// why the plan runs nowhere.
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

// placement says a placing in the words of a request.
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

// plan is the search's plan with a placing in the words of the command line.
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
		n := plan.Int(first.first + first.hosted) // layers before the first on a device lie on the host anyway
		p.CPUMoE = &n
	} else if holders > 0 {
		p.OverrideTensor = fmt.Sprintf(`blk\.(%s)\.%s=CPU`, strings.Join(hosted, "|"), leaving[dense])
	}
	return p
}

// firstHolder is the first slice with layers.
func (at placing) firstHolder() (slice, bool) {
	for _, x := range at.slices {
		if x.last > x.first {
			return x, true
		}
	}
	return slice{}, false
}

// gpuLayers is -ngl: the output layer counts, and so do layers that are not loaded.
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

// split is -ts: how many layers each device takes.
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

// hostUse is what ranks keep in the host's memory, at the high edge; caches of a server that fill while it runs
// may be given up, and do not count.
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
