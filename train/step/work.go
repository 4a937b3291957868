package step

import (
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/speed"
)

// work is what a rank does in forward and backward passes, in seconds at the datasheet's rates.
type work struct {
	wide, narrow   float64 // products of layers and head, by the format that they are multiplied in
	experts        float64 // products of experts
	small          float64 // of products, by how narrow their matrices are: 256 over the lesser side
	smallExperts   float64 // the same of experts, whose rows are few as well
	waves          float64 // products, by multiprocessors for a tile of the result
	misaligned     float64 // products with a side that is not a multiple of 64
	operands       float64 // reading and writing what is multiplied
	quantise       float64 // making numbers narrow
	attend, scores float64 // attention; score matrices that are written, where it is not fused
	edges          float64 // attention, over the tokens of a sequence
	elementwise    float64 // norms, sums, activations, rotary positions
	adapters       float64 // element-wise work of LoRA beside the frozen layers
	loss           float64 // logits and their gradient
	permute        float64 // tokens to experts and back
	scan           float64
	unpack         float64 // weights in 4 bits made 16 by one kernel
	unpackSteps    float64 // and by many
	accumulate     float64 // gradients of weights summed
	tensor         float64 // sent in the tensor group
	gather         float64 // weights gathered and gradients reduced for each pass
	replicate      float64 // shares of gradients summed across nodes, beside the backward pass
	inside, across float64 // tokens sent to experts, in a domain and between
	ring, hop      float64 // of context parallelism, and between stages
	launches       float64 // operators started, a number
	dispatches     float64 // layers with experts, a number
	loops          float64 // experts started one by one, a number
	matrices       float64 // products of single experts that a grouped product starts, a number
	useful, done   float64 // operations, by mfu.go's definitions
}

// fields lists all summands, so that sums need no second list of names.
func (w *work) fields() [27]*float64 {
	return [...]*float64{&w.wide, &w.narrow, &w.experts, &w.small, &w.smallExperts, &w.waves, &w.misaligned, &w.operands, &w.quantise, &w.attend, &w.edges, &w.scores, &w.elementwise, &w.adapters,
		&w.loss, &w.permute, &w.scan, &w.unpack, &w.unpackSteps, &w.accumulate, &w.tensor, &w.gather, &w.replicate, &w.inside, &w.across, &w.ring, &w.hop}
}

// counts are fields that are not seconds.
func (w *work) counts() [6]*float64 {
	return [...]*float64{&w.launches, &w.dispatches, &w.loops, &w.matrices, &w.useful, &w.done}
}

func (w *work) add(o *work, n float64) {
	a, b := w.fields(), o.fields()
	for i := range a {
		*a[i] += n * *b[i]
	}
	c, d := w.counts(), o.counts()
	for i := range c {
		*c[i] += n * *d[i]
	}
}

// products are the seconds that must pass whatever overlaps: what is multiplied, at the peak.
func (w *work) products() float64 { return w.wide + w.narrow + w.experts }

// passesOf an operator: forward, and backward in units of a forward pass.
type passesOf struct{ forward, backward float64 }

func (p passesOf) all() float64 { return p.forward + p.backward }

// walker adds up the work of a part.
type walker struct {
	m        *Model
	at       model.Features // a pass of all tokens of the micro-batch
	tokens   float64        // of the pass
	share    float64        // of them on a rank of the context group
	shard    float64        // ranks that share residual sums
	recipe   recompute
	out      *work
	count    float64
	held     *heldWeights
	expertBy float64 // what experts of this rank do, over what they do for the rank's own tokens
}

// weightSum counts the elements and the stored bytes of weights.
type weightSum struct{ elements, trained, bytes float64 }

// heldWeights are those of one rank of the tensor and expert groups, before replicas share them. Experts have fewer
// replicas than all else.
type heldWeights struct{ common, experts weightSum }

// part gives the work of a part's layers and of its head in one pass over a micro-batch.
func (m *Model) part(part int) (layers, head work, err error) {
	err = m.walk(part, func(k *speed.Kernel) *work {
		if k.Layer == model.InPost {
			return &head
		}
		return &layers
	})
	return layers, head, err
}

// walk adds the work of each kernel of a part to what into gives for it.
func (m *Model) walk(part int, into func(*speed.Kernel) *work) error {
	w := m.walker()
	fuse := speed.Fuser{To: func(k *speed.Kernel) {
		w.out, w.count = into(k), float64(k.Count)
		w.streamed(k, w.kernel)
	}}
	err := m.kernels(part, func(k *speed.Kernel) {
		w.hold(k) // before fused products lose their tensors
		w.out, w.count = into(k), float64(k.Count)
		w.streamed(k, w.adapter)
		fuse.Add(k)
	})
	fuse.Flush()
	return err
}

