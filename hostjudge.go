package memwall

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
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
	var items []ledger.Item
	for i := range ranks {
		n := min(ranks[i].Count, q.job.PerNode())
		for _, it := range ranks[i].Host {
			if it.Place == ledger.Host || it.Place == ledger.Pinned {
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

// verdict is the worst of all ranks and of the host.
func (q *question) verdict(ranks []engine.Rank) Verdict {
	v := worst(ranks)
	room, ok := q.hostCapacity()
	if !ok {
		return v
	}
	h := Fits
	switch n := q.hostNeeds(ranks); {
	case n.Bytes > room.Bytes():
		h = DoesNotFit
	case n.High > room.Bytes():
		h = Tight
	}
	if severity[h] > severity[v] {
		return h
	}
	return v
}
