package model

// Style is how a training framework keeps values for the backward pass.
type Style struct {
	// Width is the bytes of an activation; 0 for the 2 of formats of 16 bits.
	Width int64
	// Frozen: the base weights do not train (LoRA).
	Frozen bool
	// FusedNorm keeps a norm's input instead of an fp32 copy of it. Layer norms are always fused.
	FusedNorm bool
	// FusedGlu computes the activation of a gate again instead of keeping it.
	FusedGlu bool
	// Adapts says which linear layers have an adapter; nil for none. An adapter shares the layer's input, unless
	// AdapterWidth bytes a number are a copy of its own in its format. With Dropout it keeps a masked copy and the
	// mask, one byte a number.
	Adapts       func(*Tensor) bool
	AdapterWidth int64
	Dropout      bool
	// Magnitudes: a learned scale of every output of an adapted layer keeps what it scales, of the layer and of its adapter
	// (DoRA, arXiv:2402.09353).
	Magnitudes bool
	// RepeatKV: keys and values are repeated to all heads before the kernel.
	RepeatKV bool
	// Scores are bytes kept of each score of a head, by attention that writes the score matrix; 0 when a kernel
	// writes none.
	Scores int64
	// HiddenDropout: what joins the residual stream goes through dropout, which keeps a mask of one byte a number.
	HiddenDropout bool
	// Stream is how many ranks share values of the residual stream's width (sequence parallelism), Choices how many
	// share the tokens that go to experts. Zero is one.
	Stream, Choices int64
	// Whole: products keep their inputs of that width as they were gathered for them, where Megatron gathers again
	// (torch/distributed/tensor: a plain product of what a DTensor was redistributed to).
	Whole bool
	// ExpertLoop: experts run one after another, so that backward holds the gradients of one of them at a time.
	ExpertLoop bool
	// Inputs is the width in bytes of what a matrix product keeps of its input; 0 for that of the activation.
	Inputs int64
	// ActInputs is the width in bytes of what a gated activation keeps of its inputs; 0 for that of the activation.
	ActInputs int64
	// OutBits are those of a number of attention's output where attention and the product behind it keep one copy in a narrow format;
	// 0 where attention keeps it as it is computed.
	OutBits int64
	// OutTwice: attention keeps its output as it was made, and the product behind it what was exchanged of it (Ulysses, arXiv:2309.14509).
	OutTwice bool
	// Again are modules that compute their forward pass again by themselves.
	Again Modules
	// Image and Text are the tokens of a denoiser's step that are of the picture and of its text; 0 and 0 for models of one stream.
	Image, Text int64
	// Sequences of a pass share what is made once for all of them; 0 is one.
	Sequences int64
	// WeighsEarly: choices are weighed at the experts' activation and not where their results are summed.
	WeighsEarly bool
}

const (
	half = 2 // bytes of a number in formats of 16 bits
	full = 4 // and of fp32
)

// width of an activation in bytes.
func (s *Style) width() int64 {
	if s.Width > 0 {
		return s.Width
	}
	return half
}

// part is what a token has averaged over so many bytes of a stream's tokens: all of a step's, or those of the picture or the text.
func (s *Style) part(r Rows, n int64) int64 {
	return int64(float64(n) * r.Share(s.Image, s.Text))
}

// Saved is what one layer's forward pass keeps for its backward pass, in bytes per token, by operator
// kind. A value counts once however many operators keep it; the stream entering the layer is a checkpoint,
// which the caller counts. Rules: what PyTorch's autograd saves for each operator of a transformers block,
// checked against measured runs (docs/formulas.md#saved-activations).
func (k *Kind) Saved(s Style) map[OpKind]int64 {
	out := map[OpKind]int64{}
	for kind, n := range k.keepers(&s).out {
		if n > 0 {
			out[OpKind(kind)] = n
		}
	}
	return out
}

// SavedBytes sums Saved.
func (k *Kind) SavedBytes(s Style) (n int64) {
	for _, b := range k.keepers(&s).out {
		n += b
	}
	return n
}

// SavedWithEntry is SavedBytes, and whether an operator of the layer keeps the stream that enters it too.
func (k *Kind) SavedWithEntry(s Style) (n float64, entry bool) {
	p := k.keepers(&s)
	for _, b := range p.out {
		n += float64(b)
	}
	return n, p.entry
}

// SavedScores is what a layer keeps of its score matrices, in bytes per token and position of the sequence.
func (k *Kind) SavedScores(s Style) (n int64) {
	for i := range k.Ops {
		if a := k.Ops[i].Attn; a != nil {
			n += s.Scores * a.Heads
		}
	}
	return n
}

