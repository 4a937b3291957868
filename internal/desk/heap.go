package desk

import "github.com/memwall/memwall/unit"

// heapOfLong is what garbage may fill with all else for each search that runs at once: one keeps up to some 200 MB alive, and under
// a limit near that the collector would run without end. leastHeap is for hosts that have little.
const heapOfLong, leastHeap = 512 * unit.MiB, 256 * unit.MiB

// Heap is the soft limit of memory for the process of a desk, on a host with so much free; 0 is not known. It is so
// much for all turns of searches, and half of what is free at the most, so that a crowd of questions does not make the process
// large for good.
func (d *Desk) Heap(free unit.Bytes) int64 { return heap(cap(d.slow[Long]), free) }

// HeapAside is that of a process which answers one question at a time.
func HeapAside(free unit.Bytes) int64 { return heap(1, free) }

func heap(long int, free unit.Bytes) int64 {
	most := heapOfLong * unit.Bytes(long)
	if free > 0 {
		most = min(most, free/2)
	}
	return int64(max(most, leastHeap))
}
