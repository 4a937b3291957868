package train

import (
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
)

// share is what a class of ranks holds of the model, counted once for all loads.
type share struct {
	pl engine.Placed
	// dense and expert count values sharded over different groups of ranks.
	dense, expert numbers
	// ends are the embedding and the head: parameters, and bytes as stored.
	ends       float64
	endsStored float64
	blocks     []block
	facing     []block // of the opposite pipeline stage, which DualPipe places on the same ranks
	layers     float64
	vocab      float64
	head       float64 // bytes per token kept by the final norm and the head
	stream     float64 // bytes per token between blocks
	largest    float64 // parameters of the largest matrix of a block
	experts    float64 // parameters of a block's experts
	rows, cols float64 // of the largest adapted matrix
}

// holds reports whether another class of ranks, of an earlier stage, holds the same.
func (s *share) holds(o *share) bool {
	return s.pl.Pre == o.pl.Pre && s.pl.Post == o.pl.Post && s.pl.Stage >= o.pl.Stage && s.dense == o.dense && s.expert == o.expert && s.ends == o.ends && s.layers == o.layers &&
		s.vocab == o.vocab && s.head == o.head && s.largest == o.largest && s.experts == o.experts &&
		slices.Equal(s.blocks, o.blocks) && slices.Equal(s.facing, o.facing)
}

// numbers counts parameters.
type numbers struct {
	trained float64 // trained, including adapters
	lora    float64 // in adapters
	fused   float64 // rows of tables whose gradients are applied immediately and never materialize whole
	states  float64 // bytes of optimizer states
	stored  float64 // bytes of frozen tensors
}

func (n *numbers) add(o *numbers, times float64) {
	n.trained += times * o.trained
	n.lora += times * o.lora
	n.fused += times * o.fused
	n.states += times * o.states
	n.stored += times * o.stored
}

// block is a kind of layer as sharded to the rank.
type block struct {
	count    float64
	numbers  float64 // parameters of one
	stored   float64 // bytes of one, as stored
	saved    float64 // bytes per token for the backward pass, including the entering stream if kept
	scores   float64 // plus per position of the sequence
	products float64 // kept under selective operator recomputation
	entry    bool    // the entering stream is included
	work     float64 // peak bytes per token of the backward pass
	passed   float64 // bytes per token of keys and values passed within a context parallel group
	delta    float64 // elements of the matrices that adapters compute from their factors
	still    bool    // reached by no gradient
}

// counter counts tensors under a plan.
type counter struct {
	j      *Job
	store  Storage
	copies Storage
	opt    optimizer
	adapts func(*model.Tensor) bool
	frozen func(dtype.Role) bool
	full   []dtype.Role
	thaw   *thaw
	rank   float64
	tune   tuner
	style  model.Style
	seen   []counted
}

// counted is a kind of layer counted for an earlier stage.
type counted struct {
	kind          *model.Kind
	variant       int
	learning      learning
	block         block
	dense, expert numbers
	largest       float64
	experts       float64
	rows, cols    float64 // of the largest adapted matrix
}

// adapted counts what adapter methods add to an adapted matrix.
func (c *counter) adapted(x *counted, t *model.Tensor) {
	if c.adapts == nil || !c.adapts(t) {
		return
	}
	x.rows, x.cols = max(x.rows, float64(t.Rows())), max(x.cols, float64(t.Cols))
	if c.tune.delta {
		x.block.delta += float64(t.Elems())
	}
}

// one counts a layer of a kind, once for all stages that shard it alike.
func (c *counter) one(s *share, k *engine.KindCount, l learning) *counted {
	for i := range c.seen {
		if x := &c.seen[i]; x.kind == k.Kind && x.variant == k.Variant && x.learning == l {
			return x
		}
	}
	c.seen = append(c.seen, c.count(s, k, s.pl.Weights.Variants[k.Variant].Tensors, l))
	return &c.seen[len(c.seen)-1]
}

func newCounter(j *Job) *counter {
	c := &counter{j: j, store: j.storage(), copies: j.copies(), opt: optimizers[j.Training.Optimizer], adapts: j.adapts(), rank: float64(j.Training.LoRARank)}
	c.frozen, c.thaw = freezes(j), thawOf(j)
	c.full, _ = roles(j.Training.Full)
	c.style = j.style()
	c.tune = tuners[j.Training.Method]
	return c
}

