package family

import (
	"cmp"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
)

// Model turns a Spec into operators and tensors.
func (s *Spec) Model(id string) *model.Model {
	m := &model.Model{ID: id, Arch: s.Arch, Family: s.Family, Vocab: s.Vocab, Hidden: s.Hidden, Context: s.Context, Tied: s.Tied && !s.NoHead && s.Score == 0, Native: s.Native, State: s.Source.State, Rotary: s.Source.Rotary}
	b := partBuilder{Spec: s, tables: s.tables(), blocks: map[blockTensor]*model.Tensor{}}
	if s.Vocab > 0 || len(s.Layers) > 0 {
		dec := b.part(s.partName(), s.Layers)
		dec.Pre, dec.Post = b.ends()
		m.Parts = append(m.Parts, dec)
	}
	if len(s.MTP) > 0 {
		m.Parts = append(m.Parts, b.mtp())
	}
	for _, t := range s.towers() {
		m.Parts = append(m.Parts, t.part())
	}
	m.Traits = s.traits()
	for _, f := range s.FileNames {
		f.write(m)
	}
	return m
}

// write gives the tensors of the role their name.
func (f FileName) write(m *model.Model) {
	for i := range m.Parts {
		m.Parts[i].Tensors(func(_ int, t *model.Tensor) {
			if t.Role == f.Role {
				t.Called = f.Name
			}
		})
	}
}

// partBuilder builds parts that share the stored tables of rotary factors.
type partBuilder struct {
	*Spec
	tables []*model.Tensor
	blocks map[blockTensor]*model.Tensor // of blocks that layers share
}

func (s *Spec) tables() (out []*model.Tensor) {
	for _, table := range s.Tables {
		v := vector(table.Role, table.Rows, model.Whole, 0)
		v.Table = true
		out = append(out, v)
	}
	return out
}

// part gives each distinct layer a kind.
func (s *partBuilder) part(name string, layers []Layer) model.Part {
	p := model.Part{Name: name, Layers: make([]uint8, len(layers))}
	var seen []Layer
	for i, l := range layers {
		k := 0
		for k < len(seen) && seen[k] != l {
			k++
		}
		if k == len(seen) {
			seen = append(seen, l)
			p.Kinds = append(p.Kinds, s.kind(l))
		}
		p.Layers[i] = uint8(k)
	}
	p.Count()
	return p
}

func (s *Spec) traits() (t model.Traits) {
	t.Trailing = s.Trailing
	scans, attends := false, false
	for i := range s.Layers {
		l := &s.Layers[i]
		for _, of := range [][2]int64{{l.Attn.Heads, l.Attn.KVHeads}, {l.Shared.Heads, l.Shared.KVHeads}} {
			if of[0] > 0 && !attends {
				t.Heads, t.KVHeads, attends = of[0], of[1], true
			}
		}
		scans = scans || l.SSM.Inner > 0
		if l.MoE.Experts > 0 {
			t.Experts, t.ExpertsUsed = l.MoE.Experts, l.MoE.Used
		}
	}
	t.Hybrid, t.Multimodal = scans && attends, s.Vision != nil && !s.Encodes
	if s.Vision != nil {
		t.ImageTokens = s.Vision.Tokens
	}
	return t
}

func (s *partBuilder) ends() (pre, post model.Kind) {
	b := &kindBuilder{}
	embedding := s.embed(b)
	pre = b.k
	pre.Name = "embedding"
	b = &kindBuilder{}
	s.head(b, embedding)
	post = b.k
	post.Name = "head"
	return pre, post
}

func (s *partBuilder) embed(b *kindBuilder) *model.Tensor {
	t := matrix(dtype.TokenEmbd, vocabulary(s.Vocab+s.ExtraTokens), unsplit(s.Hidden))
	x := b.op(model.Op{Kind: model.Embed, Role: t.Role, Out: s.Hidden, W: []*model.Tensor{t}, Lent: s.Draft.Embed})
	if s.Segments > 0 {
		t := matrix(dtype.TokenTypes, unsplit(s.Segments), unsplit(s.Hidden))
		x = b.add(x, b.op(model.Op{Kind: model.Embed, Role: t.Role, Out: s.Hidden, W: []*model.Tensor{t}}), s.Hidden)
	}
	if s.Positions > 0 {
		p := matrix(dtype.PositionEmbd, unsplit(s.Positions), unsplit(s.Hidden))
		x = b.add(x, b.op(model.Op{Kind: model.Embed, Role: p.Role, Out: s.Hidden, W: []*model.Tensor{p}}), s.Hidden)
	}
	x = s.grams(b, x)
	if s.EmbedScale {
		x = b.scale(x, s.Hidden)
	}
	x = b.weights(s.Before, x, s.Hidden)
	x = b.targetStates(&s.Draft, x, s.Hidden)
	if s.EmbedNorm != NoNorm {
		x = b.norm(s.EmbedNorm, dtype.TokenEmbdNorm, x, s.Hidden)
	}
	side := s.perLayerInputs(b, x)
	x = s.streams(b, x)
	for _, v := range s.tables {
		b.op(model.Op{Kind: model.Rope, Role: v.Role, W: []*model.Tensor{v}})
	}
	b.k.Out, b.k.Side = x, side
	return t
}