// SavedProducts is what is kept of a layer whose other values are computed again: every second matrix product and the
// output of attention, in bytes per token (torchtitan's selective checkpointing of operators).
func (k *Kind) SavedProducts(s Style) (n int64) {
	products := 0
	for i := range k.Ops {
		o := &k.Ops[i]
		switch o.Kind {
		case Linear, ExpertLinear:
			if products%2 == 0 {
				n += k.rowBytes(Val(i+1), &s)
			}
			products++
		case Attention:
			n += k.rowBytes(Val(i+1), &s) + full*o.Attn.Heads
		}
	}
	return n
}

type keeper struct {
	k    *Kind
	s    *Style
	out  [Mix + 1]int64
	kept [maxOps + 1]bool
	cast [maxOps + 1]bool // a narrower copy is counted
	sent [maxOps + 1]bool // a copy for each expert is counted
	// again is what modules that compute again hold from then on, and module the one whose operator is at work.
	again  [modules]int64
	module int
	// at is the operator at work, and last the last one that needs what a module computes again.
	at   int
	last [modules]int
	// entry: the stream entering the layer is kept.
	entry bool
}

// maxOps is more than any layer has; what lies beyond it is counted each time it is kept.
const maxOps = 127

func (k *Kind) keepers(s *Style) *keeper {
	p := keeper{k: k, s: s}
	if s.Again == 0 {
		for i := range k.Ops {
			p.op(i)
		}
		return &p
	}
	p.countRerun()
	return &p
}

// storage follows views to the value that owns the bytes.
func (k *Kind) storage(v Val) Val {
	for v > 0 && (k.Ops[v-1].Kind == Slice || k.Ops[v-1].Kind == Gather) {
		v = k.Ops[v-1].In[0]
	}
	return v
}

// rowBytes of a value: per token, all chosen experts together, and a rank's share of it.
func (k *Kind) rowBytes(v Val, s *Style) int64 {
	o := &k.Ops[v-1]
	n := s.part(o.Rows, s.width()*o.Out*int64(o.choices()))
	switch {
	case o.Rows == PerChoice:
		return n / max(1, s.Choices)
	case o.residual():
		return n / max(1, s.Stream)
	}
	return n
}

// residual reports whether tensor parallelism leaves an operator's result whole: norms over the whole width, sums, and
// products whose columns are cut, which are summed over ranks.
func (o *Op) residual() bool {
	switch o.Kind {
	case Norm:
		return o.Unit == 0
	case Add, Scale, Combine, Embed, Mix, Gather:
		return true
	case Linear:
		return o.W[0].ColsBy != Whole
	}
	return false
}

func (p *keeper) keep(kind OpKind, v Val) { p.keepAs(kind, v, p.s.width()) }

// keepAs keeps a value in so many bytes a number.
func (p *keeper) keepAs(kind OpKind, v Val, width int64) {
	v = p.k.storage(v)
	if v == 0 {
		p.entry = true
	}
	if v <= 0 || v <= maxOps && p.kept[v] {
		return
	}
	if v <= maxOps {
		p.kept[v] = true
	}
	p.add(kind, p.k.rowBytes(v, p.s)*width/p.s.width(), p.moduleOf(v))
}

// moduleOf is the module that makes a value again for the operator at work.
func (p *keeper) moduleOf(v Val) int {
	if m := p.k.discarded(v, p.s.Again); m != 0 {
		return m.index()
	}
	return p.module
}

// add counts bytes that an operator keeps: its own, or what its module holds once it computes again.
func (p *keeper) add(kind OpKind, n int64, module int) {
	if module > 0 {
		p.again[module] += n
		p.last[module] = max(p.last[module], p.at)
		return
	}
	p.out[kind] += n
}

// addOwn counts bytes that are no value's.
func (p *keeper) addOwn(kind OpKind, n int64) { p.add(kind, n, p.module) }

// narrow keeps a copy of a value in fewer bytes a number, beside the value.
func (p *keeper) narrow(v Val, width int64) {
	v = p.k.storage(v)
	if v <= 0 || v <= maxOps && p.cast[v] {
		return
	}
	if v <= maxOps {
		p.cast[v] = true
	}
	p.add(Linear, p.k.rowBytes(v, p.s)*width/p.s.width(), p.moduleOf(v))
}

