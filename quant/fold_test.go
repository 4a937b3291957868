package quant

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/format/gguf"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// attentionLayer is a layer of a small network: heads of queries, and as many or fewer of keys and values.
func attentionLayer(heads, kv int64) *model.Model {
	w := func(r dtype.Role) []*model.Tensor { return []*model.Tensor{{Role: r, Dims: 2}} }
	k := model.Kind{Ops: []model.Op{
		{Kind: model.Norm, W: w(dtype.AttnNorm)},                                                         // 1
		{Kind: model.Linear, W: w(dtype.AttnQ), In: [4]model.Val{1}},                                     // 2
		{Kind: model.Linear, W: w(dtype.AttnK), In: [4]model.Val{1}},                                     // 3
		{Kind: model.Linear, W: w(dtype.AttnV), In: [4]model.Val{1}},                                     // 4
		{Kind: model.Attention, In: [4]model.Val{2, 3, 4}, Attn: &model.Attn{Heads: heads, KVHeads: kv}}, // 5
		{Kind: model.Linear, W: w(dtype.AttnOutput), In: [4]model.Val{5}},                                // 6
		{Kind: model.Add, In: [4]model.Val{6, 0}},                                                        // 7
		{Kind: model.Norm, W: w(dtype.FFNNorm), In: [4]model.Val{7}},                                     // 8
		{Kind: model.Linear, W: w(dtype.FFNGate), In: [4]model.Val{8}},                                   // 9
		{Kind: model.Linear, W: w(dtype.FFNUp), In: [4]model.Val{8}},                                     // 10
		{Kind: model.Glu, In: [4]model.Val{9, 10}},                                                       // 11
		{Kind: model.Linear, W: w(dtype.FFNDown), In: [4]model.Val{11}},                                  // 12
		{Kind: model.Add, In: [4]model.Val{12, 7}},                                                       // 13
	}, Out: 13}
	return &model.Model{Family: "llama", Parts: []model.Part{{Name: "decoder", Kinds: []model.Kind{k}, Layers: []uint8{0, 0}}}}
}

func TestFolds(t *testing.T) {
	m, _ := namedModel(t, nil)
	folds, left := Folds(attentionLayer(4, 1), m)
	if len(folds) != 6 || len(left) != 1 || left[0] != (Unfolded{"attn_output", "1 heads of values serve 4 of queries", 2}) {
		t.Fatalf("%d places, left %+v", len(folds), left)
	}
	into := func(f *Fold) (names []string) {
		for _, x := range f.Into {
			names = append(names, string(x.Role))
		}
		return names
	}
	for i, want := range []struct {
		by   string
		into []string
	}{{"attn_norm", []string{"attn_q", "attn_k", "attn_v"}}, {"ffn_norm", []string{"ffn_gate", "ffn_up"}},
		{"ffn_up", []string{"ffn_down"}}} {
		if f := &folds[i]; string(f.By.Role) != want.by || !slices.Equal(into(f), want.into) {
			t.Errorf("%s into %v, want %+v", f.By.Role, into(f), want)
		}
	}
	shared := attentionLayer(4, 4)
	shared.Parts[0].Kinds[0].Ops[12].In[1] = 8 // the residual goes on behind the norm
	if folds, left = Folds(shared, m); len(left) == 0 ||
		left[len(left)-1].Why != "what the norm before gives is read by more than products" {
		t.Errorf("%d places, left %+v", len(folds), left)
	}
	plain := attentionLayer(4, 1)
	plain.Parts[0].Kinds[0].Ops[10].Kind = model.Act // no product of two values
	if _, left = Folds(plain, m); !slices.ContainsFunc(left, func(u Unfolded) bool { return u.Role == "ffn_down" }) {
		t.Errorf("left %+v", left)
	}
	if Unsure(&model.Model{Family: "gemma2"}, &Model{}) == "" || Unsure(&model.Model{Family: "gemma2"}, m) != "" ||
		Unsure(attentionLayer(1, 1), &Model{}) != "" {
		t.Error("norms less one")
	}
}

// loudStatistics: of every matrix some inputs are 16 times as large as the others.
func loudStatistics(m *Model) *Statistics {
	s := &Statistics{Method: AWQ, Importance: map[string][]float32{}}
	for _, x := range m.Tensors {
		v := make([]float32, x.Cols)
		for i := range v {
			v[i] = 1 + float32(i%3)
			if i%64 == 5 {
				v[i] = 256
			}
		}
		s.Importance[x.names()[0]] = v
	}
	return s
}