// grams adds what a table holds of the last tokens together: one row of each token, however large the table is.
func (s *Spec) grams(b *kindBuilder, x model.Val) model.Val {
	if s.Grams == 0 {
		return x
	}
	t := matrix(dtype.PerLayerEmbd, vocabulary(s.Grams), unsplit(s.GramWidth))
	e := b.op(model.Op{Kind: model.Embed, Role: t.Role, Out: s.GramWidth, W: []*model.Tensor{t}})
	return b.add(x, b.linear(e, matrix(dtype.PerLayerProj, unsplit(s.Hidden), unsplit(s.GramWidth)), false), s.Hidden)
}

// perLayerInputs: Gemma 3n and 4 look up a small vector per layer and token and mix in a projection of the
// embedding. 0 for none.
func (s *Spec) perLayerInputs(b *kindBuilder, x model.Val) model.Val {
	if s.PLE == 0 {
		return 0
	}
	n := s.PLE * int64(len(s.Layers))
	t := matrix(dtype.PerLayerEmbd, vocabulary(s.PLEVocab), unsplit(n))
	e := b.scale(b.op(model.Op{Kind: model.Embed, Role: t.Role, Out: n, Unit: s.PLE, W: []*model.Tensor{t}}), n)
	p := b.scale(b.linear(x, matrix(dtype.PerLayerProj, unsplit(n), unsplit(s.Hidden)), false), n)
	return b.scale(b.add(b.headNorm(dtype.PerLayerProjNorm, p, s.PLE), e, n), n)
}

// streams widens the embedding to parallel residual streams.
func (s *Spec) streams(b *kindBuilder, x model.Val) model.Val {
	if s.Hyper > 1 {
		return b.op(model.Op{Kind: model.Mix, Out: s.Hyper * s.Hidden}, x)
	}
	if s.AltUp <= 1 {
		return x
	}
	return b.op(model.Op{Kind: model.Mix, Role: dtype.AltupProj, Out: s.AltUp * s.Hidden, W: []*model.Tensor{s.stack(dtype.AltupProj)}}, x)
}

// stack of the matrices that carry the embedding to the other streams, or back.
func (s *Spec) stack(role dtype.Role) *model.Tensor {
	t := matrix(role, unsplit(s.Hidden), unsplit(s.Hidden))
	t.Batch, t.Dims = s.AltUp-1, 3
	return t
}

// oneStream is what the head reads of the streams.
func (s *Spec) oneStream(b *kindBuilder, x model.Val) model.Val {
	if s.HyperMean && s.Hyper > 1 {
		return b.op(model.Op{Kind: model.Mix, Out: s.Hidden}, x)
	}
	return b.collapse(x, s.Hyper, s.Hidden, hyperHead)
}

func (s *Spec) head(b *kindBuilder, embedding *model.Tensor) {
	x := model.Val(0)
	if s.AltUp > 1 {
		x = b.op(model.Op{Kind: model.Mix, Role: dtype.AltupUnembdProj, Out: s.Hidden, W: []*model.Tensor{s.stack(dtype.AltupUnembdProj)}}, x)
	}
	x = s.oneStream(b, x)
	if s.Recall {
		x = b.recall(x, s.Hidden, dtype.RecallOutNorm, dtype.RecallOut)
	}
	x = b.norm(s.OutNorm, dtype.OutputNorm, x, s.Hidden)
	x = b.weights(s.After, x, s.Hidden)
	if s.NoHead {
		return
	}
	if s.HeadInput {
		x = b.scale(x, s.Hidden)
	}
	if s.Score > 0 {
		b.linear(x, matrix(dtype.Score, unsplit(s.Score), unsplit(s.Hidden)), s.HeadBias)
		return
	}
	rows := cmp.Or(s.Draft.HeadRows, s.Vocab)
	t, lent := matrix(dtype.Output, vocabulary(rows), unsplit(s.Hidden)), s.Draft.Head
	if s.Tied {
		t, lent = embedding, true
	}
	o := model.Op{Kind: model.Head, Role: dtype.Output, Out: rows, W: []*model.Tensor{t}, Lent: lent}
	v := &model.Tensor{Role: dtype.Output, Bias: true, Batch: 1, Segs: t.Segs, Cols: 1, Dims: 1}
	if s.HeadBias && !lent {
		o.W = append(o.W, v)
	}
	x = b.op(o, x)
	if s.HeadBias && lent {
		x = b.op(model.Op{Kind: model.Add, Role: dtype.Output, Out: s.Vocab, W: []*model.Tensor{v}}, x) // the bias is the head's own
	}
	if s.HeadScale {
		x = b.scale(x, s.Vocab)
	}
	if s.HeadCap {
		b.act(model.Softcap, x)
	}
	for i := range b.k.Ops {
		b.k.Ops[i].Rows = model.PerOutput
	}
}

