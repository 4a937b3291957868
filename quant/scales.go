package quant

// The search for scales that minimize a weighted squared error. Given codes, the optimal scale and minimum follow from
// least squares; given a scale, the codes follow by rounding. The search rounds with several scales near that of the
// largest element, improves each by least squares, and keeps the best.

// sums are what least squares needs of codes q and elements x with weights w.
type sums struct{ w, q, qq, x, qx float32 }

// scale and minimum that fit codes best, d·q − m with m of at least 0, and how much of Σwx² they explain.
func (s *sums) fit() (d, m, explained float32) {
	if det := s.w*s.qq - s.q*s.q; det > 0 {
		d, m = (s.w*s.qx-s.q*s.x)/det, (s.q*s.qx-s.qq*s.x)/det
	}
	if m <= 0 || d <= 0 {
		d, m = ratio(s.qx, s.qq), 0
	}
	return d, m, 2*(d*s.qx-m*s.x) - d*d*s.qq + 2*d*m*s.q - m*m*s.w
}

func ratio(a, b float32) float32 {
	if b == 0 {
		return 0
	}
	return a / b
}

// steps of the search: how many levels more than there are the largest element is put at.
var (
	rangedSteps  = [...]float32{-0.9, -0.6, -0.3, 0, 0.3, 0.6}
	weighedSteps = [...]float32{-0.9, -0.75, -0.6, -0.45, -0.3, -0.15, 0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9}
	signedSteps  = [...]float32{-0.8, -0.4, 0, 0.4, 0.8}
)

// stepsFor a search: weights that differ make more of them worth while.
func stepsFor(w []float32) []float32 {
	if w == nil {
		return rangedSteps[:]
	}
	return weighedSteps[:]
}

// affine finds d and m of d·q − m, codes from 0 to top, m of at least 0.
func affine(x, w []float32, top int) (d, m float32) {
	lo, hi := extent(x)
	if lo > 0 {
		lo = 0
	}
	if hi <= lo {
		return 0, -lo
	}
	best := float32(-1)
	for _, step := range stepsFor(w) {
		s := rounded(x, w, (float32(top)+step)/(hi-lo), lo, int32(top))
		if dd, mm, explained := s.fit(); explained > best {
			d, m, best = dd, mm, explained
		}
	}
	for range refinements {
		s := rounded(x, w, inverse(d), -m, int32(top))
		dd, mm, explained := s.fit()
		if explained <= best {
			break
		}
		d, m, best = dd, mm, explained
	}
	return d, m
}

// refinements: how often codes and scales may follow each other before the search ends.
const refinements = 3

// rounded gives the sums of codes that a scale and a minimum lead to.
func rounded(x, w []float32, id, lo float32, top int32) (s sums) {
	if w == nil {
		return roundedEvenly(x, id, lo, top)
	}
	w = w[:len(x)]
	for i, v := range x {
		q := float32(max(0, min(int32(float32((v-lo)*id)+0.5), top)))
		wq := w[i] * q
		s.w, s.x = s.w+w[i], s.x+w[i]*v
		s.q, s.qq, s.qx = s.q+wq, s.qq+wq*q, s.qx+wq*v
	}
	return s
}

// roundedEvenly is rounded where all weigh the same: the sums of codes are whole numbers.
func roundedEvenly(x []float32, id, lo float32, top int32) sums {
	var sum, squares int32
	var all, product float32
	for _, v := range x {
		q := max(0, min(int32(float32((v-lo)*id)+0.5), top))
		sum += q
		squares += q * q
		all += v
		product += float32(q) * v
	}
	return sums{float32(len(x)), float32(sum), float32(squares), all, product}
}

// symmetric finds d of d·q, codes from -levels to levels-1. The extreme element may sit at either end.
func symmetric(x, w []float32, levels int) (d float32) {
	top := extreme(x)
	if top == 0 {
		return 0
	}
	best := float32(-1)
	for _, step := range signedSteps {
		dd, explained := roundWith(x, w, -(float32(levels)+step)/top, int32(levels))
		if explained > best {
			d, best = dd, explained
		}
	}
	return d
}

// roundWith rounds with a scale and gives the best scale for the codes, and what it explains of Σwx².
func roundWith(x, w []float32, id float32, levels int32) (d, explained float32) {
	var qq, qx float32
	if w == nil {
		var squares int32
		for _, v := range x {
			q := max(-levels, min(levels-1, nearest(v*id)))
			squares += q * q
			qx += float32(q) * v
		}
		qq = float32(squares)
	} else {
		w = w[:len(x)]
		for i, v := range x {
			q := float32(max(-levels, min(levels-1, nearest(v*id))))
			qq += w[i] * q * q
			qx += w[i] * q * v
		}
	}
	d = ratio(qx, qq)
	return d, d * qx
}

// searchSigned fills codes from 0 to 2·levels-1, of which levels is zero.
func searchSigned(q []uint8, x, w []float32, levels int) float32 {
	d := stored(symmetric(x, w, levels))
	id, n := inverse(d), int32(levels)
	for i, v := range x {
		q[i] = uint8(max(-n, min(n-1, nearest(v*id))) + n)
	}
	return d
}

// searchRanged fills codes from 0 to top of elements that may all be positive.
func searchRanged(q []uint8, x, w []float32, top int) (d, low float32) {
	d, low = spread(x, w, top)
	d, low = stored(d), stored(low)
	id, n := inverse(d), int32(top)
	for i, v := range x {
		q[i] = uint8(max(0, min(n, nearest((v-low)*id))))
	}
	return d, low
}

// spread is affine without a bound on the minimum.
func spread(x, w []float32, top int) (d, low float32) {
	lo, hi := extent(x)
	if d, low = (hi-lo)/float32(top), lo; d == 0 {
		return d, low
	}
	best := float32(-1)
	for _, step := range stepsFor(w) {
		s := rounded(x, w, (float32(top)+step)/(hi-lo), lo, int32(top))
		det := s.w*s.qq - s.q*s.q
		if det <= 0 {
			continue
		}
		dd, ll := (s.w*s.qx-s.q*s.x)/det, (s.qq*s.x-s.q*s.qx)/det
		if explained := dd*s.qx + ll*s.x; explained > best {
			d, low, best = dd, ll, explained
		}
	}
	return d, low
}

// stored is a number as an f16 field keeps it.
func stored(x float32) float32 { return ofHalf(toHalf(x)) }
