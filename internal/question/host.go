package question

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Host memory enters the verdict if the machine's is known: what the program keeps there must fit, including pages of
// mapped weights, which are read for every token and otherwise come from disk each time. Memory shared by device and
// host is one pool.

// HostCapacity returns the memory of one node's host; ok is false if unknown.
func HostCapacity(m *hardware.Machine) (ledger.Num, bool) {
	if m == nil || m.CPUOnly || !m.Host.Memory.Known {
		return ledger.Num{}, false
	}
	return ledger.Num{V: float64(m.Host.Memory.Value)}, true
}

// hostRoom returns the host memory of one node available to ranks: its capacity, or what their devices leave of shared
// memory.
func hostRoom(j *engine.Job, ranks []engine.Rank) (unit.Bytes, bool) {
	if pool := UnifiedPool(j.Machine); pool > 0 {
		return max(0, pool-onDevices(j, ranks)), true
	}
	n, ok := HostCapacity(j.Machine)
	return n.Bytes(), ok
}

// UnifiedPool returns the memory that the devices of one node share with their host; 0 if separate.
func UnifiedPool(m *hardware.Machine) (n unit.Bytes) {
	if m == nil || m.CPUOnly {
		return 0
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		if g.Device.Unified == nil {
			return 0
		}
		n += g.Device.Memory.Value * unit.Bytes(g.Count)
	}
	return n / unit.Bytes(max(1, m.Nodes))
}

// systemShare returns what the operating system takes of shared memory: a sixteenth, at least two GiB (assumed;
// Activity Monitor on an idle Mac shows some 3 GB wired and compressed). A plan that needs part of it is tight.
func systemShare(m *hardware.Machine) unit.Bytes {
	pool := UnifiedPool(m)
	if pool == 0 {
		return 0
	}
	return max(2*unit.GiB, pool/16)
}

// onDevices returns what the ranks of one node take of their devices; if ranks differ, those that take most.
func onDevices(j *engine.Job, ranks []engine.Rank) (n unit.Bytes) {
	left := j.PerNode()
	most := slices.SortedFunc(slices.Values(ranks), func(a, b engine.Rank) int {
		return cmp.Compare(b.Needed().Bytes, a.Needed().Bytes)
	})
	for i := range most {
		count := min(most[i].Count, left)
		n, left = n+most[i].Needed().Bytes*unit.Bytes(count), left-count
	}
	return n
}

// HostNeeds sums what the ranks of one node keep in host memory.
func HostNeeds(j *engine.Job, ranks []engine.Rank) ledger.Total {
	return needsOn(j, ranks, func(p ledger.Place) bool { return p == ledger.Host || p == ledger.Pinned || p == ledger.Mapped })
}

// needsOn sums what the ranks of one node keep in places off their devices.
func needsOn(j *engine.Job, ranks []engine.Rank, keep func(ledger.Place) bool) ledger.Total {
	var items []ledger.Item
	for i := range ranks {
		n := min(ranks[i].Count, j.PerNode())
		for _, it := range ranks[i].Host {
			if keep(it.Place) {
				items = append(items, scaledItem(it, n))
			}
		}
	}
	return ledger.Sum(items)
}

// notePaging notes the effect of a mapped file that does not fit in host memory along with the rest.
func notePaging(j *engine.Job, m *api.Memory, ranks []engine.Rank) {
	mapped := needsOn(j, ranks, func(p ledger.Place) bool { return p == ledger.Mapped }).Bytes
	if m.Headroom < 0 && m.Needed-mapped <= m.Capacity {
		j.Note("host_paging", "warn", "hardware", "the host has %s and the plan wants %s there: it would start, and read pages of the "+
			"mapped file from disk for every token", m.Capacity, m.Needed)
	}
}

// UsualHost is the most common host memory of PCs with a graphics card (Steam hardware survey, 2025), assumed if not
// stated. Data center nodes have about twice their devices' memory (DGX A100 and H100 datasheets: 2 TB and 640 GB).
const (
	UsualHost      = 32 * unit.GiB
	usualHostShare = 2
)

// Spare returns how much of a host's memory a suggested plan may use: a quarter, but at most eight GiB, is left to the
// system and other programs.
func Spare(host unit.Bytes) unit.Bytes { return max(host/4*3, host-8*unit.GiB) }

// SpareHost returns how much of a machine's host memory a suggested plan may use, assuming a usual host if none is
// stated.
func SpareHost(m *hardware.Machine) unit.Bytes {
	switch {
	case m == nil || UnifiedPool(m) > 0:
		return 0
	case m.Host.Memory.Known:
		return Spare(m.Host.Memory.Value)
	case len(m.Groups) > 0 && strings.HasPrefix(m.Groups[0].Device.Kind, "HBM"):
		return max(UsualHost, usualHostShare*m.Memory()/unit.Bytes(max(1, m.Nodes)))
	}
	return Spare(UsualHost)
}