// kind builds one structure of layer.
func (s *partBuilder) kind(l Layer) model.Kind {
	b := &layerBuilder{kindBuilder: &kindBuilder{}, l: l, h: s.Hidden, tables: s.tables, blocks: s.blocks}
	switch {
	case l.Row != nil:
		b.row()
	case l.AltUp > 1:
		b.altUp()
	case l.Hyper > 1:
		b.hyper()
	case l.Place == Single:
		b.single()
	case l.Place == Parallel || l.Place == Parallel2 || l.Place == Parallel2Attn:
		b.parallel()
	default:
		b.sequential()
	}
	b.branches()
	b.k.Name = b.name()
	return b.k
}

type layerBuilder struct {
	*kindBuilder
	l      Layer
	h      int64
	tables []*model.Tensor // of rotary factors, lent to ropes
	blocks map[blockTensor]*model.Tensor
}

func (b *layerBuilder) name() string {
	n := ""
	switch l := &b.l; {
	case l.Row != nil:
		return l.Row.Name
	case l.SSM.Inner > 0 && (l.Attn.Heads > 0 || l.Shared.Heads > 0):
		n = "attention, mamba"
	case l.SSM.Inner > 0 && (l.SSM.Style == DeltaNet || l.SSM.Style == DeltaHeads):
		n = "delta net"
	case l.SSM.Inner > 0 && l.SSM.Style == Lightning:
		n = "linear attention"
	case l.SSM.Inner > 0 && l.SSM.mixesTime():
		n = "time mix"
	case l.SSM.Inner > 0 && l.SSM.Style == ShortOnly:
		n = "short convolution"
	case l.SSM.Inner > 0 && l.SSM.Style == LongConv:
		n = "long convolution"
	case l.SSM.Inner > 0:
		n = "mamba"
	case l.Attn.KVRank > 0:
		n = "latent attention"
	case l.Attn.Window > 0:
		n = "sliding attention"
	case l.Attn.Chunk > 0:
		n = "chunked attention"
	case l.Attn.Heads > 0 && l.Cross.Heads > 0:
		n = "attention, cross-attention"
	case l.Attn.Heads > 0:
		n = "attention"
	case l.Cross.Heads > 0:
		n = "cross-attention"
	}
	switch l := &b.l; {
	case l.MoE.Experts > 0 && n != "":
		return n + ", experts"
	case l.MoE.Experts > 0:
		return "experts"
	case n == "":
		return "FFN"
	}
	return n
}

func (b *layerBuilder) before(role dtype.Role, x model.Val) model.Val {
	if b.l.Place == PostNorm || b.l.Place == AfterSum || role == dtype.AttnNorm && b.l.NoAttnNorm {
		return x
	}
	return b.norm(b.l.Norm, role, x, b.h)
}

func (b *layerBuilder) after(role dtype.Role, x model.Val) model.Val {
	switch b.l.Place {
	case SandwichOut:
		return b.norm(b.l.Norm, outNorm[role], x, b.h)
	case PostNorm, Sandwich:
		return b.norm(b.l.Norm, role, x, b.h)
	}
	return x
}

// outNorm is what some files call the norms behind the branches.
var outNorm = map[dtype.Role]dtype.Role{dtype.AttnPostNorm: dtype.AttnOutNorm, dtype.FFNPostNorm: dtype.LayerOutNorm}

func (b *layerBuilder) residual(x, r model.Val) model.Val {
	if b.l.ResidualScale {
		x = b.scale(x, b.h)
	}
	return b.add(x, r, b.h)
}

