package sim

// heap is a priority queue ordered by before.
type heap[T interface{ before(T) bool }] []T

func (h *heap[T]) push(x T) {
	*h = append(*h, x)
	q := *h
	i := len(q) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !x.before(q[up]) {
			break
		}
		q[i] = q[up]
		i = up
	}
	q[i] = x
}

func (h *heap[T]) pop() T {
	q := *h
	top, x := q[0], q[len(q)-1]
	var zero T
	q[len(q)-1] = zero
	q = q[:len(q)-1]
	*h = q
	if len(q) > 0 {
		q.sink(x)
	}
	return top
}

// sink replaces the first element by x.
func (q heap[T]) sink(x T) {
	i := 0
	for {
		down := 2*i + 1
		if down >= len(q) {
			break
		}
		if down+1 < len(q) && q[down+1].before(q[down]) {
			down++
		}
		if !q[down].before(x) {
			break
		}
		q[i] = q[down]
		i = down
	}
	q[i] = x
}