// walker of a pass over a micro-batch.
func (m *Model) walker() *walker {
	g := &m.groups
	step := model.Step{Tokens: g.micro * g.sequence, Seqs: g.micro, Outputs: g.micro * g.sequence}
	w := &walker{m: m, at: step.Features(m.in.Model.Spans(), nil), tokens: float64(step.Tokens), share: 1 / float64(g.cp), shard: 1, recipe: m.recompute(), held: &m.once.held}
	if m.sequenceParallel() {
		w.shard = float64(g.tp)
	}
	w.expertBy = m.expertShare()
	return w
}

// streamed does something for a kernel with the share of a pass's tokens that it sees: all, or those of a denoiser's picture or text.
func (w *walker) streamed(k *speed.Kernel, do func(*speed.Kernel)) {
	all := w.share
	w.share *= k.Op.Rows.Share(w.m.in.Model.Streams(w.m.groups.sequence))
	do(k)
	w.share = all
}

// expertShare: experts of a rank see the tokens of all ranks that hold others, and tensor ranks divide them.
func (m *Model) expertShare() float64 {
	g := &m.groups
	if g.ep <= 1 {
		return 1
	}
	cut := max(1, g.tp/g.ep) // ranks that share an expert
	return float64(g.ep*cut) / float64(g.tp)
}

func (w *walker) kernel(k *speed.Kernel) {
	switch k.Op.Kind {
	case model.Linear, model.Head, model.ExpertLinear, model.Route:
		w.product(k)
	case model.Attention:
		w.attention(k)
	case model.Scan:
		w.scan(k)
	case model.Combine:
		w.combine(k)
	case model.Norm, model.Add, model.Glu, model.Act, model.Scale, model.Rope, model.Mix, model.Conv:
		w.element(k)
	case model.Embed:
		w.out.elementwise += w.count * 3 * k.Prefill().Activations[model.Tokens] * w.tokens * w.share / w.memory()
	}
}

func (w *walker) memory() float64 { return float64(w.m.device.Bandwidth.Value) }

// hold adds the kernel's weights to those of the rank. A tied head is held once.
func (w *walker) hold(k *speed.Kernel) {
	if k.Op.Lent {
		return
	}
	sum := &w.held.common
	if k.Op.Kind == model.ExpertLinear {
		sum = &w.held.experts
	}
	for _, t := range k.Op.W {
		if !t.Table {
			n := float64(k.Count) * float64(t.Elems())
			sum.elements += n
			sum.trained += n * w.m.thaw.learning(&w.m.in, k)
		}
	}
	sum.bytes += float64(k.Count) * float64(k.Bytes)
}

// passes of a kernel: full recomputation repeats the forward pass of layers; a frozen weight needs no gradient.
func (w *walker) passes(k *speed.Kernel) passesOf {
	p := w.moves(k)
	if w.m.frozen() && !savedWhole(&w.m.in, k) {
		p.backward = 1
	}
	p.backward -= w.m.thaw.reach(k) - w.m.thaw.learning(&w.m.in, k)
	return p
}

// moves are the passes of a kernel without weights: gradients go through what lies above a layer that trains, and no other pass
// needs its values again.
func (w *walker) moves(k *speed.Kernel) passesOf {
	reached := w.m.thaw.reach(k)
	p := passesOf{1, 2 * reached}
	if k.Layer != model.InPost {
		p.forward += reached * w.recipe.repeats(k)
	}
	return p
}

// product adds a matrix product of rows tokens: forward one, backward one for the input's gradient and one for the
// weight's, each as large.
func (w *walker) product(k *speed.Kernel) {
	rows := w.rows(k)
	flops := (k.Prefill().FLOPs[model.Tokens] + k.Prefill().FLOPs[model.Outputs]) * w.tokens * w.share
	if flops == 0 {
		return // a gate of one column
	}
	expert := k.Op.Kind == model.ExpertLinear
	switch {
	case expert:
		flops *= w.expertBy
	case uncut(k.Op):
		// every rank holds it; with sequence parallelism each has its own tokens
		flops, rows = flops/w.shard, rows/w.shard
	}
	w.multiply(k, flops, rows, expert)
	w.split(k)
}

// uncut reports whether all ranks of a tensor group hold the same matrix: routers, and the narrow side of latents.
func uncut(o *model.Op) bool {
	for _, t := range o.W {
		if t.Bias || t.Dims < 2 {
			continue
		}
		if t.ColsBy != model.Whole || t.BatchBy != model.Whole {
			return false
		}
		for i := range t.Segs {
			if t.Segs[i].By != model.Whole {
				return false
			}
		}
	}
	return true
}

