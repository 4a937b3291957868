package ggml

// Form is a number of bytes as a linear form over the products of symbols that occur.
type Form [forms]int64

const (
	formOne = iota
	formTokens
	formOutputs
	formCells
	formWindowCells
	formSeqs
	formCellsTokens
	formWindowCellsTokens
	formTokensPerSeq // tokens × tokens of one sequence
	formAllCells     // of all streams
	formAllWindowCells
	formPerSeq // tokens of one sequence
	forms
)

// Sizes are the values of the symbols. Tokens must divide by Seqs.
type Sizes struct {
	Tokens, Outputs    int64 // of the micro-batch, and how many of them have logits
	Cells, WindowCells int64 // of one stream, in full and in sliding layers' caches
	Seqs               int64
	Streams            int64 // of the cache
}

func (s Sizes) values() Form {
	per := s.Tokens / max(1, s.Seqs)
	return Form{
		formOne: 1, formTokens: s.Tokens, formOutputs: s.Outputs, formCells: s.Cells, formWindowCells: s.WindowCells, formSeqs: s.Seqs,
		formCellsTokens: s.Cells * s.Tokens, formWindowCellsTokens: s.WindowCells * s.Tokens, formTokensPerSeq: per * s.Tokens,
		formAllCells: s.Cells * max(1, s.Streams), formAllWindowCells: s.WindowCells * max(1, s.Streams), formPerSeq: per,
	}
}

func (f *Form) value(v *Form) (x int64) {
	for i := range f {
		x += f[i] * v[i]
	}
	return x
}

// elements of a dimension.
func (d Dim) elements(v *Form) int64 {
	switch d.Sym {
	case fixed:
		return d.N + int64(d.Plus)
	case perSeq:
		return d.N*v[formTokens]/max(1, v[formSeqs]) + int64(d.Plus)
	}
	var p [symbols]uint8
	p[d.Sym] = 1
	return d.N*v[product(p)] + int64(d.Plus)
}

// size of a node's result.
func (g *Graph) size(x ID) Form {
	nd := g.node(x)
	if nd.odd > 0 {
		return g.odd[nd.odd-1]
	}
	return formOf(nd.typ, &nd.ne)
}

// formOf multiplies dimensions: tokens of a sequence times sequences are tokens. At most one dimension is a
// sum.
func formOf(t Type, ne *extent) (f Form) {
	c, plus, at := width[t], int64(0), 0
	var powers [symbols]uint8
	for i := range ne {
		d := &ne[i]
		c *= d.N
		powers[d.Sym]++
		if d.Plus != 0 {
			plus, at = int64(d.Plus), i
		}
	}
	f[product(powers)] += c
	if plus > 0 {
		d := &ne[at]
		powers[d.Sym]--
		f[product(powers)] += c / d.N * plus
	}
	return f
}

func product(p [symbols]uint8) int {
	for p[perSeq] > 0 && p[seqs] > 0 {
		p[perSeq]--
		p[seqs]--
		p[tokens]++
	}
	switch {
	case p[perSeq] > 0 && p[tokens] > 0:
		return formTokensPerSeq
	case p[windowCells] > 0 && p[tokens] > 0:
		return formWindowCellsTokens
	case p[cells] > 0 && p[tokens] > 0:
		return formCellsTokens
	case p[windowCells] > 0:
		return formWindowCells
	case p[cells] > 0:
		return formCells
	case p[outputs] > 0:
		return formOutputs
	case p[tokens] > 0:
		return formTokens
	case p[seqs] > 0:
		return formSeqs
	}
	return formOne
}
