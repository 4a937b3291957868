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

// Host memory counts in the verdict where the machine's is known: what the program keeps there must fit, pages of mapped weights
// too, which are read for every token and come from disk again where they do not. What device and host share is one pool.

// HostCapacity is the memory of one node's host; ok is false when nothing says.
func HostCapacity(m *hardware.Machine) (ledger.Num, bool) {
	if m == nil || m.CPUOnly || !m.Host.Memory.Known {
		return ledger.Num{}, false
	}
	return ledger.Num{V: float64(m.Host.Memory.Value)}, true
}

// hostRoom is what the host of one node has for ranks: its memory, or what their devices leave of a memory that they share with it.
func hostRoom(j *engine.Job, ranks []engine.Rank) (unit.Bytes, bool) {
	if pool := UnifiedPool(j.Machine); pool > 0 {
		return max(0, pool-onDevices(j, ranks)), true
	}
	n, ok := HostCapacity(j.Machine)
	return n.Bytes(), ok
}

// UnifiedPool is the memory that the devices of one node share with their host; 0 where each has its own.
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

// systemShare is what the system and its screens take of a memory that devices share with the host: a sixteenth, and two GiB at
// least (assumed; Activity Monitor of a Mac without programs shows some 3 GB wired and compressed). Beyond it a plan is tight.
func systemShare(m *hardware.Machine) unit.Bytes {
	pool := UnifiedPool(m)
	if pool == 0 {
		return 0
	}
	return max(2*unit.GiB, pool/16)
}

// onDevices is what the ranks of one node take of their devices: of ranks that differ, those that take most.
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

// HostNeeds sums what the ranks of one node keep in its host memory.
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

// notePaging says what would become of a mapped file that the host's memory does not hold beside the rest.
func notePaging(j *engine.Job, m *api.Memory, ranks []engine.Rank) {
	mapped := needsOn(j, ranks, func(p ledger.Place) bool { return p == ledger.Mapped }).Bytes
	if m.Headroom < 0 && m.Needed-mapped <= m.Capacity {
		j.Note("host_paging", "warn", "hardware", "the host has %s and the plan wants %s there: it would start, and read pages of the "+
			"mapped file from disk for every token", m.Capacity, m.Needed)
	}
}

// UsualHost is the memory of a PC's host that nobody speaks of: the most common one of PCs with a card (Steam hardware survey, 2025).
// Nodes of a data centre have some twice what their devices have (DGX A100 and H100 datasheets: 2 TB and 640 GB).
const (
	UsualHost      = 32 * unit.GiB
	usualHostShare = 2
)

// Spare is what a plan that is advised may take of so much memory of a host: a quarter is left to the system and other programs,
// which do not grow with it beyond eight GiB.
func Spare(host unit.Bytes) unit.Bytes { return max(host/4*3, host-8*unit.GiB) }

// SpareHost is what a plan that is advised may take of a machine's host. Where nobody spoke of the host, a usual one is taken.
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
