package desk

import "github.com/memwall/memwall/unit"

// heapOfLong is the memory limit per concurrent search: one keeps up to some 200 MB alive, and with a limit close to
// that the garbage collector would run constantly. leastHeap is the minimum, for small hosts.
const heapOfLong, leastHeap = 512 * unit.MiB, 256 * unit.MiB

// Heap returns the soft memory limit for a desk's process on a host with the given free memory, 0 if unknown: the
// limits of all concurrent searches, but at most half of what is free, so that a burst of questions does not enlarge
// the process permanently.
func (d *Desk) Heap(free unit.Bytes) int64 { return heap(cap(d.slow[Long]), free) }

// HeapAside returns the limit for a process that answers one question at a time.
func HeapAside(free unit.Bytes) int64 { return heap(1, free) }

func heap(long int, free unit.Bytes) int64 {
	most := heapOfLong * unit.Bytes(long)
	if free > 0 {
		most = min(most, free/2)
	}
	return int64(max(most, leastHeap))
}
