package search

// Front returns the indexes of the things, of n, that no other dominates: is at least as good in every respect and
// better in one. compare returns in how many respects thing i is better, and worse, than j. Of equals the first is
// kept.
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