// share counts what a class of ranks holds.
func (c *counter) share(pl engine.Placed) share {
	s := share{pl: pl}
	part := c.j.Model.Decoder()
	style := c.style
	if pl.Pre {
		c.end(&s, pl.Local(&part.Pre), pl.Weights.Pre, nil)
	}
	if pl.Post {
		k := pl.Local(&part.Post)
		var lent []*model.Tensor
		if !pl.Pre || c.j.Framework.Keep.OwnHead {
			lent = lentTo(k)
		}
		c.end(&s, k, pl.Weights.Post, lent)
		c.savedHead(&s, k)
		kept, entry := k.SavedWithEntry(style)
		if s.head = kept; entry {
			s.head += float64(streamBytes(part, c.j, &style))
		}
		s.vocab = float64(vocabulary(k))
	}
	s.stream = float64(streamBytes(part, c.j, &style))
	for i := range pl.Kinds {
		for l, n := range c.thaw.split(&pl, &pl.Kinds[i]) {
			if n > 0 {
				s.hold(c.one(&s, &pl.Kinds[i], learning(l)), n)
			}
		}
	}
	c.prompts(&s)
	c.towers(&s)
	return s
}

// hold adds n layers of a kind.
func (s *share) hold(x *counted, n float64) {
	b := x.block
	b.count = n
	s.blocks = append(s.blocks, b)
	s.dense.add(&x.dense, n)
	s.expert.add(&x.expert, n)
	s.layers += n
	s.largest, s.experts = max(s.largest, x.largest), max(s.experts, x.experts)
	s.rows, s.cols = max(s.rows, x.rows), max(s.cols, x.cols)
}

// prompts counts what adapters have once per model: learned tokens at its input, and matrices shared by all layers.
func (c *counter) prompts(s *share) {
	if c.tune.virtual && s.pl.Pre {
		n := c.rank * float64(c.j.Model.Hidden)
		s.dense.add(&numbers{trained: n, lora: n, states: n * (c.opt.Moments*c.store.Moment + c.opt.Fixed)}, 1)
	}
	if c.tune.shared {
		s.dense.stored += 4 * c.rank * (s.rows + s.cols)
	}
}

// streamBytes returns the bytes per token between blocks, in the format of residual streams.
func streamBytes(p *model.Part, j *Job, style *model.Style) int64 {
	width := j.Model.Hidden
	if v := p.Pre.Out; v > 0 {
		width = p.Pre.Ops[v-1].Out
	}
	n := j.width() * width
	if j.residualsWide() {
		n = 4 * width
	}
	return n / max(1, style.Stream)
}

// residualsWide reports whether residual streams are in fp32: peft casts what is not quantized to fp32 when training on
// a bitsandbytes-quantized base (peft/utils/other.py: prepare_model_for_kbit_training, which excludes GPTQ), and
// DeepSpeed casts it back.
func (j *Job) residualsWide() bool {
	return j.Framework.Keep.Kbit && j.quantised() && !strings.HasPrefix(j.Plan.Weights, "gptq") && !sharded(j.Training.Sharding) && !j.cast()
}

// endsWide reports whether embedding and head are in fp32 as the residual streams are.
func endsWide(j *Job) bool {
	at := j.Framework.Keep.Ends32
	return at != (engine.Version{}) && j.Version.AtLeast(at) && j.residualsWide()
}

func vocabulary(k *model.Kind) (n int64) {
	for i := range k.Ops {
		if k.Ops[i].Kind == model.Head {
			n = k.Ops[i].W[0].Rows()
		}
	}
	return n
}

// lentTo returns the tensors that a head borrows from another stage, or that the framework unties (litgpt/model.py:
// lm_head).
func lentTo(k *model.Kind) (out []*model.Tensor) {
	for i := range k.Ops {
		if k.Ops[i].Kind == model.Head && k.Ops[i].Lent {
			out = append(out, k.Ops[i].W[0])
		}
	}
	return out
}

// savedHead counts the separate copy of a head saved with adapters, even if tied (peft/utils/other.py:
// ModulesToSaveWrapper).
func (c *counter) savedHead(s *share, k *model.Kind) {
	if c.adapts == nil || !slices.Contains(c.full, dtype.Output) {
		return
	}
	var n numbers
	for _, t := range lentTo(k) {
		n.trained += float64(t.Elems())
		n.states += c.states(t, false)
	}
	s.dense.add(&n, 1)
}

