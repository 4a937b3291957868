package search

// Front gives the indices of those of n things that no other beats: none is at least as good in everything and
// better in something. better says in how many ways a thing is better than another, and in how many worse. Of things
// that are alike in everything the first stays.
func Front(n int, compare func(i, j int) (better, worse int)) (front []int) {
	for i := range n {
		if !beaten(i, n, compare) {
			front = append(front, i)
		}
	}
	return front
}

func beaten(i, n int, compare func(i, j int) (better, worse int)) bool {
	for j := range n {
		if j == i {
			continue
		}
		better, worse := compare(j, i)
		if worse == 0 && (better > 0 || j < i) {
			return true
		}
	}
	return false
}
