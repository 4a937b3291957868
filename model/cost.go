package model

import "github.com/memwall/memwall/unit"

// Exec describes choices of arithmetic that an engine makes independently of the model.
type Exec struct {
	// Absorb multiplies MLA's queries and outputs by k_b and v_b instead of expanding the latent.
	Absorb bool
	// ActBytes and KVBytes are the bytes per activation and per cached element.
	ActBytes, KVBytes float64
	// StateBytes is the bytes per element of recurrent state.
	StateBytes float64
	// Spans lists the attention windows, in the order of the Features that will be used.
	Spans []int64
}

// Cost is the work of a step: floating-point operations, and bytes of weights, activations and cache read or written.
type Cost struct {
	FLOPs                                       unit.FLOPs
	Weights, Activations, CacheRead, CacheWrite float64
}

// Coeffs expresses a cost as coefficients of Features.
type Coeffs struct{ FLOPs, Weights, Activations, CacheRead, CacheWrite Features }

// Eval returns the cost at the given features.
func (c *Coeffs) Eval(f *Features) Cost {
	return Cost{unit.FLOPs(dot(&c.FLOPs, f)), dot(&c.Weights, f), dot(&c.Activations, f), dot(&c.CacheRead, f), dot(&c.CacheWrite, f)}
}

func dot(a, b *Features) (x float64) {
	for i := range a {
		x += a[i] * b[i]
	}
	return x
}

// AddN adds n times the coefficients o.
func (c *Coeffs) AddN(o *Coeffs, n float64) {
	for i := range c.FLOPs {
		c.FLOPs[i] += n * o.FLOPs[i]
		c.Weights[i] += n * o.Weights[i]
		c.Activations[i] += n * o.Activations[i]
		c.CacheRead[i] += n * o.CacheRead[i]
		c.CacheWrite[i] += n * o.CacheWrite[i]
	}
}

// Coeffs returns the work of one operator; this is where the formulas are. bytes returns the stored size of the
// operator's i-th tensor. A multiply-add counts as two operations.
func (o *Op) Coeffs(e *Exec, bytes func(i int) unit.Bytes) (c Coeffs) {
	o.Into(&c, e, bytes)
	return c
}

// Into is Coeffs for a zeroed result, which avoids copying.
func (o *Op) Into(c *Coeffs, e *Exec, bytes func(i int) unit.Bytes) {
	if o.Rows == PerSource || o.Rows == PerOther {
		return
	}
	row := o.rowFeature()
	o.weightTraffic(c, bytes)
	switch o.Kind {
	case Embed:
		c.Activations[Tokens] = e.ActBytes * float64(o.Out)
	case Linear, Head, Route:
		o.linear(c, row, 1, e)
	case ExpertLinear:
		// the share of a token's choices that land on the experts held here
		o.linear(c, row, float64(o.Moe.Used)/float64(o.Moe.N), e)
	case Attention:
		o.attention(c, row, e)
	case Conv:
		s := o.Scan
		c.FLOPs[row] = 2 * float64(s.Conv*s.ConvDim())
		c.CacheRead[Seqs] = e.StateBytes * float64(s.ConvElems())
		c.CacheWrite[Seqs] = c.CacheRead[Seqs]
		c.Activations[row] = 2 * e.ActBytes * float64(s.ConvDim())
	case Scan:
		s := o.Scan
		// decay, outer product, accumulate, read out: four multiply-adds per state element
		c.FLOPs[row] = 8 * float64(s.StateElems())
		if s.Long {
			c.FLOPs[row] = max(c.FLOPs[row], fftWork*float64(s.Inner))
		}
		c.CacheRead[Seqs] = e.StateBytes * float64(s.StateElems())
		c.CacheWrite[Seqs] = c.CacheRead[Seqs]
		c.Activations[row] = e.ActBytes * float64(2*s.Inner+2*s.Groups*s.State)
	case Combine:
		k := float64(o.Moe.Used)
		c.FLOPs[row] = 2 * k * float64(o.Out)
		c.Activations[row] = e.ActBytes * (k + 1) * float64(o.Out)
	case Norm:
		c.FLOPs[row] = 4 * float64(o.Out)
		c.Activations[row] = 2 * e.ActBytes * float64(o.Out)
	case Glu, Act, Add, Scale, Rope, Mix:
		n := float64(o.Out) * o.choices()
		c.FLOPs[row] = 2 * n
		c.Activations[row] = 3 * e.ActBytes * n
	}
}