func (c *counter) end(s *share, k *model.Kind, stored []model.Stored, lent []*model.Tensor) {
	var n numbers
	i := 0
	for o := range k.Ops {
		if k.Ops[o].Lent {
			continue
		}
		for _, t := range k.Ops[o].W {
			bytes := bytesPerNumber(&stored[i], t)
			if bytes == 2 {
				bytes = c.j.loaded()
			}
			c.tensor(&n, t, bytes, false, c.thaw == nil)
			s.ends += float64(t.Elems())
			i++
		}
	}
	for _, t := range lent {
		c.tensor(&n, t, c.j.loaded(), false, c.thaw == nil)
		s.ends += float64(t.Elems())
	}
	s.endsStored += n.stored
	s.dense.add(&n, 1)
}

// loaded returns the bytes per parameter of an embedding or head that no recipe quantizes.
func (j *Job) loaded() float64 {
	if j.Plan.Weights == "f32" || endsWide(j) {
		return 4
	}
	return 2
}

// bytesPerNumber returns the bytes per element of a stored tensor; a rank's share is in proportion.
func bytesPerNumber(s *model.Stored, t *model.Tensor) float64 {
	if s.Scheme == nil {
		return 2
	}
	return float64(s.Scheme.Bytes(t.Batch, t.Rows(), t.Cols)) / float64(max(1, t.Elems()))
}

func (c *counter) count(s *share, k *engine.KindCount, stored []model.Stored, l learning) counted {
	x := counted{kind: k.Kind, variant: k.Variant, learning: l}
	i := 0
	for o := range k.Kind.Ops {
		op := &k.Kind.Ops[o]
		if op.Lent {
			continue
		}
		for _, t := range op.W {
			into := &x.dense
			if t.BatchBy == model.ByExpert {
				into = &x.expert
				x.experts += float64(t.Elems())
			}
			c.tensor(into, t, bytesPerNumber(&stored[i], t), true, l == learns)
			x.block.numbers += float64(t.Elems())
			x.largest = max(x.largest, float64(t.Rows()*t.Cols))
			c.adapted(&x, t)
			i++
		}
	}
	x.block.stored = x.dense.stored + x.expert.stored
	if l == still {
		x.block.still = true
		return x
	}
	style := l.as(c.style)
	c.keeps(s, &x.block, k.Kind, &style)
	return x
}

// keeps counts what a block keeps per token.
func (c *counter) keeps(s *share, b *block, k *model.Kind, style *model.Style) {
	j := c.j
	b.saved, b.entry = k.SavedWithEntry(*style)
	b.passed = float64(j.width()) * keysAndValues(k)
	b.scores, b.work = float64(k.SavedScores(*style)), float64(k.BackwardPeak(*style))
	if recomputeOf(j).selective {
		b.products = float64(k.SavedProducts(*style))
	}
	if b.entry {
		b.saved += s.stream
	}
	b.saved += float64(j.Framework.Keep.PerHidden * j.width() * j.Model.Hidden)
	if !j.quantised() {
		return
	}
	if j.Framework.Keep.QuantisedInputs {
		b.saved += c.quantisedInputs(k) * c.passesHeld()
	}
	if j.Framework.Name == "fms-acceleration" && on(j.Training.Fused) {
		b.saved -= s.stream // fused query, key and value matmul: its adapters' input is kept once
	}
}

// passesHeld returns the number of passes whose inputs are held. bitsandbytes before 0.44 keeps inputs with the graph
// rather than among its saved tensors, so that they outlive the backward pass (bitsandbytes/autograd/_functions.py,
// ctx.tensors; its change 1270), and litgpt, which requires 0.42, holds the graph through its loss until the next one
// (litgpt/finetune/lora.py, fit). The next pass is as long if samples fill the length; the longest of padded ones is
// followed by a shorter.
func (c *counter) passesHeld() float64 {
	if on(c.j.Training.Packing) && recomputeOf(c.j).share == 0 {
		return 2
	}
	return 1
}

// quantisedInputs returns the inputs of matmuls that a frozen base does not need for a gradient but that older
// bitsandbytes' 4-bit matmul keeps anyway.
func (c *counter) quantisedInputs(k *model.Kind) float64 {
	all := model.Style{Width: c.style.Width, FusedNorm: true, FusedGlu: true}
	none := all
	none.Frozen = true
	return float64(k.SavedBytes(all) - k.SavedBytes(none))
}

