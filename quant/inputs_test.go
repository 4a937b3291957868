package quant

import (
	"math"
	"testing"
)

// inputsOf count rows of cols inputs; mixing makes each the sum of its own and some of the one before, times a size
// that differs between columns.
func inputsOf(count, cols int, mixing, spread float64) *Tensor {
	return loudInputs(count, cols, mixing, spread, 1, 11)
}

// loudInputs are much larger in every 64th column, as those of large networks are.
func loudInputs(count, cols int, mixing, spread float64, loud float32, seed uint64) *Tensor {
	own := normal(count*cols, seed)
	x := make([]float32, count*cols)
	for r := range count {
		var before float64
		for c := range cols {
			before = mixing*before + float64(own[r*cols+c])*50
			x[r*cols+c] = ofBrain(toBrain(float32(before * math.Exp(spread*math.Sin(float64(7*c))))))
			if loud > 1 && c%64 == 5 {
				x[r*cols+c] *= loud
			}
		}
	}
	return brain("inputs", x, 1, int64(count), int64(cols))
}

// trueNoise is Σ over inputs and rows of (Δ·x)², in 64 bits, of all inputs.
func trueNoise(w, q []float32, inputs *Tensor) (sum float64) {
	cols := int(inputs.Cols)
	if err := inputs.eachRow(func(_ int64, x []float32) {
		for at := 0; at < len(w); at += cols {
			var p float64
			for c, v := range x {
				p += float64(v) * (float64(w[at+c]) - float64(q[at+c]))
			}
			sum += p * p
		}
	}); err != nil {
		panic(err)
	}
	return sum
}

// better gives the noise of a format over that of int4-zero-g128 on inputs that it did not see, and the same of the noise
// that is measured on those that it saw.
func better(t *testing.T, name string, inputs, unseen *Tensor) (truth, measured float64) {
	t.Helper()
	const rows, cols = 128, 512
	w := normal(rows*cols, 5)
	in, err := Activations(inputs)
	if err != nil {
		t.Fatal(err)
	}
	var noise, said [2]float64
	for i, n := range []string{"int4-zero-g128", name} {
		s := NewSurvey(rows, cols)
		s.Inputs = in.ofMatrix(0, cols)
		s.Add(w)
		tr := tried(find(t, n), s, w)
		back := make([]float32, len(w))
		tr.units(w, func(at int, _, part []float32) { copy(back[at:], part) })
		noise[i], said[i] = trueNoise(w, back, unseen), tr.Error.WeightedNoise
	}
	return noise[1] / noise[0], said[1] / said[0]
}

// TestGPTQ: on inputs that correlate it is better than rounding by 10 % and more, on white ones the same.
func TestGPTQ(t *testing.T) {
	truth, measured := better(t, "gptq-g128", inputsOf(2048, 512, 0.8, 0.5), loudInputs(2048, 512, 0.8, 0.5, 1, 12))
	if truth > 0.6 || math.Abs(measured/truth-1) > 0.15 {
		t.Errorf("correlated: %.3f of the noise of rounding, measured %.3f", truth, measured)
	}
	truth, measured = better(t, "gptq-g128", inputsOf(1<<14, 512, 0, 0), loudInputs(4096, 512, 0, 0, 1, 12))
	if math.Abs(truth-1) > 0.05 || math.Abs(measured-1) > 0.06 {
		t.Errorf("white: %.3f of the noise of rounding, measured %.3f", truth, measured)
	}
}

// TestAWQ: on inputs of which some are much larger it is better by 10 % and more, on white ones the same.
func TestAWQ(t *testing.T) {
	truth, measured := better(t, "awq-g128", loudInputs(2048, 512, 0.3, 0.3, 16, 11), loudInputs(2048, 512, 0.3, 0.3, 16, 12))
	if truth > 0.9 || math.Abs(measured/truth-1) > 0.1 {
		t.Errorf("uneven: %.3f of the noise of rounding, measured %.3f", truth, measured)
	}
	truth, _ = better(t, "awq-g128", inputsOf(4096, 512, 0, 0), loudInputs(4096, 512, 0, 0, 1, 12))
	if math.Abs(truth-1) > 0.03 {
		t.Errorf("white: %.3f of the noise of rounding", truth)
	}
}