// fftWork is the FLOPs per token and channel of a long convolution by FFT over twice the tokens: one complex FFT of the
// input and real FFTs of filter and result (half each), at 5·n·log2(n) operations, for the 131,072 tokens of Evo. At
// 8,192 tokens it is a fifth less.
const fftWork = 2 * (5 + 2.5 + 2.5) * 18

func (o *Op) rowFeature() int {
	if o.Rows == PerOutput {
		return Outputs
	}
	return Tokens
}

func (o *Op) choices() float64 {
	if o.Rows == PerChoice {
		return float64(o.Moe.Used)
	}
	return 1
}

// weightTraffic counts weights read: tables by the row, experts if any token chooses them, everything else once per
// step.
func (o *Op) weightTraffic(c *Coeffs, bytes func(i int) unit.Bytes) {
	for i, t := range o.W {
		b := float64(bytes(i))
		switch {
		case o.Kind == Embed:
			c.Weights[Tokens] += b / float64(t.Rows())
		case t.BatchBy == ByExpert && o.Moe != nil:
			c.Weights[Touched] += b / float64(o.Moe.N)
		default:
			c.Weights[One] += b
		}
	}
}

func (o *Op) linear(c *Coeffs, row int, share float64, e *Exec) {
	for _, t := range o.W {
		if t.Bias || t.Dims < 2 {
			continue
		}
		c.FLOPs[row] += 2 * share * float64(t.Batch*t.Rows()*t.Cols)
		n := float64(t.Rows()+t.Cols) * share
		if o.Kind == ExpertLinear {
			n *= float64(t.Batch)
		}
		c.Activations[row] += e.ActBytes * n
	}
}

func (o *Op) attention(c *Coeffs, row int, e *Exec) {
	a := o.Attn
	a.index(c, e)
	span := max(a.Window, a.Chunk)
	if a.Compress == 0 && a.Chosen > 0 {
		span = a.Chosen
	}
	pairs, read := reach(e, span)
	h := float64(a.Heads)
	if a.Latent != nil {
		o.latent(c, row, pairs, read, e)
		return
	}
	kv := float64(a.KVHeads * (a.DimK + a.DimV))
	if a.CrossEncoder {
		o.crossAttention(c, row, kv, e)
		return
	}
	if a.OneKV {
		kv = float64(a.KVHeads * a.DimK)
	}
	c.Activations[row] = e.ActBytes * (h*float64(a.DimK+a.DimV) + kv)
	c.FLOPs[pairs] += 2 * h * float64(a.DimK+a.DimV)
	if a.Bidirectional {
		// every token sees every other: tokens² = 2 × causal pairs − tokens, and nothing is cached
		c.FLOPs[pairs] *= 2
		c.FLOPs[row] -= 2 * h * float64(a.DimK+a.DimV)
		return
	}
	c.CacheRead[read] += e.KVBytes * kv
	if a.Compress > 0 {
		a.compressed(c, row, kv, e)
	}
	if !a.SharesKV {
		c.CacheWrite[row] = e.KVBytes * kv
	}
}

// reach returns the features that attention over at most span positions scales with; a span of 0 is unbounded.
func reach(e *Exec, span int64) (pairs, read int) {
	if i := index(e.Spans, span); i >= 0 && i < MaxSpans {
		return pairsW + 2*i, pairsW + 2*i + 1
	}
	return Pairs, Read
}

// compressed adds attention over compressed rows: one for every Compress tokens beyond the window, all of them or those
// chosen.
func (a *Attn) compressed(c *Coeffs, row int, kv float64, e *Exec) {
	pairs, read := reach(e, a.Chosen)
	n := float64(a.Compress)
	c.FLOPs[pairs] += 2 * float64(a.Heads*(a.DimK+a.DimV)) / n
	c.CacheRead[read] += e.KVBytes * kv / n
	c.CacheWrite[row] += e.KVBytes * kv / n
}