// tensor adds a tensor stored at the given bytes per element, in a block or in embedding or head, fully trained or not.
func (c *counter) tensor(n *numbers, t *model.Tensor, stored float64, inBlock, trains bool) {
	if t.Table {
		n.stored += stored * float64(t.Elems())
		return
	}
	e := float64(t.Elems())
	if c.adapts == nil {
		if !trains && !slices.Contains(c.full, t.Role) || c.frozen(t.Role) {
			n.stored += stored * e
			return
		}
		n.trained += e
		n.states += c.states(t, inBlock)
		if c.opt.rows(t) {
			n.fused += e
		}
		return
	}
	n.stored += stored * e
	if slices.Contains(c.full, t.Role) { // a copy is trained alongside the frozen one
		n.trained += e
		n.states += c.states(t, inBlock)
	}
	if inBlock && c.adapts(t) {
		a := float64(t.Batch) * c.tune.count(t, c.rank)
		n.stored += 4 * c.tune.kept * a
		n.trained += a
		n.lora += a
		n.states += c.adapterStates(t, a)
	}
}

// adapterStates returns the optimizer states of a tensor's adapters with a parameters: two matrices of the adapter's
// rank each.
func (c *counter) adapterStates(t *model.Tensor, a float64) float64 {
	m := c.store.Moment
	switch c.opt.By {
	case factored:
		return 4 * float64(t.Batch) * (float64(t.Rows()+t.Cols) + 2*c.rank)
	case orthogonal:
		return m * a
	case preconditioned:
		square := c.opt.squares(c.rank, float64(t.Cols)) + c.opt.squares(float64(t.Rows()), c.rank)
		return c.opt.Moments*m*a + 4*float64(t.Batch)*square
	}
	return a * (c.opt.Moments*m + c.opt.Fixed)
}

// rows reports whether the optimizer keeps one value per row: of embedding tables whose kernels step in the backward
// pass (fbgemm_gpu/split_table_batched_embeddings_ops_training.py: EXACT_ROWWISE_ADAGRAD; arXiv:2104.05158).
func (o *optimizer) rows(t *model.Tensor) bool {
	return o.By == byRow && t.Role.Embedding() && t.Dims >= 2
}

// states returns the optimizer states of a tensor, in bytes.
func (c *counter) states(t *model.Tensor, inBlock bool) float64 {
	e, m := float64(t.Elems()), c.copies.Moment
	rows, cols := float64(t.Rows()), float64(t.Cols)
	matrix := t.Dims >= 2
	switch c.opt.By {
	case byRow:
		if c.opt.rows(t) {
			return 4 * float64(t.Batch) * rows
		}
	case factored:
		if matrix {
			return 4 * float64(t.Batch) * (rows + cols)
		}
		return 4 * e
	case orthogonal:
		if matrix && inBlock {
			return m * e
		}
		return 2 * m * e
	case preconditioned:
		if matrix {
			return c.opt.Moments*m*e + 4*float64(t.Batch)*c.opt.squares(rows, cols)
		}
	case projected:
		r := c.rank
		if r == 0 {
			r = galoreRank
		}
		if matrix && inBlock && min(rows, cols) > r {
			return m * float64(t.Batch) * r * (2*max(rows, cols) + min(rows, cols))
		}
		return 2 * m * e
	}
	if at := c.j.Framework.Keep.Embeddings32; c.opt.Fixed == eightBit && t.Role.Embedding() && at != (engine.Version{}) && c.j.Version.AtLeast(at) {
		return 8 * e
	}
	return e * (c.opt.Moments*m + c.opt.Fixed)
}

// towers counts towers and other parts, replicated on the ranks of the first stage; audio output and prediction layers
// are not trained.
func (c *counter) towers(s *share) {
	if !s.pl.Pre {
		return
	}
	for i := range c.j.Model.Parts {
		p := &c.j.Model.Parts[i]
		if i == 0 || p.Name == model.PartMTP || p.Speaks {
			continue
		}
		n := float64(p.Params())
		if c.adapts != nil || c.thaw != nil || slices.Contains(c.j.Training.Frozen, p.Name) {
			s.dense.stored += c.j.loaded() * n
			continue
		}
		s.dense.trained += n
		s.dense.states += n * (c.opt.Moments*c.store.Moment + c.opt.Fixed)
	}
}
