package sim

// queue holds waiting requests, first come first served; preempted ones go to the front
// (vllm/v1/core/sched/request_queue.py).
type queue struct {
	ring []int32
	head int
	n    int
}

func (q *queue) room() {
	if q.n < len(q.ring) {
		return
	}
	ring := make([]int32, max(16, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.at(i)
	}
	q.ring, q.head = ring, 0
}

func (q *queue) at(i int) int32 { return q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *queue) first() int32 { return q.ring[q.head] }

func (q *queue) push(x int32) {
	q.room()
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = x
	q.n++
}

func (q *queue) pushFront(x int32) {
	q.room()
	q.head = (q.head - 1) & (len(q.ring) - 1)
	q.ring[q.head] = x
	q.n++
}

func (q *queue) pop() {
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
}

// remove removes the i-th.
func (q *queue) remove(i int) {
	for ; i > 0; i-- {
		q.ring[(q.head+i)&(len(q.ring)-1)] = q.at(i - 1)
	}
	q.pop()
}

// find returns the position of a waiting request.
func (q *queue) find(x int32) int {
	for i := range q.n {
		if q.at(i) == x {
			return i
		}
	}
	return -1
}

// rise moves the last one ahead of those it precedes.
func (q *queue) rise(before func(a, b int32) bool) {
	for i := q.n - 1; i > 0 && before(q.at(i), q.at(i-1)); i-- {
		a, b := (q.head+i)&(len(q.ring)-1), (q.head+i-1)&(len(q.ring)-1)
		q.ring[a], q.ring[b] = q.ring[b], q.ring[a]
	}
}