// rows that one of the kernel's matrices is multiplied with.
func (w *walker) rows(k *speed.Kernel) float64 {
	rows := w.tokens * w.share
	if k.Op.Kind == model.ExpertLinear {
		rows *= float64(k.Moe.Used) / float64(k.Moe.N) * w.expertBy
	}
	return rows
}

// side of a matrix at which a product runs at full speed, and the least that counts.
const (
	fullSide  = 256
	leastSide = 64
)

func (w *walker) multiply(k *speed.Kernel, flops, rows float64, expert bool) {
	p := w.passes(k)
	f := &w.m.format
	peak, bytes := f.wide, float64(activation)
	lowered := f.narrow > 0 && (k.Op.Kind == model.Linear || expert) && (k.Layer != model.InPost)
	if lowered {
		peak, bytes = f.narrow, f.bytes
	}
	w.operations(flops, p)
	seconds := w.count * flops * p.all() / peak
	side := float64(min(k.Rows, k.Cols))
	switch {
	case expert:
		w.out.experts += seconds
		if w.m.class() != eager {
			w.out.matrices += w.count * float64(k.Batch) * p.all()
		}
		w.out.smallExperts += seconds * fullSide / max(leastSide, min(side, rows))
	case lowered:
		w.out.narrow += seconds
		w.out.small += seconds * fullSide / max(leastSide, side)
	default:
		w.out.wide += seconds
		if k.Op.Kind == model.Linear {
			w.out.small += seconds * fullSide / max(leastSide, side)
		}
	}
	if k.Op.Kind == model.Linear && (k.Rows%leastSide != 0 || k.Cols%leastSide != 0) {
		w.out.misaligned += seconds
	}
	w.out.waves += w.count * flops / peak * w.waves(k, rows, p)
	w.traffic(k, rows, bytes, lowered, p)
	w.out.launches += w.count * p.all() / 3
}

// tile is the elements of a result that one multiprocessor makes at a time: 128 rows of 256 (CUTLASS, efficient_gemm.md).
const tile = 128 * 256

// waves is how many multiprocessors there are for a tile of the results, summed over the passes: of the last wave of
// tiles about half find nothing to do, so that products lose time in proportion (NVIDIA, Matrix multiplication
// background, section on wave quantization).
func (w *walker) waves(k *speed.Kernel, rows float64, p passesOf) float64 {
	sms := w.m.device.SMs
	if !sms.Known || k.Rows == 0 || k.Cols == 0 { // matrices that layers choose among have no one shape
		return 0
	}
	n, in := float64(k.Rows), float64(k.Cols)
	each := p.forward/(rows*n) + 1/(rows*in) + (p.backward-1)/(n*in)
	return float64(sms.Value) * tile / float64(max(1, k.Batch)) * each
}

// operations counts operations of a product for MFU and HFU.
func (w *walker) operations(flops float64, p passesOf) {
	w.out.useful += w.count * flops * (1 + p.backward)
	w.out.done += w.count * flops * p.all()
}

// traffic of a product: both operands in, the result out in 16 bits; narrow operands are made from 16 bits first.
func (w *walker) traffic(k *speed.Kernel, rows, bytes float64, lowered bool, p passesOf) {
	n, in, each := float64(k.Rows), float64(k.Cols), w.count*float64(max(1, k.Batch))
	w.out.operands += each * ((rows*in+n*in)*bytes + rows*n*activation) * p.all() / w.memory()
	if lowered {
		weightGradient := p.backward - 1
		w.out.quantise += each * (3*rows*in*p.forward + 4*rows*n + weightGradient*rows*in + 4*n*in) / w.memory()
	}
	w.unpack(k, p)
	if k.Op.Kind == model.Head {
		// logits read and written in 32 bits, then their gradient
		w.out.loss += w.count * 16 * rows * n / w.memory()
	}
}

// unpack adds making 16 bits of packed weights, before each product forward and for the input's gradient. NF4 has a
// kernel of its own (bitsandbytes), which reads and writes a weight once. GPTQ goes through PyTorch's operators, which
// shift, mask, subtract zeros and scale by groups, each reading and writing the whole matrix (AutoGPTQ, qlinear_cuda.py).
func (w *walker) unpack(k *speed.Kernel, p passesOf) {
	elements := float64(k.Rows*k.Cols) * float64(max(1, k.Batch))
	packed := float64(k.Bytes)
	if packed == 0 || packed >= 1.5*elements || k.Op.Kind == model.Head {
		return
	}
	times := w.count * (p.forward + 1) / w.memory()
	if w.m.in.Weights.Name == "gptq" {
		w.out.unpackSteps += times * (packed + stepsOfGPTQ*elements)
		return
	}
	w.out.unpack += times * (packed + activation*elements)
}

