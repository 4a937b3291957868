package memwall

import (
	"strings"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Host memory counts in the verdict where the machine's is known: what the program keeps there must fit, pages of mapped weights
// too, which are read for every token and come from disk again where they do not. What device and host share is one pool.

// hostCapacity is the memory of one node's host; ok is false when nothing says.
func (q *question) hostCapacity() (ledger.Num, bool) {
	m := q.job.Machine
	if m == nil || m.CPUOnly || !m.Host.Memory.Known {
		return ledger.Num{}, false
	}
	return ledger.Num{V: float64(m.Host.Memory.Value)}, true
}

// hostRoom is what the host of one node has for ranks: its memory, or what their devices leave of a memory that they share with it.
func (q *question) hostRoom(ranks []engine.Rank) (unit.Bytes, bool) {
	if pool := unifiedPool(q.job.Machine); pool > 0 {
		return max(0, pool-q.onDevices(ranks)), true
	}
	n, ok := q.hostCapacity()
	return n.Bytes(), ok
}

// unifiedPool is the memory that the devices of one node share with their host; 0 where each has its own.
func unifiedPool(m *hardware.Machine) (n unit.Bytes) {
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

// onDevices is what the ranks of one node take of their devices.
func (q *question) onDevices(ranks []engine.Rank) (n unit.Bytes) {
	for i := range ranks {
		n += ranks[i].Needed().Bytes * unit.Bytes(min(ranks[i].Count, q.job.PerNode()))
	}
	return n
}

// hostNeeds sums what the ranks of one node keep in its host memory.
func (q *question) hostNeeds(ranks []engine.Rank) ledger.Total {
	return q.needsOn(ranks, func(p ledger.Place) bool { return p == ledger.Host || p == ledger.Pinned || p == ledger.Mapped })
}

// needsOn sums what the ranks of one node keep in places off their devices.
func (q *question) needsOn(ranks []engine.Rank, keep func(ledger.Place) bool) ledger.Total {
	var items []ledger.Item
	for i := range ranks {
		n := min(ranks[i].Count, q.job.PerNode())
		for _, it := range ranks[i].Host {
			if keep(it.Place) {
				items = append(items, many(it, n))
			}
		}
	}
	return ledger.Sum(items)
}

// notePaging says what would become of a mapped file that the host's memory does not hold beside the rest.
func (q *question) notePaging(m *Memory, ranks []engine.Rank) {
	mapped := q.needsOn(ranks, func(p ledger.Place) bool { return p == ledger.Mapped }).Bytes
	if m.Headroom < 0 && m.Needed-mapped <= m.Capacity {
		q.job.Note("host_paging", "warn", "hardware", "the host has %s and the plan wants %s there: it would start, and read pages of the mapped file from disk for every token", m.Capacity, m.Needed)
	}
}

// verdict is the worst of all ranks, of the host and of the pool beyond it.
func (q *question) verdict(ranks []engine.Rank) Verdict {
	v := worst(ranks)
	if room, ok := q.hostRoom(ranks); ok {
		v = worse(v, holding(q.hostNeeds(ranks), room))
	}
	if m := q.job.Machine; m != nil && m.Pool.Capacity.Known {
		v = worse(v, holding(q.needsOn(ranks, inPool), m.Pool.Capacity.Value))
	}
	return v
}

// holding is the verdict on needs in a memory of so many bytes.
func holding(n ledger.Total, room unit.Bytes) Verdict {
	switch {
	case n.Low > room:
		return DoesNotFit
	case n.High > room:
		return Tight
	}
	return Fits
}

func worse(a, b Verdict) Verdict {
	if severity[b] > severity[a] {
		return b
	}
	return a
}

// usualHost is the memory of a PC's host that nobody speaks of: the most common one of PCs with a card (Steam hardware survey, 2025).
// Nodes of a data centre have some twice what their devices have (DGX A100 and H100 datasheets: 2 TB and 640 GB).
const (
	usualHost      = 32 * unit.GiB
	usualHostShare = 2
)

// spareHost is what a plan that is advised may take of a host's memory: a quarter is left to the system and other programs. Where
// nobody spoke of the host, a usual one is taken.
func spareHost(m *hardware.Machine) unit.Bytes {
	switch {
	case m == nil || unifiedPool(m) > 0:
		return 0
	case m.Host.Memory.Known:
		return m.Host.Memory.Value / 4 * 3
	case len(m.Groups) > 0 && strings.HasPrefix(m.Groups[0].Device.Kind, "HBM"):
		return max(usualHost, usualHostShare*m.Memory()/unit.Bytes(max(1, m.Nodes)))
	}
	return usualHost / 4 * 3
}
