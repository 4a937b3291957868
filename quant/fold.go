package quant

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// AWQ multiplies columns of matrices by what their inputs are divided by (arXiv:2306.00978, section 3.2). The division
// is folded into what produces the inputs: the weights of the preceding norm, or the rows of the preceding matrix if
// only an elementwise product lies in between. Factors are powers of two, so that scaling is exact and the network is
// unchanged.

// Fold is one place where scaling is folded.
type Fold struct {
	Into []*Tensor // whose columns are multiplied
	By   *Tensor   // the norm, or the matrix whose rows are divided
	Bias *Tensor   // divided as well; nil if there is none
}

// Unfolded lists matrices that stay unscaled, and why.
type Unfolded struct {
	Role   string `json:"role"`
	Why    string `json:"why"`
	Layers int    `json:"layers"`
}

// folding is a layer with the tensors of the file.
type folding struct {
	at     map[string]*Tensor
	kind   *model.Kind
	layer  int
	uses   [][]int // readers of each value
	folds  []Fold
	others []Unfolded
}

// Folds returns the places of a network where scaling can be folded, given the tensors of a model's files.
func Folds(net *model.Model, m *Model) ([]Fold, []Unfolded) {
	f := &folding{at: map[string]*Tensor{}}
	for _, t := range m.Tensors {
		f.at[siteName(string(t.Role), t.Layer)] = t
		f.at[t.Name] = t
	}
	p := net.Decoder()
	for l, k := range p.Layers {
		f.layer, f.kind = l, &p.Kinds[k]
		f.use()
		for i := range f.kind.Ops {
			f.op(model.Val(i+1), &f.kind.Ops[i])
		}
	}
	return f.folds, f.others
}

func siteName(role string, layer int) string { return fmt.Sprintf("%s of %d", role, layer) }

func (f *folding) use() {
	f.uses = make([][]int, len(f.kind.Ops)+1)
	for i := range f.kind.Ops {
		for _, v := range f.kind.Ops[i].In {
			if v > 0 {
				f.uses[v] = append(f.uses[v], i)
			}
		}
	}
	f.uses[f.kind.Out] = append(f.uses[f.kind.Out], -1) // the next layer's
}

func (f *folding) op(v model.Val, op *model.Op) {
	switch {
	case op.Kind == model.Norm && len(op.W) > 0 && op.Unit == 0:
		f.norm(v, op)
	case op.Kind == model.Linear && len(op.W) > 0 && op.In[0] > 0:
		f.behind(op)
	case op.Kind == model.ExpertLinear && op.In[0] > 0 && f.kind.Ops[op.In[0]-1].Kind != model.Norm:
		f.leave(op, "experts, each with inputs of its own")
	}
}

// norm folds into a norm if only matmuls read its result.
func (f *folding) norm(v model.Val, op *model.Op) {
	fold := Fold{By: f.at[siteName(string(op.W[0].Role), f.layer)]}
	products := 0
	why := ""
	for _, i := range f.uses[v] {
		if i < 0 || !multiplies(f.kind.Ops[i].Kind) {
			why = "what the norm before gives is read by more than products"
			continue
		}
		products++
		t := f.matrix(&f.kind.Ops[i])
		if t == nil {
			why = "not all that reads the norm before is a matrix of the file"
			continue
		}
		fold.Into = append(fold.Into, t)
	}
	switch {
	case products == 0: // behind a block, or before something else
	case fold.By == nil:
		f.leave(&f.kind.Ops[f.uses[v][0]], "the norm before is not a tensor of the file")
	case why != "":
		f.leave(&f.kind.Ops[f.uses[v][0]], why)
	default:
		f.add(fold)
	}
}

func multiplies(k model.OpKind) bool {
	return k == model.Linear || k == model.Route || k == model.ExpertLinear
}