// index adds the work of the indexer, whose queries meet the keys of all positions. FP8 keys carry a four-byte scale
// per 128 elements.
func (a *Attn) index(c *Coeffs, e *Exec) {
	x := a.Index
	if x == nil {
		return
	}
	n, bytes := float64(max(1, x.Every)), float64(x.Dim)*(1+4.0/128)
	if x.Plain {
		bytes = float64(x.Dim) * e.KVBytes
	}
	c.FLOPs[Pairs] += 2 * float64(x.Heads*x.Dim) / n
	c.CacheRead[Read] += bytes / n
	c.CacheWrite[Tokens] += bytes / n
}

// crossAttention reads every token of the source and writes nothing. A source of unknown length counts as long as the
// context.
func (o *Op) crossAttention(c *Coeffs, row int, kv float64, e *Exec) {
	a := o.Attn
	h := float64(a.Heads)
	if a.Source > 0 {
		c.FLOPs[row] = 2 * h * float64(a.DimK+a.DimV) * float64(a.Source)
		c.CacheRead[Seqs] = e.KVBytes * kv * float64(a.Source)
	} else {
		c.FLOPs[Pairs] = 2 * h * float64(a.DimK+a.DimV)
		c.CacheRead[Read] = e.KVBytes * kv
	}
	c.Activations[row] = e.ActBytes * h * float64(a.DimK+a.DimV)
}

// latent adds MLA's attention, which either absorbs the up-projections into queries and outputs (decode) or expands the
// latent of every position read into keys and values (prefill). DeepSeek-V2, arXiv:2405.04434.
func (o *Op) latent(c *Coeffs, row, pairs, read int, e *Exec) {
	l, h := o.Attn.Latent, float64(o.Attn.Heads)
	expand := 2 * h * float64(l.Rank) * float64(l.Nope+l.V)
	if e.Absorb {
		c.FLOPs[row] += expand
		c.FLOPs[pairs] += 2 * h * float64(2*l.Rank+l.Rope)
	} else {
		c.FLOPs[read] += expand
		c.FLOPs[pairs] += 2 * h * float64(l.Nope+l.Rope+l.V)
	}
	c.CacheRead[read] += e.KVBytes * float64(l.Width())
	c.CacheWrite[row] += e.KVBytes * float64(l.Width())
	c.Activations[row] = e.ActBytes * h * float64(l.Nope+l.Rope+l.V)
}

func index(s []int64, x int64) int {
	if x > 0 {
		for i, y := range s {
			if x == y && i < MaxSpans {
				return i
			}
		}
	}
	return -1
}

// Compile sums the coefficients of a part whose tensors are stored as w says.
func (p *Part) Compile(w *PartWeights, e *Exec) (c Coeffs) {
	fold := func(k *Kind, stored []Stored, count int64) {
		at := 0
		for i := range k.Ops {
			o := &k.Ops[i]
			from := at
			if !o.Lent {
				at += len(o.W)
			}
			x := o.Coeffs(e, func(j int) unit.Bytes {
				if o.Lent {
					return p.lentBytes(w, o.W[j])
				}
				return stored[from+j].Bytes
			})
			c.AddN(&x, float64(count))
		}
	}
	fold(&p.Pre, w.Pre, 1)
	for i := range w.Variants {
		v := &w.Variants[i]
		fold(&p.Kinds[v.Kind], v.Tensors, v.Count)
	}
	fold(&p.Post, w.Post, 1)
	return c
}

// lentBytes returns the stored size of a borrowed tensor: a tied head reads the embedding table, a layer a block shared
// with an earlier one.
func (p *Part) lentBytes(w *PartWeights, t *Tensor) (found unit.Bytes) {
	look := func(k *Kind, stored []Stored) {
		i := 0
		k.owned(func(x *Tensor) {
			if x == t {
				found = stored[i].Bytes
			}
			i++
		})
	}
	look(&p.Pre, w.Pre)
	for i := range w.Variants {
		look(&p.Kinds[w.Variants[i].Kind], w.Variants[i].Tensors)
	}
	return found
}