func (b *layerBuilder) sequential() {
	r := model.Val(0)
	if b.l.mixes() {
		x := b.joined(b.before(dtype.AttnNorm, b.recalled(0, dtype.RecallAttnNorm, dtype.RecallAttn)))
		o := b.gather(b.gated(dtype.AttnGateScale, b.weighed(dtype.LayerScale1, b.mixer(x))), b.h)
		r = b.sum(dtype.AttnOutNorm, b.after(dtype.AttnPostNorm, o), 0)
	}
	if b.l.Cross.Heads > 0 {
		o := b.gated(dtype.CrossGate, b.cross(b.before(dtype.CrossNorm, r)))
		r = b.sum(dtype.CrossOutNorm, o, r)
	}
	if !b.l.feeds() {
		return
	}
	f := b.feedForward(b.l.Place.ffnNorm(), b.recalled(r, dtype.RecallFFNNorm, dtype.RecallFFN))
	f = b.gated(dtype.FFNGateScale, b.weighed(dtype.LayerScale2, f))
	out := b.sum(dtype.LayerOutNorm, b.after(dtype.FFNPostNorm, f), r)
	if b.l.MoE.Behind {
		out = b.add(b.mlp(b.norm(b.l.Norm, dtype.FFNPreNorm2, out, b.h), b.l.FFN), out, b.h)
	}
	if b.l.PLE > 0 {
		out = b.perLayer(out)
	}
	if b.l.OutScale {
		b.scale(out, b.h, vector(dtype.LayerOutScale, 1, model.Whole, 0))
	}
}

func (b *layerBuilder) recalled(x model.Val, norm, proj dtype.Role) model.Val {
	if !b.l.Recall {
		return x
	}
	return b.recall(x, b.h, norm, proj)
}

// recall weighs the stream and the outputs of earlier blocks of layers by a score of each.
func (b *kindBuilder) recall(x model.Val, width int64, norm, proj dtype.Role) model.Val {
	score := matrix(proj, unsplit(1), unsplit(width))
	score.Adapt = false
	return b.op(model.Op{Kind: model.Mix, Role: proj, Out: width, W: []*model.Tensor{vector(norm, width, model.Whole, 0), score}}, x)
}

// mixes and feeds: a layer may lack its mixer or its FFN (Llama-Nemotron).
func (l *Layer) mixes() bool { return l.Attn.Heads > 0 || l.SSM.Inner > 0 || l.Linear }
func (l *Layer) feeds() bool { return l.FFN.Inner > 0 || l.MoE.Experts > 0 }

// ffnNorm is what GGUF files call the norm before the FFN.
func (p NormPlace) ffnNorm() dtype.Role {
	switch p {
	case PreNormPost:
		return dtype.AttnPostNorm
	case PreNormOut:
		return dtype.AttnMidNorm
	case PreNorm2:
		return dtype.AttnNorm2
	}
	return dtype.FFNNorm
}

// feedForward: the dense MLP or the experts, or both side by side with norms of their own (Gemma 4).
func (b *layerBuilder) feedForward(role dtype.Role, r model.Val) model.Val {
	if !b.l.MoE.Beside {
		return b.ffn(b.before(role, r))
	}
	d := b.norm(b.l.Norm, dtype.FFNPostNorm1, b.mlp(b.before(role, r), b.l.FFN), b.h)
	e := b.norm(b.l.Norm, dtype.FFNPostNorm2, b.moe(b.norm(b.l.Norm, dtype.FFNPreNorm2, r, b.h), b.chooser(r)), b.h)
	return b.add(d, e, b.h)
}

func (b *layerBuilder) parallel() {
	x := b.norm(b.l.Norm, dtype.AttnNorm, 0, b.h)
	y := x
	if b.l.Place == Parallel2Attn {
		x = b.norm(b.l.Norm, dtype.AttnNorm2, 0, b.h)
	}
	o := b.gather(b.mixer(x), b.h)
	if b.l.Cross.Heads > 0 {
		o = b.add(o, b.cross(x), b.h)
	}
	if b.l.Place == Parallel2 {
		y = b.norm(b.l.Norm, dtype.FFNNorm, 0, b.h)
	}
	f := b.ffn(y)
	switch b.l.Sum {
	case Branches:
		b.add(b.add(o, f, b.h), 0, b.h)
	case FFNBranches:
		b.add(b.add(f, o, b.h), 0, b.h)
	case MixerFirst:
		b.add(f, b.add(o, 0, b.h), b.h)
	default:
		b.add(b.add(f, 0, b.h), o, b.h)
	}
}