// TestFoldIsExact: where no tensor changes its format, what AWQ writes is the same network to the bit: a norm's weight times
// a column is what it was, and so are a row of up times a column of down.
func TestFoldIsExact(t *testing.T) {
	m, all := namedModel(t, nil)
	s := loudStatistics(m)
	folds, _ := Folds(attentionLayer(4, 1), m)
	gained, err := s.Scale(folds, find(t, "q4_0"))
	if err != nil || gained < 3 {
		t.Fatalf("%d places gain: %v", gained, err)
	}
	first := func(v []float32, i int64) float32 {
		if v == nil {
			return 1
		}
		return v[i]
	}
	var tensors []*Encoder
	for _, x := range all {
		e, err := NewEncoder(x, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, e)
	}
	now := written(t, m, tensors)
	changed := map[bool]int{} // by norms, and by matrices
	for _, f := range folds {
		was, is := numbersOf(t, f.By), numbersOf(t, now[f.By.Name])
		for _, x := range f.Into {
			wasX, isX := numbersOf(t, x), numbersOf(t, now[x.Name])
			own := s.scaling(x.Name).Rows // divided behind, in turn
			for i := range wasX {
				c := int64(i) % x.Cols
				a, b := was[c], is[c]
				if f.By.Dims > 1 { // a row of it is a column of this one; its first element says it
					a, b = was[c*f.By.Cols], is[c*f.By.Cols]/first(s.scaling(f.By.Name).Columns, 0)
				}
				if a*wasX[i] != b*isX[i]*first(own, int64(i)/x.Cols) {
					t.Fatalf("%s: element %d: %v · %v became %v · %v", x.Name, i, a, wasX[i], b, isX[i])
				}
				if wasX[i] != isX[i] {
					changed[f.By.Dims > 1]++
				}
			}
		}
	}
	if changed[false] == 0 || changed[true] == 0 {
		t.Errorf("scaled: %v", changed)
	}
}

// written gives the tensors of a file that was written.
func written(t *testing.T, m *Model, tensors []*Encoder) map[string]*Tensor {
	t.Helper()
	out, err := NewGGUF(m, tensors)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := out.Write(&b, 2, inTurn, goOn); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b.Bytes())
	f, err := gguf.Read(r, int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	now := map[string]*Tensor{}
	for i := range f.Tensors {
		g := &f.Tensors[i]
		x := *tensors[i].Tensor
		x.Data, x.Start, x.Stored, x.Bytes = r, f.Start(g), g.Format, unit.Bytes(g.Bytes)
		now[x.Name] = &x
	}
	return now
}

func numbersOf(t *testing.T, x *Tensor) []float32 {
	t.Helper()
	v := make([]float32, x.Elements())
	var buf []byte
	if err := x.rows(v, 0, x.Batch*x.Rows, &buf); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFoldGains: with inputs of which some are much larger AWQ takes a tenth off the error, and with even ones nothing; and
// what is measured is what is written, but for the rows that are divided.
func TestFoldGains(t *testing.T) {
	m, _ := namedModel(t, nil)
	f := find(t, "q8_0")
	folds, _ := Folds(attentionLayer(4, 1), m)
	rounding, awq := loudStatistics(m), loudStatistics(m)
	rounding.Method = Nearest
	if _, err := awq.Scale(folds, f); err != nil {
		t.Fatal(err)
	}
	q := folds[0].Into[0]
	var errors [2]float64
	var kept *Measured
	for i, s := range []*Statistics{rounding, awq} {
		x, err := (&Work{Formats: []*Format{f}, Inputs: s.Inputs}).Measure(q)
		if err != nil {
			t.Fatal(err)
		}
		errors[i], kept = x.Of(f).Error.WeightedRMS(), x
	}
	if errors[1] > 0.9*errors[0] {
		t.Errorf("an error of %v, of rounding %v", errors[1], errors[0])
	}
	e, err := NewEncoder(kept, f, awq)
	if err != nil {
		t.Fatal(err)
	}
	main, _, err := e.Piece(0)
	if err != nil {
		t.Fatal(err)
	}
	x, back := numbersOf(t, q), make([]float32, q.Elements())
	readers[dtype.Q8_0](back, main)
	in := awq.Importance[q.names()[0]]
	for i := range back {
		back[i] /= awq.scalings[q.Name].Columns[int64(i)%q.Cols]
	}
	if e, _ := slowError(x, back, in); math.Abs(e.WeightedRMS()/errors[1]-1) > 1e-3 {
		t.Errorf("written with an error of %v, measured %v", e.WeightedRMS(), errors[1])
	}
	even := &Statistics{Method: AWQ, Importance: map[string][]float32{}}
	for _, x := range m.Tensors {
		even.Importance[x.names()[0]] = slices.Repeat([]float32{3}, int(x.Cols))
	}
	if gained, err := even.Scale(folds, f); err != nil || gained != 0 {
		t.Errorf("%d places gain with even inputs: %v", gained, err)
	}
}
