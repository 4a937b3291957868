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
	formTokensTokens // within a sequence: perSeq × tokens
	forms
)

// Sizes are the values of the symbols.
type Sizes struct {
	Tokens, Outputs, Cells, WindowCells, Seqs int64
}

func (s Sizes) values() Form {
	per := s.Tokens / max(1, s.Seqs)
	return Form{
		formOne: 1, formTokens: s.Tokens, formOutputs: s.Outputs, formCells: s.Cells, formWindowCells: s.WindowCells, formSeqs: s.Seqs,
		formCellsTokens: s.Cells * s.Tokens, formWindowCellsTokens: s.WindowCells * s.Tokens, formTokensTokens: per * s.Tokens,
	}
}

func (f *Form) at(v *Form) (x int64) {
	for i := range f {
		x += f[i] * v[i]
	}
	return x
}

// term is a coefficient times a product of symbols.
type term struct {
	c      int64
	powers [symbols]uint8
}

// formOf multiplies dimensions: tokens of a sequence times sequences are tokens.
func formOf(t Type, ne [4]Dim) (f Form) {
	var terms [16]term
	terms[0].c = width[t]
	count := 1
	for _, d := range ne {
		if d.N == 0 {
			for i := range count {
				terms[i].c *= d.Add
			}
			continue
		}
		for i := range count {
			if d.Add != 0 {
				terms[count] = terms[i]
				terms[count].c *= d.Add
				count++
			}
			terms[i].c *= d.N
			terms[i].powers[d.Sym]++
		}
	}
	for _, x := range terms[:count] {
		f[product(x.powers)] += x.c
	}
	return f
}

func product(p [symbols]uint8) int {
	if p[perSeq] > 0 && p[seqs] > 0 {
		p[perSeq]--
		p[seqs]--
		p[tokens]++
	}
	switch {
	case p[perSeq] > 0 && p[tokens] > 0:
		return formTokensTokens
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