// TestFactor: R·Rᵀ is H, for a small matrix and by the definition.
func TestFactor(t *testing.T) {
	const n = 24
	in := inputsOf(200, n, 0.7, 1)
	h, err := newHessian(in)
	if err != nil {
		t.Fatal(err)
	}
	var want [n][n]float64
	if err := in.eachRow(func(row int64, x []float32) {
		if row%judged == 0 {
			return
		}
		for i := range n {
			for j := range n {
				want[i][j] += float64(x[i]) * float64(x[j])
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	var mean float64
	for i := range n {
		mean += want[i][i] / n
	}
	// as few rows as there are show correlations by chance, which are taken off
	var noise, signal float64
	for i := range n {
		for j := range i {
			r := want[i][j] * want[i][j] / want[i][i] / want[j][j]
			noise, signal = noise+(1-r)*(1-r)/150, signal+r
		}
	}
	for i := range n {
		for j := range n {
			if i != j {
				want[i][j] *= 1 - noise/signal
			}
		}
	}
	f := h.Blocks[0]
	// Back is R over its diagonal; the diagonal follows from the last column on.
	var r [n][n]float64
	for j := n - 1; j >= 0; j-- {
		d := want[f.Order[j]][f.Order[j]] + damping*mean
		for k := j + 1; k < n; k++ {
			d -= r[j][k] * r[j][k]
		}
		r[j][j] = math.Sqrt(d)
		for i, b := range f.Back[j] {
			r[i][j] = float64(b) * r[j][j]
		}
	}
	for i := range n {
		for j := range n {
			var sum float64
			for k := range n {
				sum += r[i][k] * r[j][k]
			}
			expected := want[f.Order[i]][f.Order[j]]
			if i == j {
				expected += damping * mean
			}
			if math.Abs(sum-expected) > 1e-3*mean {
				t.Fatalf("%d, %d: %v, want %v", i, j, sum, expected)
			}
		}
	}
	for j := range f.Order[1:] {
		if want[f.Order[j]][f.Order[j]] < want[f.Order[j+1]][f.Order[j+1]]*0.999 {
			t.Errorf("column %d comes before a larger one", f.Order[j])
		}
	}
}

// TestBlocks: of many columns the Hessian is kept in blocks of whole groups.
func TestBlocks(t *testing.T) {
	for cols, want := range map[int]int{512: 512, 2048: 2048, 4096: 2048, 28672: 256, 1 << 20: 128} {
		if got := blockOf(cols); got != want {
			t.Errorf("%d columns: blocks of %d, want %d", cols, got, want)
		}
	}
}

// TestSketch: mixtures of inputs weigh an error as all inputs do.
func TestSketch(t *testing.T) {
	inputs := inputsOf(4096, 256, 0.6, 1)
	in, err := Activations(inputs)
	if err != nil {
		t.Fatal(err)
	}
	var squares float64
	for _, c := range in.Columns {
		squares += float64(c) / 256
	}
	var said, truth float64
	for seed := range uint64(20) {
		d := heavy(256, seed)
		said += in.product(d)
		truth += trueNoise(d, make([]float32, 256), inputs) / squares
	}
	if math.Abs(said/truth-1) > 0.05 {
		t.Errorf("%v, want %v", said, truth)
	}
	few := inputsOf(20, 256, 0.6, 1)
	if in, err = Activations(few); err != nil || len(in.Sketch) != 20 {
		t.Errorf("%d rows of 20, %v", len(in.Sketch), err)
	}
}

// TestOutliers: LLM.int8 keeps the columns of large inputs, exact to f16, and says what they take.
func TestOutliers(t *testing.T) {
	x := inputsOf(64, 256, 0, 0)
	in, err := Activations(x)
	if err != nil {
		t.Fatal(err)
	}
	in.Largest = make([]float32, 256)
	in.Largest[3], in.Largest[200] = 6, 50
	w := heavy(64*256, 2)
	work := &Work{Formats: []*Format{find(t, "llm.int8")}, Inputs: func(*Tensor) (*Inputs, error) { return in, nil }}
	m, err := work.Measure(brain("w", w, 1, 64, 256))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Tried[0].Bytes, m.Tried[0].Format.Bytes(1, 64, 256)+2*2*64; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	s := surveyOf(w, 256)
	s.Outliers = []int32{3, 200}
	c := coderOf(find(t, "llm.int8"), s)
	_, size := c.Unit()
	code, back := make([]byte, size), make([]float32, 256)
	c.Encode(code, w[:256], nil)
	c.Decode(back, code)
	if back[3] != w[3] || back[200] != w[200] {
		t.Error("outlier columns are not exact")
	}
}