func (p *keeper) op(i int) {
	o, s := &p.k.Ops[i], p.s
	switch o.Kind {
	case Norm:
		p.norm(i)
	case Linear, ExpertLinear:
		p.linear(o)
	case Scale:
		p.steered(i)
	case Add:
		if s.HiddenDropout {
			p.addOwn(o.Kind, p.k.rowBytes(Val(i+1), s)/s.width())
		}
	case Head:
		if !p.gathered(o) {
			p.keep(o.Kind, o.In[0]) // the caller of the model holds it, whether the head trains or not
		}
	case Attention:
		p.attention(i)
	case Glu, Act:
		p.activation(i)
	case Conv:
		p.keep(o.Kind, o.In[0])
		if !o.Scan.fused() {
			p.addOwn(o.Kind, s.width()*o.Out) // before the activation
		}
	case Scan:
		if o.Scan.Long {
			p.convolved(o)
			return
		}
		if !o.Scan.fused() {
			p.keep(o.Kind, o.In[0])
			p.keep(o.Kind, o.In[1])
		}
		p.addOwn(o.Kind, full*o.Scan.Heads) // dt in fp32
	case Combine:
		if !s.WeighsEarly {
			p.keep(o.Kind, o.In[0])
		}
	case Route:
		p.addOwn(o.Kind, full*o.W[0].Rows())
		if !s.Frozen {
			p.keep(Linear, o.In[0])
		}
	}
}

// activation keeps its inputs. One that weighs choices too, and has no kernel that does both, keeps what it makes before they
// are weighed (megatron/core/transformer/moe/experts.py: bias_act_func; there are such kernels for gates and squared ReLU).
func (p *keeper) activation(i int) {
	o, s := &p.k.Ops[i], p.s
	width := s.width()
	if s.ActInputs > 0 {
		width = s.ActInputs
	}
	p.keepAs(o.Kind, o.In[0], width)
	switch {
	case o.Kind == Glu:
		p.keepAs(o.Kind, o.In[1], width)
		if !s.FusedGlu {
			p.addOwn(o.Kind, p.k.rowBytes(Val(i+1), s)) // activation of the gate
		}
	case s.WeighsEarly && o.Rows == PerChoice && o.Fn != ReLU2:
		p.addOwn(o.Kind, p.k.rowBytes(Val(i+1), s))
	}
}

func (p *keeper) norm(i int) {
	o := &p.k.Ops[i]
	input, own := o.normKeeps(p.s, p.k.rowBytes(Val(i+1), p.s))
	if input {
		p.keep(o.Kind, o.In[0])
	}
	p.addOwn(o.Kind, own)
}

// normKeeps says whether a norm whose result takes n bytes keeps its input, and what it keeps of its own. Where it is not
// fused that is an fp32 copy of the input, which is the input itself where that is in fp32, and, for the weight's gradient,
// the normalised values.
func (o *Op) normKeeps(s *Style, n int64) (input bool, own int64) {
	if s.FusedNorm || o.Mean {
		return true, 0
	}
	if !s.Frozen {
		own = n
	}
	if s.width() == full {
		return true, own
	}
	return false, own + n*full/s.width()
}

func (p *keeper) linear(o *Op) {
	s := p.s
	adapted := s.Adapts != nil && s.Adapts(o.W[0])
	if adapted && s.Magnitudes {
		p.addOwn(Linear, 2*s.width()*o.W[0].Rows()*int64(o.choices()))
	}
	switch {
	case !s.Frozen:
		switch sent := p.dispatch(o); {
		case p.gathered(o):
		case !s.narrows():
			p.keep(Linear, o.In[0])
		case !sent:
			p.narrow(o.In[0], s.Inputs)
		}
	case adapted && (s.Dropout || s.AdapterWidth > 0):
		n := max(s.width(), s.AdapterWidth)
		if s.Dropout {
			n++
		}
		p.addOwn(Linear, s.part(o.Rows, n*o.W[0].Cols*int64(o.choices())))
	case adapted:
		p.dispatch(o)
		p.keep(Linear, o.In[0])
	}
}

// gathered: the input of a product, cut along the text, is kept whole, once for all products of it.
func (p *keeper) gathered(o *Op) bool {
	v := p.k.storage(o.In[0])
	if !p.s.Whole || v <= 0 || v > maxOps || o.Kind == ExpertLinear || !p.k.Ops[v-1].residual() {
		return false
	}
	if !p.sent[v] {
		p.sent[v] = true
		p.addOwn(o.Kind, max(1, p.s.Stream)*p.k.rowBytes(v, p.s))
	}
	return true
}

