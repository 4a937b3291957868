package stream

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/speed"
)

// group is the matrices of one stored format.
type group struct {
	format string
	// Bytes and elements of what every token reads, of all experts, and of the head.
	dense, experts, head               float64
	denseElems, expertElems, headElems float64
}

// bytes that a stage reads of the group for a token, or for tokens that touch a share of the experts.
func (g *group) bytes(s *Stage, touched float64) float64 {
	return g.dense*s.Dense + g.experts*touched*s.Experts + g.head*s.Head
}

// elems are the elements of that.
func (g *group) elems(s *Stage, touched float64) float64 {
	return g.denseElems*s.Dense + g.expertElems*touched*s.Experts + g.headElems*s.Head
}

// Work is the work of a model per token and per prompt, summed over its kernels.
type Work struct {
	groups []group
	layers float64
	// kernels are launches of a step; those of mixtures of experts and of scans are counted again apart.
	kernels, expertKernels, scanKernels float64
	matrices, expertMatrices            float64
	// used is the share of the experts that a token goes through; 1 without experts.
	used float64
	// sharing is how many query heads share a key, the mean over attention layers in logarithms; attending their number.
	sharing, attending float64
	// heads compares the width of a head with 128, the mean over attention layers in logarithms.
	heads float64
	moe   *model.Experts
	// cache of attention and states: what a step reads and writes, and its operations.
	decode, prefill model.Coeffs
	spans           []int64
	total           float64 // stored bytes
}

// WorkOf sums the kernels of a model on one device with cached elements of kvBytes bytes.
func WorkOf(m *model.Model, w *model.Weights, kvBytes float64) (*Work, error) {
	places, err := engine.Place(m.Decoder(), &w.Parts[0], shard.Parallel{})
	if err != nil {
		return nil, err
	}
	out := &Work{used: 1}
	r := speed.Walk(m, &places[0], model.Exec{ActBytes: 2, KVBytes: kvBytes, StateBytes: 4}, out.kernel)
	out.layers, out.moe, out.spans = float64(r.Layers), r.Moe, r.Spans
	if r.Moe != nil {
		out.used = float64(r.Moe.Used) / float64(r.Moe.N)
	}
	if out.attending > 0 {
		out.sharing /= out.attending
		out.heads /= out.attending
	}
	slices.SortFunc(out.groups, func(a, b group) int { return cmp.Compare(a.format, b.format) })
	out.total = float64(r.Weights)
	return out, nil
}

func (w *Work) kernel(k *speed.Kernel) {
	n := float64(k.Count)
	if k.Attn != nil || k.Scan != nil {
		w.decode.AddN(&k.Decode, n)
		w.prefill.AddN(k.Prefill(), n)
	}
	if a := k.Attn; a != nil {
		w.sharing += n * math.Log(float64(a.Heads)/float64(max(1, a.KVHeads)))
		w.heads += n * math.Log(float64(max(1, a.DimK))/128)
		w.attending += n
	}
	launches := n * launches(k.Op.Kind)
	w.kernels += launches
	switch {
	case k.Op.Kind == model.ExpertLinear || k.Op.Kind == model.Route || k.Op.Kind == model.Combine:
		w.expertKernels += launches
	case k.Scan != nil:
		w.scanKernels += launches
	}
	if k.Scheme == nil || k.Op.Kind == model.Embed || k.Attn != nil && k.Bytes == 0 {
		return
	}
	w.matrices += n * float64(max(1, k.Batch))
	g := w.group(k.Scheme.Name)
	bytes, elems := n*float64(k.Bytes), n*float64(k.Batch*k.Rows*k.Cols)
	switch {
	case k.Op.Kind == model.Head:
		g.head += headBytes(k)
		g.headElems += elems
	case k.Op.Kind == model.ExpertLinear:
		g.experts += bytes
		w.expertMatrices += n * float64(k.Batch)
		g.expertElems += elems
	default:
		g.dense += bytes
		g.denseElems += elems
	}
}

// headBytes of a head that borrows the embedding table, which it reads all the same.
func headBytes(k *speed.Kernel) float64 { return k.Decode.Weights[model.One] }

// launches is how many kernels an operator takes: a router sorts and normalises, views cost nothing.
func launches(k model.OpKind) float64 {
	switch k {
	case model.Slice, model.Concat, model.Gather:
		return 0
	case model.Route:
		return 4
	case model.Combine, model.Scan:
		return 2
	}
	return 1
}

func (w *Work) group(format string) *group {
	for i := range w.groups {
		if w.groups[i].format == format {
			return &w.groups[i]
		}
	}
	w.groups = append(w.groups, group{format: format})
	return &w.groups[len(w.groups)-1]
}

// scaled has the matrices as large as a file is said to be: names of quantisations stand for mixtures that
// differ from file to file.
func (w *Work) scaled(by float64) *Work {
	out := *w
	out.groups = slices.Clone(w.groups)
	for i := range out.groups {
		g := &out.groups[i]
		g.dense, g.experts, g.head = by*g.dense, by*g.experts, by*g.head
	}
	out.total *= by
	return &out
}

// read are the bytes of keys, values and states that a token at a depth reads and writes.
func (w *Work) read(depth float64) float64 {
	f := model.Step{Tokens: 1, Seqs: 1, Outputs: 1, Context: int64(depth)}.Features(w.spans, nil)
	c := w.decode.Eval(&f)
	return c.CacheRead + c.CacheWrite
}

// attention is the operations of attention and scans over a prompt of n tokens behind depth others.
func (w *Work) attention(n, depth float64) float64 {
	f := model.Step{Tokens: int64(n), Seqs: 1, Outputs: 1, Context: int64(depth)}.Features(w.spans, nil)
	return float64(w.prefill.Eval(&f).FLOPs)
}

// perToken are the bytes of weights that a token reads.
func (w *Work) perToken() (b float64) {
	for _, g := range w.groups {
		b += g.dense + g.experts*w.used + g.head
	}
	return b
}

// expertWidth compares the matrices of experts with 2048 by 2048, in logarithms.
func (w *Work) expertWidth() float64 {
	elems := 0.0
	for _, g := range w.groups {
		elems += g.expertElems
	}
	if elems == 0 {
		return 0
	}
	return math.Log(math.Sqrt(elems/w.expertMatrices) / 2048)
}

// expertFormat is what most of the experts are stored in.
func (w *Work) expertFormat() (format string) {
	most := 0.0
	for _, g := range w.groups {
		if g.experts > most {
			most, format = g.experts, g.format
		}
	}
	return format
}

// format is what most of the matrices are stored in.
func (w *Work) format() (format string) {
	most := 0.0
	for _, g := range w.groups {
		if b := g.dense + g.experts + g.head; b > most {
			most, format = b, g.format
		}
	}
	return format
}

// reads is the share of the experts that a step of n users reads.
func (w *Work) reads(n float64) float64 {
	if n <= 1 {
		return w.used
	}
	return math.Max(w.used, w.touched(n))
}

// touched is the share of the experts that n tokens go through together.
func (w *Work) touched(n float64) float64 {
	if w.moe == nil {
		return 1
	}
	return math.Min(1, model.TouchedExperts(w.moe, n)/float64(w.moe.N))
}
