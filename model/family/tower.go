package family

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Names of the parts beside a decoder.
const (
	PartVision  = "vision"
	PartAudio   = "audio"
	PartEncoder = model.PartEncoder
)

// Tower is a stack of layers beside the decoder with what stands before and after it: an encoder that sees,
// hears or reads, and what carries its output to the decoder.
type Tower struct {
	Name          string // of the part; PartVision when empty
	Width         int64  // of the stream of its layers
	Before, After []Weight
	Layers        []Layer
	Tokens        int64 // tokens of one image for the decoder; 0 when it depends on the image's size
	Speaks        bool  // it makes sound of what the decoder gives
}

// Weight is a tensor outside the layers, and its bias.
type Weight struct {
	Role    dtype.Role
	Use     Use
	In, Out int64
	Bias    bool
	Norm    NormKind
	// Branch: it reads what entered the row of weights, not what the one before gives.
	Branch bool
	Fixed  bool // stored and not learned
	// Stream: of which tokens of a denoiser; 0 for all.
	Stream Stream
	// Text: attention to the text's tokens.
	Text bool
	// Joins: it reads what the last attention gave beside what the one before gives.
	Joins bool
}

// Stream is a part of a denoiser's tokens.
type Stream uint8

const (
	BothStreams Stream = iota
	ImageStream
	TextStream
)

var streamRows = map[Stream]model.Rows{ImageStream: model.PerImage, TextStream: model.PerText}

// on puts a row of weights on one stream, save those that are on one already.
func (s Stream) on(row ...Weight) []Weight {
	for i := range row {
		if row[i].Stream == BothStreams {
			row[i].Stream = s
		}
	}
	return row
}

// Use is what a weight does.
type Use uint8

const (
	Maps      Use = iota // Out results of In inputs; convolutions take channels × kernel inputs
	LooksUp              // a row of Out numbers from a table of In rows, added
	Norms                // a normalisation of width Out
	MixesIn              // In × Out numbers that take part as they are: class tokens, separators, gates
	Attends              // attention without a cache, of In heads that are Out wide; no tensor
	Activates            // GELU of what the one before gives; with Out, its first numbers are gates of the others, so many
	Steered              // what Steers does, by a matrix that stands elsewhere
	Steers               // a matrix of what all tokens are conditioned on, multiplied once a step
)

func mapping(role dtype.Role, in, out int64, bias bool) Weight {
	return Weight{Role: role, In: in, Out: out, Bias: bias}
}

func table(role dtype.Role, rows, width int64) Weight {
	return Weight{Role: role, Use: LooksUp, In: rows, Out: width}
}

func norms(role dtype.Role, kind NormKind, width int64) Weight {
	return Weight{Role: role, Use: Norms, Norm: kind, Out: width}
}

func mixesIn(role dtype.Role, n int64) Weight {
	return Weight{Role: role, Use: MixesIn, In: 1, Out: n}
}

func branched(w Weight) Weight {
	w.Branch = true
	return w
}

// joined reads what the last attention gave too.
func joined(w Weight) Weight {
	w.Joins = true
	return w
}

// towers lists every tower of the model.
func (s *Spec) towers() []*Tower {
	if s.Vision == nil {
		return s.Beside
	}
	return append([]*Tower{s.Vision}, s.Beside...)
}

func (s *Spec) partName() string {
	if s.Encodes {
		return PartEncoder
	}
	return "decoder"
}

func (t *Tower) name() string {
	if t.Name == "" {
		return PartVision
	}
	return t.Name
}

func (t *Tower) part() model.Part {
	s := &partBuilder{Spec: &Spec{Hidden: t.Width}}
	p := s.part(t.name(), t.Layers)
	p.Speaks = t.Speaks
	p.Pre, p.Post = end("before", t.Before, t.Width), end("after", t.After, t.Width)
	return p
}

func end(name string, weights []Weight, width int64) model.Kind {
	b := &kindBuilder{}
	b.weights(weights, 0, width)
	b.k.Name = name
	return b.k
}

