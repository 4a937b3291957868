package llamacpp

import (
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/unit"
)

// Compute buffers by closed formula: the largest of a few points of the worst-case graph, each linear in
// the tokens computed at a time, in the cells of the cache and in the rows of logits. What ggml's
// allocator cannot reuse is left out; compute_band.go has the bands that follow. The rest of the package
// knows graph.device and graph.host only.

// graph is the worst-case graph of a model under a plan.
type graph struct {
	s      *sizer
	hidden int64
	vocab  int64
	quirk  quirk
	input  inputs
	kinds  []dims
	points [][]point // of each kind of layer
	on     []graphPart
	hostOn graphPart
	// copies of its inputs that each device keeps: several when devices work on batches one behind the
	// other (GGML_SCHED_MAX_COPIES, ggml/src/ggml-backend.cpp).
	copies     int64
	device     []spread
	hostSpread spread
}

// graphPart is what one place computes.
type graphPart struct {
	points []point
	head   bool
	first  bool
	// weight and matrix are the largest matrices on the host, of a layer and of the head, which the first
	// device copies to itself to multiply a large batch (op_offload).
	weight, matrix unit.Bytes
}

// inputs of the graph stay allocated throughout.
type inputs struct {
	token   int64 // bytes per token: positions, cache rows to write
	mask    int64 // bytes per cell and token on the first device and on the host
	later   int64 // and on devices behind the first
	cast    int64 // of the mask's copy in f16 on the first device, which is no input
	window  int64 // of sliding layers, 0 for none
	rotates unit.Bytes
}

// point of the graph where much is alive at once: bytes per token, per cell and token, per cell of all
// streams, per slot.
type point struct {
	name   string
	token  int64
	score  int64
	cell   int64
	slot   int64
	window int64 // cells are those of a window; 0 for the whole context
	weighs bool  // a large matrix is at work
	origin string
}

const maxCopies = 4

func newGraph(s *sizer) *graph {
	m := s.job.Model
	g := &graph{s: s, hidden: m.Hidden, vocab: m.Vocab, quirk: quirks[m.Family], copies: 1}
	part := m.Decoder()
	g.kinds = make([]dims, len(part.Kinds))
	for i := range part.Kinds {
		g.kinds[i] = dimsOf(&part.Kinds[i])
		g.points = append(g.points, g.pointsOf(&g.kinds[i]))
	}
	g.input = g.inputsOf(g.kinds, rotates(part))
	if s.pipelined() {
		g.copies = maxCopies
	}
	for i := range s.devices {
		g.on = append(g.on, g.part(i))
		g.device = append(g.device, s.spread(s.devices[i].backend))
	}
	g.hostSpread = s.spread(nil)
	g.hostOn = g.hostPart()
	return g
}

// part gathers the points of what a device computes: its layers, and for large batches the first device
// takes over those of the host, matrix by matrix.
func (g *graph) part(at int) graphPart {
	p := graphPart{head: g.s.layout.head == at}
	p.first = len(g.s.layout.layer) > 0 && g.s.layout.layer[0] == at
	g.gather(at, func(k uint8) { p.points = g.add(p.points, k, g.s.set.offloadKV, true) })
	if at > 0 || !g.takesOver() {
		return p
	}
	p.weight, p.matrix = g.s.buffers.largest, g.s.buffers.head
	g.gather(host, func(k uint8) {
		p.points = g.add(p.points, k, false, true)
		if d := &g.kinds[k]; d.attn != nil && g.s.set.offloadKV {
			p.points = append(p.points, g.fetched(d)...)
		}
	})
	return p
}

// takesOver reports whether batches are large enough for the first device to take over the host's products.
func (g *graph) takesOver() bool { return g.s.rules.batches && g.s.set.ubatch >= offloadBatch }

