package model

// Term is a summand of a step's work: Each operations or bytes for each of Count units named Per.
type Term struct {
	Per         string
	Count, Each float64
}

// Total returns the sum of the terms, in operations or bytes.
func Total(terms []Term) (x float64) {
	for _, t := range terms {
		x += t.Count * t.Each
	}
	return x
}

// Work is the cost of a decoder's forward passes, compiled to be evaluated for any step.
type Work struct {
	coeffs Coeffs
	spans  []int64
	moe    *Experts
	// Sparse reports that some layers choose the positions they read and the number is unknown, or that the model has
	// more windows than Features distinguishes. All terms then omit whatever depends on the number of cached positions.
	Sparse bool
}

// Work compiles the decoder as stored; the spans of e are filled in.
func (m *Model) Work(w *Weights, e Exec) Work {
	e.Spans = m.Spans()
	d := m.Decoder()
	out := Work{coeffs: d.Compile(&w.Parts[0], &e), spans: e.Spans, Sparse: len(e.Spans) > MaxSpans}
	d.Each(func(k *Kind, _ int64) {
		for i := range k.Ops {
			o := &k.Ops[i]
			if o.Moe != nil {
				out.moe = o.Moe
			}
			if a := o.Attn; a != nil && a.Index != nil && a.Chosen == 0 {
				out.Sparse = true
			}
		}
	})
	return out
}

// FLOPs returns the operations of a step.
func (w *Work) FLOPs(s Step) []Term { return w.terms(s, &w.coeffs.FLOPs) }

// Weights returns the bytes of weights that a step reads: experts that some token chooses, one embedding row per token,
// all else once.
func (w *Work) Weights(s Step) []Term { return w.terms(s, &w.coeffs.Weights) }

// Cache returns the bytes of keys, values and states that a step reads and writes.
func (w *Work) Cache(s Step) []Term {
	var both Features
	for i := range both {
		both[i] = w.coeffs.CacheRead[i] + w.coeffs.CacheWrite[i]
	}
	return w.terms(s, &both)
}

// perNames names the unit of each feature, for formulas.
var perNames = [features]string{One: "step", Tokens: "token", Outputs: "output", Seqs: "sequence", Pairs: "pair", Read: "position",
	Touched: "expert",
	pairsW:  "window_pair", pairsW + 1: "window_position", pairsW + 2: "window_2_pair", pairsW + 3: "window_2_position"}

func (w *Work) terms(s Step, each *Features) (out []Term) {
	f := s.Features(w.spans, w.moe)
	for i := range f {
		if each[i] == 0 || w.Sparse && (i == Pairs || i == Read || i >= pairsW) {
			continue
		}
		out = append(out, Term{perNames[i], f[i], each[i]})
	}
	return out
}