// behind folds a matrix into the one that produces its input: down into up, and the output projection of attention into
// the values.
func (f *folding) behind(op *model.Op) {
	from := &f.kind.Ops[op.In[0]-1]
	var v model.Val
	switch {
	case len(f.uses[op.In[0]]) > 1 || from.Kind == model.Norm:
		return // produced by a norm, or shared
	case from.Kind == model.Glu:
		v = from.In[1]
	case from.Kind == model.Attention && from.Attn.Heads != from.Attn.KVHeads:
		f.leave(op, fmt.Sprintf("%d heads of values serve %d of queries", from.Attn.KVHeads, from.Attn.Heads))
		return
	case from.Kind == model.Attention:
		v = from.In[2]
	default:
		f.leave(op, "its inputs are not in proportion to a matrix before it")
		return
	}
	if v <= 0 || f.kind.Ops[v-1].Kind != model.Linear || len(f.uses[v]) != 1 {
		f.leave(op, "its inputs are not in proportion to a matrix before it")
		return
	}
	into, by := f.matrix(op), f.matrix(&f.kind.Ops[v-1])
	if into == nil || by == nil || by.Rows != into.Cols || by.Batch != 1 {
		f.leave(op, "it and the matrix before are not tensors of the file")
		return
	}
	f.add(Fold{Into: []*Tensor{into}, By: by})
}

// matrix returns the matrix of an operator; nil if the file has none, or none that can be scaled.
func (f *folding) matrix(op *model.Op) *Tensor {
	if len(op.W) == 0 || op.Lent {
		return nil
	}
	t := f.at[siteName(string(op.W[0].Role), f.layer)]
	if t == nil || !t.floating() {
		return nil
	}
	return t
}

func (t *Tensor) floating() bool {
	return t.Stored == dtype.F32 || t.Stored == dtype.F16 || t.Stored == dtype.BF16
}

func (f *folding) add(fold Fold) {
	if fold.By == nil || !fold.By.floating() {
		return
	}
	fold.Bias = f.at[strings.TrimSuffix(fold.By.Name, ".weight")+".bias"]
	f.folds = append(f.folds, fold)
}

func (f *folding) leave(op *model.Op, why string) {
	role := string(op.Role)
	if len(op.W) > 0 {
		role = string(op.W[0].Role)
	}
	i := slices.IndexFunc(f.others, func(u Unfolded) bool { return u.Role == role && u.Why == why })
	if i < 0 {
		i = len(f.others)
		f.others = append(f.others, Unfolded{Role: role, Why: why})
	}
	f.others[i].Layers++
}

// Scaling says how a tensor is scaled when written: columns multiplied, rows divided.
type Scaling struct{ Columns, Rows []float32 }

// Scale computes the factors of each place and stores them for its tensors: the power of the inputs' magnitude with the
// least error of a format on some rows. It returns the number of places that gain. The tensors fed by a place share
// their inputs; those of at least one must be known.
func (s *Statistics) Scale(folds []Fold, f *Format) (gained int, err error) {
	s.scalings = map[string]*Scaling{}
	s.alike = map[string]*Tensor{}
	for i := range folds {
		fold := &folds[i]
		in, err := s.known(fold.Into)
		if err != nil {
			return 0, err
		}
		if in == nil {
			continue
		}
		up, err := fold.factors(f, in)
		if err != nil {
			return 0, err
		}
		if up != nil {
			gained++
			s.apply(fold, up)
		}
	}
	return gained, nil
}

// known returns the inputs of the first tensor that has any; the others are the same.
func (s *Statistics) known(tensors []*Tensor) (*Inputs, error) {
	for _, t := range tensors {
		in, err := s.Inputs(t)
		if err != nil || in == nil || int64(len(in.Columns)) != t.Cols {
			if err != nil {
				return nil, err
			}
			continue
		}
		for _, other := range tensors {
			s.alike[other.Name] = t
		}
		return in.ofMatrix(0, t.Cols), nil
	}
	return nil, nil
}

func (s *Statistics) scaling(name string) *Scaling {
	if s.scalings[name] == nil {
		s.scalings[name] = &Scaling{}
	}
	return s.scalings[name]
}

