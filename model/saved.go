package model

// Style describes how a training framework keeps values for the backward pass.
type Style struct {
	// Width is the bytes per activation; 0 means 2, for 16-bit formats.
	Width int64
	// Frozen reports that the base weights are not trained (LoRA).
	Frozen bool
	// FusedNorm keeps a norm's input rather than an fp32 copy of it. Layer norms are always fused.
	FusedNorm bool
	// FusedGlu recomputes the activation of a gate instead of keeping it.
	FusedGlu bool
	// Adapts reports which linear layers have an adapter; nil for none. An adapter shares the layer's input unless
	// AdapterWidth is set, which is then the bytes per element of its own copy. Dropout also keeps a masked copy, and a
	// mask of one byte per element.
	Adapts       func(*Tensor) bool
	AdapterWidth int64
	Dropout      bool
	// Magnitudes keeps, for a learned scale of every output of an adapted layer, the outputs of both layer and adapter
	// (DoRA, arXiv:2402.09353).
	Magnitudes bool
	// RepeatKV repeats keys and values to all heads before the kernel.
	RepeatKV bool
	// Scores is the bytes kept per attention score and head by attention that materializes the score matrix; 0 if no
	// kernel does.
	Scores int64
	// HiddenDropout applies dropout to whatever joins the residual stream, keeping a mask of one byte per element.
	HiddenDropout bool
	// Stream is the number of ranks that share values of the residual stream's width (sequence parallelism), Choices the
	// number that share the tokens sent to experts. Zero means one.
	Stream, Choices int64
	// Whole reports that matmuls keep gathered inputs of that width, which Megatron gathers again
	// (torch/distributed/tensor: a plain matmul on a redistributed DTensor).
	Whole bool
	// ExpertLoop reports that experts run one after another, so that backward holds the gradients of one at a time.
	ExpertLoop bool
	// Inputs is the bytes per element that a matmul keeps of its input; 0 for the width of activations.
	Inputs int64
	// ActInputs is the bytes per element that a gated activation keeps of its inputs; 0 for the width of activations.
	ActInputs int64
	// OutBits is the bits per element of attention's output if attention and the following matmul share one copy in a
	// narrow format; 0 if attention keeps it as computed.
	OutBits int64
	// OutTwice reports that attention keeps its output as computed and the following matmul keeps the exchanged copy
	// (Ulysses, arXiv:2309.14509).
	OutTwice bool
	// Again is the set of modules whose forward pass is recomputed.
	Again Modules
	// Image and Text are a denoiser step's image and text tokens; 0 and 0 for models with a single stream.
	Image, Text int64
	// Sequences is the number of sequences that share what is computed once per pass; 0 means one.
	Sequences int64
	// WeighsEarly applies routing weights at the experts' activation rather than when their results are summed.
	WeighsEarly bool
}

const (
	half = 2 // bytes per element of 16-bit formats
	full = 4 // bytes per element of fp32
)

// width returns the bytes per activation.
func (s *Style) width() int64 {
	if s.Width > 0 {
		return s.Width
	}
	return half
}

// part averages n bytes over the tokens of the stream r: all tokens of a step, or those of the image or the text.
func (s *Style) part(r Rows, n int64) int64 {
	return int64(float64(n) * r.Share(s.Image, s.Text))
}

// Saved returns what one layer's forward pass keeps for its backward pass, in bytes per token, by operator kind. A
// value counts once however many operators keep it; the stream entering the layer is a checkpoint, which the caller
// counts. The rules are what PyTorch's autograd saves for each operator of a transformers block, checked against
// measured runs (docs/formulas.md#saved-activations).
func (k *Kind) Saved(s Style) map[OpKind]int64 {
	out := map[OpKind]int64{}
	for kind, n := range k.keepers(&s).out {
		if n > 0 {
			out[OpKind(kind)] = n
		}
	}
	return out
}

// SavedBytes returns the sum of Saved.
func (k *Kind) SavedBytes(s Style) (n int64) {
	for _, b := range k.keepers(&s).out {
		n += b
	}
	return n
}

// SavedWithEntry returns SavedBytes and reports whether an operator of the layer also keeps the stream entering it.
func (k *Kind) SavedWithEntry(s Style) (n float64, entry bool) {
	p := k.keepers(&s)
	for _, b := range p.out {
		n += float64(b)
	}
	return n, p.entry
}

// SavedScores returns what a layer keeps of its score matrices, in bytes per token and per position of the sequence.
func (k *Kind) SavedScores(s Style) (n int64) {
	for i := range k.Ops {
		if a := k.Ops[i].Attn; a != nil {
			n += s.Scores * a.Heads
		}
	}
	return n
}