// hostPart is what the host computes: everything without devices; attention over a cache that the plan
// keeps on the host; its own layers in small batches.
func (g *graph) hostPart() graphPart {
	p := graphPart{head: g.s.layout.head == host && (len(g.s.devices) == 0 || !g.takesOver())}
	switch {
	case len(g.s.devices) > 0 && !g.s.set.offloadKV:
		for k := range g.kinds {
			p.points = g.add(p.points, uint8(k), true, false)
		}
	case len(g.s.devices) == 0 || !g.takesOver():
		g.gather(host, func(k uint8) { p.points = g.add(p.points, k, true, true) })
	}
	return p
}

// gather calls f for each kind of layer at a place.
func (g *graph) gather(at int, f func(kind uint8)) {
	var seen [256]bool
	for l, k := range g.s.job.Model.Decoder().Layers {
		if g.s.layout.layer[l] == at && !seen[k] {
			seen[k] = true
			f(k)
		}
	}
}

// add the points of a kind: those of attention, and those with large matrices.
func (g *graph) add(to []point, kind uint8, attention, matrices bool) []point {
	for i := range g.points[kind] {
		if p := g.points[kind][i]; p.weighs && matrices || !p.weighs && attention {
			to = append(to, p)
		}
	}
	return to
}

// fetched are the points of attention over keys and values that are fetched from the host.
func (g *graph) fetched(d *dims) []point {
	out := g.attention(d)
	if len(out) == 0 {
		out = []point{{name: "attention_bytes", token: 8*g.hidden + 8*d.queries(), window: max(d.attn.Window, d.attn.Chunk), origin: "8 × hidden + 8 × queries"}}
	}
	for i := range out {
		out[i].cell += int64(g.s.k.Row(d.keys()) + g.s.v.Row(d.values()))
	}
	return out
}

// offloadBatch is the fewest tokens for which a device copies a matrix from the host
// (GGML_OP_OFFLOAD_MIN_BATCH).
const offloadBatch = 32

// pipelined: all layers on several devices, in whole layers, with their caches, and nothing moved
// (src/llama-context.cpp).
func (s *sizer) pipelined() bool {
	p := s.job.Plan
	if len(s.devices) < 2 || p.SplitMode == "row" || !s.set.offloadKV || s.layout.head == host || s.layout.any(host) || p.OverrideTensor != "" || p.CPUMoE != nil && *p.CPUMoE != 0 {
		return false
	}
	for i := range s.devices {
		if !s.devices[i].backend.async {
			return false
		}
	}
	return true
}

func (l *layout) any(at int) bool {
	for _, p := range l.layer {
		if p == at {
			return true
		}
	}
	return false
}

func (g *graph) inputsOf(all []dims, rotary bool) inputs {
	in := inputs{mask: 4, later: 4}
	switch rule := &g.s.rules.inputs; {
	case g.s.set.flash && rule.halfMask:
		in.mask, in.later = 2, 2
	case g.s.set.flash:
		in.later, in.cast = 2, 2
	}
	if rotary {
		in.token = max(4, g.quirk.positions)
	}
	var values, window, head int64
	latent := false
	for i := range all {
		a := all[i].attn
		if a == nil || a.Bidirectional {
			continue
		}
		latent = latent || a.Latent != nil && g.s.rules.latent != latentExpanded
		values, window, head = max(values, all[i].values()), max(window, a.Window, a.Chunk), max(head, a.DimK)
	}
	switch {
	case values == 0:
		in.mask, in.later, in.cast = 0, 0, 0
		return in
	case latent:
		in.token += g.rowInputs(0)
		return in
	}
	caches := int64(1)
	if window > 0 {
		in.window, caches = window, 2
	}
	in.token += caches * g.rowInputs(values)
	in.rotates = unit.Bytes(caches) * g.rotations(head)
	return in
}

// rowInputs are the numbers of the cache rows to write: one for a token's keys, and for its values one, or
// without flash attention one for each element, because values are stored by columns.
func (g *graph) rowInputs(values int64) int64 {
	switch {
	case !g.s.rules.inputs.rows:
		return 0
	case values == 0:
		return 8
	case g.s.set.flash:
		return 16
	}
	return 8 + 8*values
}

