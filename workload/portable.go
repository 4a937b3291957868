package workload

import "math"

// Logarithms and powers of package math differ in their last digits between processors, and so would workloads with the
// same seed. These do not: each product is rounded explicitly, which prevents fusing it into an FMA. They are accurate
// to 1e-11, more than lengths and gaps need.

// logarithm returns ln x of a positive normal number as exponent·ln 2 + ln m, with ln m = 2 artanh((m-1)/(m+1)) for m
// from √½ to √2.
func logarithm(x float64) float64 {
	bits := math.Float64bits(x)
	power := int(bits>>52) - 1023
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m /= 2
		power++
	}
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	q2 := float64(q * q)
	q4 := float64(q2 * q2)
	low := 1 + float64(q*(1.0/3)) + float64(q2*(1.0/5+float64(q*(1.0/7))))
	high := 1.0/9 + float64(q*(1.0/11)) + float64(q2*(1.0/13+float64(q*(1.0/15))))
	return float64(float64(power)*math.Ln2) + float64(2*s*(low+float64(q4*high)))
}

// exponent returns e to the x, from about 1e-300 to 1e300, by splitting off powers of two and a series.
func exponent(x float64) float64 {
	x = between(x, -690, 690)
	power := int64(float64(x*math.Log2E)+1024.5) - 1024 // to nearest
	r := x - float64(float64(power)*math.Ln2)
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	a := 1 + r + float64(r2*(1.0/2+float64(r*(1.0/6))))
	b := 1.0/24 + float64(r*(1.0/120)) + float64(r2*(1.0/720+float64(r*(1.0/5040))))
	c := 1.0/40320 + float64(r*(1.0/362880)) + float64(r2*(1.0/3628800))
	sum := a + float64(r4*(b+float64(r4*c)))
	return sum * math.Float64frombits(uint64(power+1023)<<52)
}