func (b *layerBuilder) single() {
	x := model.Val(0)
	if b.l.Shared.Heads > 0 {
		x = b.sharedBlock()
	}
	x = b.norm(b.l.Norm, dtype.AttnNorm, x, b.h)
	var o model.Val
	if b.l.Attn.Heads > 0 || b.l.SSM.Inner > 0 {
		o = b.mixer(x)
	} else {
		o = b.ffn(x)
	}
	b.residual(b.gather(o, b.h), 0)
}

func (b *layerBuilder) mixer(x model.Val) model.Val {
	switch {
	case b.l.SSM.Inner > 0 && b.l.Attn.Heads > 0:
		return b.add(b.attention(x), b.scan(x), b.h)
	case b.l.SSM.Inner > 0:
		return b.scan(x)
	case b.l.Linear:
		return b.linear(x, matrix(dtype.AttnOutput, unsplit(b.h), unsplit(b.h)), false)
	case b.l.Attn.OneKV:
		return b.oneKV(x)
	case b.l.Attn.KVRank > 0 && !b.l.Attn.Expanded:
		return b.latentAttention(x)
	case b.l.Attn.KVRank > 0:
		return b.expandedAttention(x)
	}
	return b.attention(x)
}

// scan is the recurrent mixer.
func (b *layerBuilder) scan(x model.Val) model.Val {
	switch b.l.SSM.Style {
	case Mamba1:
		return b.mamba1(x)
	case Mamba2:
		return b.mamba2(x)
	case DeltaHeads:
		return b.deltaHeads(x)
	case Lightning:
		return b.lightning(x)
	case ShortOnly:
		return b.shortConv(x)
	case LongConv:
		return b.longConv(x)
	case TimeMix:
		return b.timeMix(x)
	case Channels, Eagle, Finch:
		return b.earlierTimeMix(x)
	case MambaWide:
		return b.mambaWide(x)
	}
	return b.deltaNet(x)
}

func (b *layerBuilder) ffn(x model.Val) model.Val {
	switch m := &b.l.MoE; {
	case m.Experts == 0:
		return b.mlp(x, b.l.FFN)
	case m.WithFFN:
		return b.add(b.mlp(x, b.l.FFN), b.moe(x, x), b.h)
	}
	return b.moe(x, x)
}

// mtp is the part with multi-token prediction layers: each step joins the hidden state and the next token's
// embedding by a projection of twice the width (DeepSeek-V3, arXiv:2412.19437, section 2.2), and ends in a
// norm. A step is one layer, or in Nemotron-H one of each branch.
func (s *partBuilder) mtp() model.Part {
	p := s.part(model.PartMTP, s.MTP)
	first, last := p.Layers[0], p.Layers[min(len(p.Layers), max(1, s.MTPStep))-1]
	for i := range p.Kinds {
		b := &kindBuilder{k: p.Kinds[i]}
		x := b.k.Out
		if uint8(i) == first || s.MTPStep <= 1 {
			e := b.norm(RMS, dtype.MTPEmbedNorm, 0, s.Hidden)
			h := b.norm(RMS, dtype.MTPHiddenNorm, 0, s.Hidden)
			joined := b.op(model.Op{Kind: model.Concat, Out: 2 * s.Hidden}, e, h)
			x = b.linear(joined, matrix(dtype.MTPProj, unsplit(s.Hidden), unsplit(2*s.Hidden)), false)
		}
		if uint8(i) == last || s.MTPStep <= 1 {
			x = b.collapse(x, s.MTP[0].Hyper, s.Hidden, hyperHead)
			x = b.norm(s.mtpNorm(), dtype.MTPOutNorm, x, s.Hidden)
		}
		if s.MTPEnds || s.MTPTable {
			b.op(model.Op{Kind: model.Embed, Role: dtype.MTPEmbed, Out: s.Hidden, W: []*model.Tensor{matrix(dtype.MTPEmbed, vocabulary(s.Vocab), unsplit(s.Hidden))}})
		}
		if s.MTPEnds || s.MTPHead {
			b.op(model.Op{Kind: model.Head, Role: dtype.MTPHead, Out: s.Vocab, W: []*model.Tensor{matrix(dtype.MTPHead, vocabulary(s.Vocab), unsplit(s.Hidden))}}, x)
		}
		p.Kinds[i] = b.k
	}
	return p
}

func (s *Spec) mtpNorm() NormKind {
	if s.MTPBare {
		return NoNorm
	}
	return RMS
}