// weights appends the operators of a row of weights to a stream of a width.
func (b *kindBuilder) weights(row []Weight, x model.Val, width int64) model.Val {
	from, attended := x, x
	for i := range row {
		if row[i].Branch {
			x = from
		}
		n := len(b.k.Ops)
		if row[i].Joins {
			x = b.op(model.Op{Kind: model.Concat, Out: row[i].In}, attended, x)
		}
		if x = b.weight(&row[i], x, width); row[i].Use == Attends {
			attended = x
		}
		if s := row[i].Stream; s != BothStreams {
			for j := n; j < len(b.k.Ops); j++ {
				b.k.Ops[j].Rows = streamRows[s]
			}
		}
	}
	return x
}

func (b *kindBuilder) weight(w *Weight, x model.Val, width int64) model.Val {
	switch w.Use {
	case LooksUp:
		t := matrix(w.Role, unsplit(w.In), unsplit(w.Out))
		t.Table = w.Fixed
		e := b.op(model.Op{Kind: model.Embed, Role: w.Role, Out: w.Out, W: []*model.Tensor{t}})
		return b.add(x, e, w.Out)
	case Norms:
		if n := b.rowWidth(x, width); w.Norm == RMS && w.Out > 0 && w.Out < n && n%w.Out == 0 {
			return b.headNorm(w.Role, x, w.Out)
		}
		return b.norm(w.Norm, w.Role, x, w.Out)
	case MixesIn:
		t := fixed(w.Role, w.Out, w.In)
		if w.In == 1 {
			t.Dims = 1
		}
		return b.scale(x, width, t)
	case Attends:
		return b.attendsTo(w, x)
	case Activates:
		if w.Out > 0 {
			return b.glu(model.SiLU, b.slice(x, w.Out, 0, 0), b.slice(x, w.Out, w.Out, 0), 0)
		}
		return b.act(model.GELU, x)
	case Steers, Steered:
		return b.steer(w, x, width)
	}
	return b.linear(x, matrix(w.Role, unsplit(w.Out), unsplit(w.In)), w.Bias)
}

// rowWidth of a value, the stream's where it enters the row.
func (b *kindBuilder) rowWidth(x model.Val, width int64) int64 {
	if x == 0 {
		return width
	}
	return b.width(x)
}

// impossibleWeight finds a weight whose size cannot be.
func (t *Tower) impossibleWeight() *Weight {
	written := [][]Weight{t.Before, t.After}
	for i := range t.Layers {
		if r := t.Layers[i].Row; r != nil {
			written = append(written, r.Weights)
		}
	}
	for _, row := range written {
		for i := range row {
			if w := &row[i]; w.In < 0 || w.Out < 0 || float64(w.In)*float64(w.Out) > 1<<57 {
				return w
			}
		}
	}
	return nil
}

// size of a tower in elements, roughly and not too small by more than the smallest tensors.
func (t *Tower) size() (n float64) {
	for i := range t.Layers {
		n += t.Layers[i].size(float64(t.Width))
	}
	for _, row := range [][]Weight{t.Before, t.After} {
		n += weightSize(row)
	}
	return n
}

func weightSize(row []Weight) (n float64) {
	for _, w := range row {
		n += float64(max(1, w.In)) * float64(w.Out)
	}
	return n
}

// blocks are the layers of a vision transformer (arXiv:2010.11929): layer norms and biases everywhere, an
// ungated MLP, and attention without a cache.
func blocks(n int, width, inner, heads int64) []Layer {
	return repeat(Layer{Norm: LayerNormBias, Attn: seeing(width, heads).bias(true, true, true), FFN: MLP{Inner: inner, Bias: true, Act: GELU}}, n)
}

// seeing is attention of an encoder: every position reads every other.
func seeing(width, heads int64) Attention {
	d := width / max(1, heads)
	return Attention{Heads: heads, KVHeads: heads, DimK: d, DimV: d, NoRope: true, Bidirectional: true}
}
