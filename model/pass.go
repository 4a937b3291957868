package model

import "github.com/memwall/memwall/unit"

// Pass is the arithmetic of one pass of a denoiser over so many tokens of a picture and of the text that it is made for: each
// operator works on the tokens of its stream, and attention joins them. Steps of 16-bit activations.
func (m *Model) Pass(image, text int64) (x unit.FLOPs) {
	m.Decoder().Each(func(k *Kind, n int64) { x += unit.FLOPs(n) * k.pass(image, text) })
	return x
}

func (k *Kind) pass(image, text int64) (x unit.FLOPs) {
	e := Exec{ActBytes: 2, KVBytes: 2, StateBytes: 4}
	for i := range k.Ops {
		o := k.Ops[i]
		if a := o.Attn; a != nil && a.CrossEncoder {
			to := *a
			to.Source = text
			o.Attn = &to
		}
		if o.Rows == PerText && text == 0 {
			continue
		}
		f := o.stream(image, text).Features(nil, o.Moe)
		c := o.Coeffs(&e, func(int) unit.Bytes { return 0 })
		x += c.Eval(&f).FLOPs
	}
	return x
}

// stream is the step that an operator sees of a pass.
func (o *Op) stream(image, text int64) Step {
	n := image + text
	switch o.Rows {
	case PerImage:
		n = image
	case PerText:
		n = text
	}
	return Step{Tokens: n, Seqs: 1, Outputs: n}
}
