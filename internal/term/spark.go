package term

// SparkGlyphs are the bars of a one-line curve, lowest first.
const SparkGlyphs = "▁▂▃▄▅▆▇█"

// Sampled returns the means of a series over at most n intervals.
func Sampled(all []float64, n int) []float64 {
	n = min(n, len(all))
	out := make([]float64, n)
	for i := range out {
		from, to := i*len(all)/n, (i+1)*len(all)/n
		for _, x := range all[from:to] {
			out[i] += x
		}
		out[i] /= float64(to - from)
	}
	return out
}
