package memwall

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Host memory counts in the verdict where the machine's is known: what the program keeps there must fit.
// Pages of a mapped file need not, because the system takes them back.

// hostCapacity is the memory of one node's host; ok is false when nothing says.
func (q *question) hostCapacity() (ledger.Num, bool) {
	m := q.job.Machine
	if m == nil || m.CPUOnly || !m.Host.Memory.Known {
		return ledger.Num{}, false
	}
	return ledger.Num{V: float64(m.Host.Memory.Value)}, true
}

// hostNeeds sums what the ranks of one node keep in its host memory, without pages of mapped files.
func (q *question) hostNeeds(ranks []engine.Rank) ledger.Total {
	return q.needsOn(ranks, func(p ledger.Place) bool { return p == ledger.Host || p == ledger.Pinned })
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

// notePaging warns of a mapped file that the host's memory does not hold beside the rest: it runs, from disk.
func (q *question) notePaging(m *Memory) {
	if m.Headroom >= 0 && m.Needed > m.Capacity {
		q.job.Note("host_paging", "warn", "hardware", "the host has %s and the plan wants %s there: pages of the mapped file are read from disk again and again, and the speeds are of a host that holds them", m.Capacity, m.Needed)
	}
}

// verdict is the worst of all ranks, of the host and of the pool beyond it.
func (q *question) verdict(ranks []engine.Rank) Verdict {
	v := worst(ranks)
	if room, ok := q.hostCapacity(); ok {
		v = worse(v, holding(q.hostNeeds(ranks), room.Bytes()))
	}
	if m := q.job.Machine; m != nil && m.Pool.Capacity.Known {
		v = worse(v, holding(q.needsOn(ranks, inPool), m.Pool.Capacity.Value))
	}
	return v
}

// holding is the verdict on needs in a memory of so many bytes.
func holding(n ledger.Total, room unit.Bytes) Verdict {
	switch {
	case n.Bytes > room:
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
