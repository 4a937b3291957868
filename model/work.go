package model

// Term is a summand of the work of a step: Each operations or bytes for every one of Count things called Per.
type Term struct {
	Per         string
	Count, Each float64
}

// Total sums terms, in operations or bytes.
func Total(terms []Term) (x float64) {
	for _, t := range terms {
		x += t.Count * t.Each
	}
	return x
}

// Work is the cost of a decoder's forward passes, ready to be asked for any step.
type Work struct {
	coeffs Coeffs
	spans  []int64
	moe    *Experts
	// Sparse: some layers choose which positions they read and nobody says how many, or there are more windows than
	// Features tells apart. What depends on the number of cached positions is then left out of all terms.
	Sparse bool
}

// Work compiles the decoder, stored as given; the windows of e are filled in.
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

// FLOPs of a step.
func (w *Work) FLOPs(s Step) []Term { return w.terms(s, &w.coeffs.FLOPs) }

// Weights are the bytes of weights that a step reads: of experts those that some token chooses, of the
// embedding one row for each token.
func (w *Work) Weights(s Step) []Term { return w.terms(s, &w.coeffs.Weights) }

// Cache are the bytes of keys, values and states that a step reads and writes.
func (w *Work) Cache(s Step) []Term {
	var both Features
	for i := range both {
		both[i] = w.coeffs.CacheRead[i] + w.coeffs.CacheWrite[i]
	}
	return w.terms(s, &both)
}

// perNames call what a feature counts, in formulas.
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