// steered: results of a matrix of the condition shift and scale the normalised input of each of a block's branches and gate what
// it gives (arXiv:2212.09748, adaLN-Zero; diffusers, models/normalization.py). A branch keeps what enters its norm, which of the first
// is the stream that enters the block, and what its products read; where the condition trains, what is scaled and what is gated too.
func (p *keeper) steered(i int) {
	o, s := &p.k.Ops[i], p.s
	chunks := o.Steers
	if chunks < 2 {
		return
	}
	n, branches := p.k.rowBytes(Val(i+1), s), (chunks+2)/3
	p.entry = true
	p.addOwn(Norm, (branches-1)*n)
	if !s.Frozen || s.Adapts != nil {
		p.addOwn(Linear, n)
	}
	if !s.Frozen {
		p.addOwn(o.Kind, (branches+chunks/3)*n)
	}
}

// convolved keeps what a convolution over the whole text by FFTs of twice its length does (stripedhyena/engine.py: parallel_iir,
// compute_filter): its input for the skip's gain; the filter's spectrum of half the points, complex in fp32; where weights train, the
// input's spectrum, which is a view of all the points, and each pole's exponentials, which the filter is summed from. What is the
// filter's is there once for all sequences of a pass.
func (p *keeper) convolved(o *Op) {
	const complex64 = 2 * full
	s := p.s
	all := max(1, s.Sequences)
	p.keep(o.Kind, o.In[0])
	p.addOwn(o.Kind, complex64*o.Out/all)
	if !s.Frozen {
		p.addOwn(o.Kind, 2*complex64*o.Out+full*o.Scan.State/2*o.W[0].Cols/all)
	}
}

// fused: Mamba-2's kernel runs convolution and scan together and computes what lies between again
// (mamba_ssm/ops/triton/ssd_combined.py).
func (s *ScanDims) fused() bool { return s.Groups > 0 && !s.Delta }

// narrows: products keep copies of their inputs in a narrower format.
func (s *Style) narrows() bool { return s.Inputs > 0 && s.Inputs < s.width() }

// dispatch: tokens are copied for each expert that they go to; that copy is the input of the experts' products, in the format
// that they keep it in.
func (p *keeper) dispatch(o *Op) bool {
	v, width := p.k.storage(o.In[0]), p.s.width()
	if o.Kind != ExpertLinear || v < 0 || v > maxOps || v > 0 && p.k.Ops[v-1].Rows == PerChoice {
		return false
	}
	if p.s.narrows() {
		width = p.s.Inputs
	}
	if !p.sent[v] {
		p.sent[v] = true
		p.addOwn(Linear, width*o.W[0].Cols*int64(o.choices())/max(1, p.s.Choices))
	}
	return true
}

// attention keeps queries, keys, values, its output, and a log-sum per head unless it keeps the scores. MLA keeps the expanded,
// concatenated forms.
func (p *keeper) attention(i int) {
	o := &p.k.Ops[i]
	a := o.Attn
	switch {
	case a.Latent != nil:
		p.expanded(o)
	case o.In[0] == o.In[1] && o.In[1] == o.In[2]: // a layer written out names one value for all three
		p.addOwn(o.Kind, p.s.part(o.Rows, p.s.width()*a.Heads*(2*a.DimK+a.DimV)))
	case p.s.RepeatKV:
		p.keep(o.Kind, o.In[0])
		p.addOwn(o.Kind, p.s.width()*a.Heads*(a.DimK+a.DimV))
	default:
		for _, v := range o.In {
			p.keep(o.Kind, v)
		}
	}
	p.attended(o.Kind, Val(i+1))
	if p.s.Scores == 0 && p.s.Again&CoreAttention == 0 {
		p.addOwn(o.Kind, full*a.Heads)
	}
}

// attended keeps the output of attention, v.
func (p *keeper) attended(kind OpKind, v Val) {
	if p.s.OutTwice {
		p.addOwn(kind, p.k.rowBytes(v, p.s))
	}
	if p.s.OutBits == 0 || v > maxOps {
		p.keep(kind, v)
		return
	}
	p.kept[v], p.cast[v] = true, true
	p.add(kind, p.k.rowBytes(v, p.s)*p.s.OutBits/(8*p.s.width()), p.moduleOf(v))
}

// expanded are the queries, keys and values that latent attention makes, and the latent that they are made of.
func (p *keeper) expanded(o *Op) {
	l, module := o.Attn.Latent, p.module
	if p.s.Again&LatentUps != 0 && module == 0 {
		p.module = LatentUps.index()
	}
	p.addOwn(o.Kind, p.s.width()*o.Attn.Heads*(2*(l.Nope+l.Rope)+l.V))
	p.keep(o.Kind, o.In[len(o.In)/2]) // the latent, behind the parts of the query
	p.module = module
}