// rotations are the matrices by which quantised keys and values are turned: as wide as the largest power
// of two up to 128 that divides a head.
func (g *graph) rotations(head int64) (n unit.Bytes) {
	if !g.s.rules.rotate || head%64 != 0 {
		return 0
	}
	w := int64(64)
	if head%128 == 0 {
		w = 128
	}
	for _, f := range []*dtype.Format{g.s.k, g.s.v} {
		if f.BlockElems > 1 {
			n += unit.Bytes(4 * w * w)
		}
	}
	return n
}

// terms are the numbers of one load.
type terms struct {
	b                      *ledger.Book
	tokens, cells, outputs ledger.Num
	sh                     *shape
}

func (g *graph) terms(b *ledger.Book, sh *shape) terms {
	return terms{b: b, sh: sh, tokens: b.Int("tokens", sh.tokens, "computed at a time: ubatch"), cells: b.Int("cells", sh.cells, "of one stream"), outputs: b.Int("outputs", sh.outputs, "rows of logits")}
}

// external are the inputs that every place needs: positions, masks, rows to write, rotations.
func (g *graph) external(t *terms, maskBytes int64) ledger.Num {
	b := t.b
	n := b.Mul(b.Int("input_bytes", g.input.token, "positions and cache rows of one token"), t.tokens)
	if maskBytes > 0 {
		n = b.Add(n, g.masks(t, maskBytes))
	}
	if g.input.rotates > 0 {
		n = b.Add(n, b.Size("rotations", g.input.rotates, "of quantised keys and values"))
	}
	return n
}

// masks are those of the whole context and of windows.
func (g *graph) masks(t *terms, bytes int64) ledger.Num {
	b := t.b
	mask := b.Int("mask_bytes", bytes, "f16 with flash attention, else f32")
	n := b.Mul(mask, t.cells, t.tokens)
	if g.input.window > 0 {
		n = b.Add(n, b.Mul(mask, g.windowCells(t, g.input.window), t.tokens))
	}
	return n
}

func (g *graph) windowCells(t *terms, window int64) ledger.Num {
	return t.b.Int("window_cells", g.s.set.slidingCells(&g.s.rules, t.sh, window), "of sliding layers")
}

// rows are the numbers of the rows with logits.
func (g *graph) rows(t *terms) ledger.Num {
	return t.b.Max(t.b.Lit(32), t.b.Mul(t.b.Lit(4), t.outputs))
}

// stream is one f32 row of the hidden width for every token, times n.
func (g *graph) stream(t *terms, n int64) ledger.Num {
	return t.b.Mul(t.b.Lit(float64(4*n)), t.b.Int("hidden", g.hidden, "model"), t.tokens)
}

// widest adds the largest of the points of a place; a place that computes no layer has none.
func (g *graph) widest(t *terms, base ledger.Num, p *graphPart) ledger.Num {
	if len(p.points) == 0 {
		return base
	}
	most := g.point(t, &p.points[0], p.weight)
	for i := range p.points[1:] {
		n := g.point(t, &p.points[1+i], p.weight)
		if t.b != nil || n.V > most.V {
			most = t.b.Max(most, n)
		}
	}
	return t.b.Add(base, most)
}

func (g *graph) point(t *terms, p *point, weight unit.Bytes) ledger.Num {
	b := t.b
	n := b.Mul(b.Int(p.name, p.token, p.origin), t.tokens)
	cells := t.cells
	if p.window > 0 && (p.score > 0 || p.cell > 0) {
		cells = g.windowCells(t, p.window)
	}
	if p.score > 0 {
		n = b.Add(n, b.Mul(b.Int("score_bytes", p.score, "4 × heads"), cells, t.tokens))
	}
	if p.cell > 0 {
		n = b.Add(n, b.Mul(b.Int("copy_bytes", p.cell, "of keys and values of a cell"), cells, b.Int("streams", t.sh.streams, "of the cache")))
	}
	if p.slot > 0 {
		n = b.Add(n, b.Mul(b.Int("state_bytes", p.slot, "of one slot"), b.Int("slots", t.sh.slots, "sequences")))
	}
	if p.weighs && weight > 0 {
		n = b.Add(n, b.Size("host_matrix", weight, "the largest of a layer on the host, copied for large batches"))
	}
	return n
}