// stepsOfGPTQ are the bytes that these operators move for a weight: shifted in 32 bits (4 written, 4 read), masked in 8
// (1, 1, 1), zeros and scales spread over it (2, 2), the difference (1, 2, 2) and the product (2, 2, 2).
const stepsOfGPTQ = 26

// attention: fused kernels multiply scores again in their backward pass, five products where the forward has two
// (FlashAttention-2, arXiv:2307.08691, section 3.1); others keep them, and move the score matrix.
func (w *walker) attention(k *speed.Kernel) {
	p := w.moves(k)
	if w.fused() {
		p.backward *= 1.25
	}
	f := k.Prefill().FLOPs
	own := (f[model.Tokens] + f[model.Read]) * w.tokens // the latent expanded to keys and values
	all := k.Prefill().Eval(&w.at).FLOPs
	core := (float64(all) - own) * k.Op.Rows.Share(w.m.in.Model.Streams(w.m.groups.sequence)) // beside the rows', its columns'
	w.operations(own*w.share, w.passes(k))
	w.operations(core*w.share, w.moves(k))
	w.out.wide += w.count * own * w.share * w.passes(k).all() / w.m.format.wide
	if w.fused() {
		seconds := w.count * core * w.share * p.all() / w.m.format.wide
		w.out.attend += seconds
		w.out.edges += seconds / float64(w.m.groups.sequence)
	} else {
		w.square(k, p)
	}
	w.out.launches += w.count * p.all() / 3
	w.context(k)
}

// unevenHead weighs what heads cost that do not fill lines of 128 bytes, and those that do not even fill operands of
// 16, which tensor cores cannot take: these are multiplied at a quarter of the rate (an A100 does 78 of its 312 TFLOPS
// without them, by its datasheet).
func unevenHead(width int64) float64 {
	switch {
	case width%8 != 0:
		return 4
	case width%leastSide != 0:
		return 1
	}
	return 0
}

func (w *walker) fused() bool { return w.m.in.Plan.Attention != "eager" }

func (w *walker) scan(k *speed.Kernel) {
	p := w.moves(k)
	w.out.scan += w.count * k.Prefill().FLOPs[model.Tokens] * w.tokens * w.share * p.all() / w.m.format.wide
	w.out.launches += w.count * p.all()
}

// element adds what a cheap operator reads and writes; its backward pass moves twice as much.
func (w *walker) element(k *speed.Kernel) {
	p := w.moves(k)
	bytes := (k.Prefill().Activations[model.Tokens] + k.Prefill().Activations[model.Outputs]) * w.tokens * w.share
	if w.m.class() == eager && !on(w.m.in.Training.Fused) {
		bytes *= unfused(k.Op)
	}
	if k.Op.Kind == model.Add || k.Op.Kind == model.Norm && k.Op.Unit == 0 {
		bytes /= w.shard
	}
	if k.Op.Rows == model.PerChoice {
		// activations of experts lie where the experts are, as many rows in all
		bytes /= w.tensorRanks()
	}
	w.out.elementwise += w.count * bytes * p.all() / w.memory()
	w.out.launches += w.count * p.all() / 3
}

// unfused is how much more transformers' modules move than one kernel would: an RMS norm casts to 32 bits, squares,
// scales, casts back and multiplies, 36 bytes a number for 4; rotary positions are 22 for 6, a gated activation 10
// for 6 (models/llama/modeling_llama.py). Layer norms are one kernel of PyTorch's.
func unfused(o *model.Op) float64 {
	switch {
	case o.Kind == model.Norm && !o.Mean:
		return 36.0 / 4
	case o.Kind == model.Rope:
		return 22.0 / 6
	case o.Kind == model.Glu:
		return 10.0 / 6
	}
	return 1
}

// tensorRanks share rows of experts where these are not cut.
func (w *walker) tensorRanks() float64 {
	if w.m.groups.ep <= 1 {
		return 1
	}
	return float64(w.m.groups.tp)
}

// feedForward reports whether an operator belongs to the feed-forward of a layer.
func feedForward(k *speed.Kernel) bool {
	switch k.Op.Role {
	case dtype.FFNGate, dtype.FFNUp, dtype.FFNDown:
		return true
	}
	return false
}
