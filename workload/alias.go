package workload

// alias samples weighted choices in constant time (Walker, ACM TOMS 3, 1977; tables built as by Vose, IEEE Transactions
// on Software Engineering 17, 1991).
type alias struct {
	stay  []float64 // probability of each column's own choice
	other []int32   // the alternative choice
}

func newAlias(n int, weight func(int) float64) alias {
	a := alias{make([]float64, n), make([]int32, n)}
	var sum float64
	for i := range n {
		sum += weight(i)
	}
	var small, large []int32
	for i := range n {
		a.stay[i] = float64(weight(i)/sum) * float64(n)
		if a.stay[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	a.pair(small, large)
	return a
}

// pair fills small columns from large ones. Columns left at the end are full up to rounding.
func (a *alias) pair(small, large []int32) {
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.other[s] = l
		a.stay[l] -= 1 - a.stay[s]
		if a.stay[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, i := range append(small, large...) {
		a.stay[i] = 1
	}
}

func (a *alias) draw(r *stream) int {
	x := float64(r.float() * float64(len(a.stay)))
	i := min(int(x), len(a.stay)-1)
	if x-float64(i) < a.stay[i] {
		return i
	}
	return int(a.other[i])
}
