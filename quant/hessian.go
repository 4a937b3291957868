package quant

import (
	"cmp"
	"math"

	"github.com/memwall/memwall/internal/stable"
)

// Hessian is Σ x·xᵀ of a matrix's inputs, up to a factor, in diagonal blocks: all of it for matrices with few columns,
// otherwise blocks that fit in memory. An error Δ of a row changes the layer's output by Δ·H·Δᵀ.
type Hessian struct {
	Size   int // columns per block; the last may be smaller
	Blocks []Factor
}

// Factor is an upper triangular R with H = R·Rᵀ, with columns in rounding order: largest inputs first, since all later
// ones can compensate. Back[j] holds R[i][j]/R[j][j] for all i before j.
type Factor struct {
	Order []int32
	Back  [][]float32
}

// hessianBytes limits the memory of one matrix's blocks.
const hessianBytes = 32 << 20

// damping is added to the diagonal, relative to its mean (GPTQ's percdamp, arXiv:2210.17323).
const damping = 0.01

// blockOf returns the columns per block: all, or as many as memory allows, in whole groups of 128.
func blockOf(cols int) int {
	if 4*cols*cols <= hessianBytes {
		return cols
	}
	return max(blockRows, hessianBytes/4/cols/blockRows*blockRows)
}

func newHessian(t *Tensor) (*Hessian, error) {
	cols := int(t.Cols)
	h := &Hessian{Size: blockOf(cols)}
	var sums [][]float32
	for at := 0; at < cols; at += h.Size {
		n := min(h.Size, cols-at)
		sums = append(sums, make([]float32, n*n))
	}
	apart, rows := heldOut(t), 0
	err := t.eachRow(func(n int64, x []float32) {
		if apart && n%judged == 0 {
			return
		}
		rows++
		for b, sum := range sums {
			outer(sum, x[b*h.Size:min((b+1)*h.Size, cols)])
		}
	})
	if err != nil {
		return nil, err
	}
	for _, sum := range sums {
		shrink(sum, chance(sum, rows))
		h.Blocks = append(h.Blocks, factor(sum))
	}
	return h, nil
}

// outer adds the lower triangle of x·xᵀ.
func outer(sum, x []float32) {
	n := len(x)
	for i, v := range x {
		if v == 0 {
			continue
		}
		row := sum[i*n : i*n+i+1]
		for j := range row {
			row[j] += v * x[j]
		}
	}
}

// chance returns the share of the columns' squared correlations expected by chance for so few rows: the optimal
// shrinkage weight (Schäfer and Strimmer 2005, doi 10.2202/1544-6115.1175, target D), with the variance (1−r²)²/rows of
// normal numbers.
func chance(sum []float32, rows int) float32 {
	n := int(math.Sqrt(float64(len(sum))))
	var noise, signal float64
	for i := range n {
		for j := range i {
			d := float64(sum[i*n+i]) * float64(sum[j*n+j])
			if d == 0 {
				continue
			}
			r := float64(sum[i*n+j]) * float64(sum[i*n+j]) / d
			noise += (1 - r) * (1 - r) / float64(rows)
			signal += r
		}
	}
	if signal == 0 {
		return 1
	}
	return float32(min(1, noise/signal))
}

// shrink scales down off-diagonal elements, to which GPTQ would otherwise overfit.
func shrink(sum []float32, share float32) {
	n := int(math.Sqrt(float64(len(sum))))
	for i := range n {
		for j := range i {
			sum[i*n+j] *= 1 - share
		}
	}
}

// factor decomposes a block given by its lower triangle.
func factor(sum []float32) Factor {
	n := int(math.Sqrt(float64(len(sum))))
	f := Factor{Order: make([]int32, n)}
	var mean float64
	for i := range f.Order {
		f.Order[i] = int32(i)
		mean += float64(sum[i*n+i]) / float64(n)
	}
	stable.Sort(f.Order, func(a, b int32) int { return cmp.Compare(sum[int(b)*n+int(b)], sum[int(a)*n+int(a)]) })
	damp := float32(max(damping*mean, math.SmallestNonzeroFloat32))
	r := make([][]float32, n)
	for i := range r {
		r[i] = make([]float32, n)
		for j := i; j < n; j++ {
			a, b := int(f.Order[i]), int(f.Order[j])
			r[i][j] = sum[max(a, b)*n+min(a, b)]
		}
		r[i][i] += damp
	}
	upper(r, damp)
	f.Back = make([][]float32, n)
	for j := range f.Back {
		f.Back[j] = make([]float32, j)
		for i := range f.Back[j] {
			f.Back[j][i] = r[i][j] / r[j][j]
		}
	}
	return f
}

// upper replaces the upper triangle of H by R with H = R·Rᵀ, from the last column to the first. Pivots are clamped to
// the damping.
func upper(r [][]float32, damp float32) {
	n := len(r)
	for j := n - 1; j >= 0; j-- {
		tail := r[j][j+1:]
		pivot := float32(math.Sqrt(float64(max(damp/2, r[j][j]-dot(tail, tail)))))
		r[j][j] = pivot
		for i := range j {
			r[i][j] = (r[i][j] - dot(r[i][j+1:], tail)) / pivot
		}
	}
}