// SavedProducts returns what a layer keeps if only every second matmul and the output of attention are kept and all
// else is recomputed, in bytes per token (torchtitan's selective operator checkpointing). Grouped matmuls of experts are
// recomputed: its list names aten.mm, not aten._grouped_mm (torchtitan/distributed/activation_checkpoint.py).
func (k *Kind) SavedProducts(s Style) (n int64) {
	products := 0
	for i := range k.Ops {
		o := &k.Ops[i]
		switch o.Kind {
		case Linear:
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
	cast [maxOps + 1]bool // a narrower copy has been counted
	sent [maxOps + 1]bool // a copy per expert has been counted
	// again is what recomputed modules hold once they have run again, and module the one of the current operator.
	again  [modules]int64
	module int
	// at is the current operator, and last the last one to need what a module recomputes.
	at   int
	last [modules]int
	// entry reports that the stream entering the layer is kept.
	entry bool
}

// maxOps exceeds the operators of any layer; values beyond it count each time they are kept.
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

// storage follows views to the value that owns the storage.
func (k *Kind) storage(v Val) Val {
	for v > 0 && (k.Ops[v-1].Kind == Slice || k.Ops[v-1].Kind == Gather) {
		v = k.Ops[v-1].In[0]
	}
	return v
}

// rowBytes returns a rank's share of a value in bytes per token, over all chosen experts.
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

// residual reports whether tensor parallelism leaves an operator's result unsharded: norms over the full width, sums,
// and row-parallel matmuls, whose results are reduced over ranks.
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

// keepAs keeps a value with the given bytes per element.
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

// moduleOf returns the module that recomputes a value for the current operator.
func (p *keeper) moduleOf(v Val) int {
	if m := p.k.discarded(v, p.s.Again); m != 0 {
		return m.index()
	}
	return p.module
}

// add counts bytes kept by an operator: its own, or what its module holds once recomputed.
func (p *keeper) add(kind OpKind, n int64, module int) {
	if module > 0 {
		p.again[module] += n
		p.last[module] = max(p.last[module], p.at)
		return
	}
	p.out[kind] += n
}

// addOwn counts bytes that belong to no value.
func (p *keeper) addOwn(kind OpKind, n int64) { p.add(kind, n, p.module) }

// narrow keeps a copy of a value with fewer bytes per element, in addition to the value.
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
			p.keep(o.Kind, o.In[0]) // held by the model's caller, whether or not the head is trained
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

// activation keeps an activation's inputs. If it also applies routing weights without a fused kernel, it keeps its
// unweighted result (megatron/core/transformer/moe/experts.py: bias_act_func; fused kernels exist for gates and squared
// ReLU).
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

// normKeeps reports whether a norm with a result of n bytes keeps its input, and returns what else it keeps: if not
// fused, an fp32 copy of the input (the input itself if already fp32) and, for the weight's gradient, the normalized
// values.
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

// gathered keeps the full input of a matmul that was sharded along the sequence, once for all matmuls that read it, and
// reports whether it did.
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

// steered keeps the values of adaptive norms, in which projections of the conditioning shift and scale the normalized
// input of each branch of a block and gate its output (arXiv:2212.09748, adaLN-Zero; diffusers,
// models/normalization.py). A branch keeps the input of its norm, which for the first is the stream entering the block,
// and the inputs of its matmuls; if the conditioning is trained, also what is scaled and what is gated.
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

// convolved keeps the values of a convolution over the whole sequence by FFTs of twice its length
// (stripedhyena/engine.py: parallel_iir, compute_filter): its input for the skip gain; half the points of the filter's
// spectrum, complex fp32; and if weights are trained, the input's spectrum, a view of all points, and the exponentials
// of each pole that the filter is summed from. The filter's values are shared by all sequences of a pass.
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

// fused reports whether one kernel runs convolution and scan together and recomputes what lies between, as Mamba-2's
// does (mamba_ssm/ops/triton/ssd_combined.py).
func (s *ScanDims) fused() bool { return s.Groups > 0 && !s.Delta }

// narrows reports whether matmuls keep copies of their inputs in a narrower format.
func (s *Style) narrows() bool { return s.Inputs > 0 && s.Inputs < s.width() }

// dispatch keeps the copies of tokens made for each expert they go to, which are the inputs of the experts' matmuls and
// in their format. It reports whether there are any.
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

// attention keeps queries, keys, values and output, and a log-sum-exp per head unless it keeps the scores. MLA keeps
// the expanded, concatenated forms.
func (p *keeper) attention(i int) {
	o := &p.k.Ops[i]
	a := o.Attn
	switch {
	case a.Latent != nil:
		p.expanded(o)
	case o.In[0] == o.In[1] && o.In[1] == o.In[2]: // a spelled-out layer uses one value for all three
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

// attended keeps v, the output of attention.
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

// expanded keeps the queries, keys and values that latent attention computes, and the latent they come from.
func (p *keeper) expanded(o *Op) {
	l, module := o.Attn.Latent, p.module
	if p.s.Again&LatentUps != 0 && module == 0 {
		p.module = LatentUps.index()
	}
	p.addOwn(o.Kind, p.s.width()*o.Attn.Heads*(2*(l.Nope+l.Rope)+l.V))
	p.keep(o.Kind, o.In[len(o.In)/2]) // the latent, which follows the parts of the query
	p.module = module
}