func (s *Statistics) apply(fold *Fold, up []float32) {
	for _, t := range fold.Into {
		s.scaling(t.Name).Columns = up
	}
	if fold.By.Dims > 1 {
		s.scaling(fold.By.Name).Rows = up
	} else {
		s.scaling(fold.By.Name).Columns = inverses(up)
	}
	if fold.Bias != nil {
		s.scaling(fold.Bias.Name).Columns = inverses(up)
	}
}

func inverses(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = 1 / x
	}
	return out
}

// mostFactor bounds the exponent of factors, so that scaled numbers stay in the range of f16 scales.
const mostFactor = 6

// factors returns the factors of the columns; nil if none improve on 1.
func (fold *Fold) factors(f *Format, in *Inputs) ([]float32, error) {
	var rows [][]float32
	for _, t := range fold.Into {
		sample, err := t.sample()
		if err != nil {
			return nil, err
		}
		rows = append(rows, sample...)
	}
	best, least := []float32(nil), math.Inf(1)
	s := NewSurvey(1, int64(len(in.Columns)))
	for k := range awqSteps {
		up := powers(in.Columns, float64(k)/awqSteps)
		for i, u := range up {
			up[i] = power(int(max(-mostFactor, min(mostFactor, math.Round(math.Log2(float64(u)))))))
		}
		plain := *in
		plain.method = ""
		c, err := f.coder(s)
		if err != nil {
			return nil, err
		}
		e := sampled(&scaled{of: c.(stepped), up: up, x: make([]float32, len(up)), w: make([]float32, len(up))}, rows, &plain)
		if e < least {
			best, least = up, e
		}
	}
	if !slices.ContainsFunc(best, func(u float32) bool { return u != 1 }) {
		return nil, nil
	}
	return best, nil
}

// sample returns some of a tensor's rows.
func (t *Tensor) sample() (rows [][]float32, err error) {
	all := t.Batch * t.Rows
	step := unit.CeilDiv(all, sampleRows)
	var buf []byte
	for at := int64(0); at < all; at += step {
		x := make([]float32, t.Cols)
		if err := t.rows(x, at, 1, &buf); err != nil {
			return nil, err
		}
		rows = append(rows, x)
	}
	return rows, nil
}

// scaled encodes rows with multiplied columns, and divides when decoding.
type scaled struct {
	of       stepped
	up, x, w []float32
}

func (c *scaled) units() (elems, size, n int) {
	elems, size = c.of.Unit()
	return elems, size, len(c.up) / elems
}

func (c *scaled) Unit() (int, int) {
	_, size, n := c.units()
	return len(c.up), n * size
}

func (c *scaled) Encode(dst []byte, x, w []float32) {
	for i, u := range c.up {
		c.x[i] = x[i] * u
		c.w[i] = w[i] / (u * u)
	}
	elems, size, n := c.units()
	for i := range n {
		c.of.Encode(dst[i*size:(i+1)*size], c.x[i*elems:(i+1)*elems], c.w[i*elems:(i+1)*elems])
	}
}

func (c *scaled) Decode(x []float32, src []byte) {
	elems, size, n := c.units()
	for i := range n {
		c.of.Decode(x[i*elems:(i+1)*elems], src[i*size:])
	}
	for i, u := range c.up {
		x[i] /= u
	}
}

// direct lists families whose hub files store the weights of norms as they are applied; others store them minus one, or
// it is unknown.
var direct = map[string]bool{"llama": true, "qwen2": true, "qwen3": true, "qwen2moe": true, "qwen3moe": true, "phi3": true, "granite": true}

// Unsure returns why factors cannot be folded into a model's norms, or "". GGUF files store norms as they are applied.
func Unsure(net *model.Model, m *Model) string {
	if m.GGUF == nil && !direct[net.Family] {
		return fmt.Sprintf("files of a %s may hold the weights of norms less one, and awq would divide the wrong number", net.Family)
	}
	return ""
}