// logits: the last hidden rows and the logits themselves.
func (g *graph) logits(t *terms) ledger.Num {
	b := t.b
	n := b.Mul(b.Lit(4), b.Add(b.Int("hidden", g.hidden, "model"), b.Int("vocabulary", g.vocab, "model")), t.outputs)
	if g.quirk.headRows > 0 {
		n = b.Add(n, b.Mul(b.Int("head_row_bytes", g.quirk.headRows*g.hidden, "of one row"), t.outputs))
	}
	if g.quirk.headTokens > 0 {
		n = b.Add(n, b.Mul(b.Int("head_token_bytes", g.quirk.headTokens*g.hidden, "of one token"), t.tokens))
	}
	return n
}

// deviceBuffer is the compute buffer of the i-th device.
func (g *graph) deviceBuffer(b *ledger.Book, i int, sh *shape) ledger.Num {
	t, p := g.terms(b, sh), &g.on[i]
	if len(p.points) == 0 && !p.head && p.matrix == 0 {
		return b.Lit(0)
	}
	base := g.inputsOn(&t, p, i)
	n := g.widest(&t, base, p)
	if !p.head && p.matrix == 0 {
		return n
	}
	head := g.logits(&t)
	if g.copies > 1 {
		head = b.Add(head, base)
	}
	if p.matrix > 0 {
		head = b.Add(head, b.Size("head_matrix", p.matrix, "of the head, on the host, copied for large batches"))
	}
	return b.Max(head, n)
}

// inputsOn a device: several copies of them when devices work one behind the other. Behind the first
// device there are the streams that the one before hands on.
func (g *graph) inputsOn(t *terms, p *graphPart, i int) ledger.Num {
	b, mask, crossing := t.b, g.input.mask, int64(1)
	if !p.first {
		mask = g.input.later
		if g.s.rules.inputs.both {
			crossing = 2
		}
	}
	base := g.external(t, mask)
	if p.head {
		base = b.Add(base, g.rows(t))
	}
	switch {
	case g.copies > 1:
		base = b.Mul(b.Int("copies", g.copies, "of the inputs, for pipeline parallelism"), b.Add(base, g.stream(t, crossing)))
	case !p.first && g.s.layout.any(i):
		base = b.Add(base, g.stream(t, crossing))
	}
	if p.first && g.input.cast > 0 {
		base = b.Add(base, g.masks(t, g.input.cast))
	}
	return base
}

// hostBuffer is the compute buffer on the host: beside devices the tokens, their embedding and the
// inputs, before they are copied; what the host computes itself.
func (g *graph) hostBuffer(b *ledger.Book, sh *shape) ledger.Num {
	t, p := g.terms(b, sh), &g.hostOn
	tokens := b.Mul(b.Lit(4), t.tokens)
	shared := b.Add(tokens, g.external(&t, g.input.mask), g.rows(&t))
	if g.copies > 1 {
		shared = b.Mul(b.Int("copies", g.copies, "of the inputs, for pipeline parallelism"), shared)
	}
	base := shared
	if len(g.on) > 0 {
		base = b.Add(base, g.stream(&t, 1)) // the embedding of the tokens, on its way to a device
	}
	if g.s.rules.inputs.both {
		base, tokens = b.Add(base, g.stream(&t, 1)), b.Add(tokens, g.stream(&t, 1))
	}
	n := g.widest(&t, base, p)
	if p.head {
		n = b.Max(b.Add(tokens, g.logits(&t)), n)
	}
	return n
}

// band of a compute buffer.
func (s spread) band(n ledger.Num) (low, high unit.Bytes) {
	return unit.Bytes(math.Floor(n.V * s.low)), unit.Bytes(math.Ceil(n.V * s.high))
}
