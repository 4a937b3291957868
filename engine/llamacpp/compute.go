package llamacpp

import (
	"github.com/memwall/memwall/engine/llamacpp/ggml"
	"github.com/memwall/memwall/unit"
)

// Compute buffers: the worst-case graph is lowered, scheduled on the devices and the host, and its
// allocations are replayed (engine/llamacpp/ggml).

// graph is the worst-case graph of a model under a plan. It remembers what it compiled.
type graph struct {
	s        *sizer
	site     *ggml.Site // nil on the host alone
	compiled map[batchKind]*ggml.Compiled
	planner  ggml.Planner
	mixed    bool  // tensors of layers, or the head, lie on the host beside devices
	err      error // the model has a step that no rule lowers
}

// batchKind is what of a load changes the graph itself: streams of the cache, and, where tensors lie on the
// host, whether there are rows enough for a device to take over: tokens, outputs and tokens of a sequence,
// each up to offloadBatch.
type batchKind struct {
	streams, dry          bool
	tokens, outputs, each int64
}

func (g *graph) kind(n *ggml.Sizes, dry bool) batchKind {
	k := batchKind{streams: n.Streams > 1, dry: dry}
	if g.mixed {
		k.tokens, k.outputs, k.each = min(n.Tokens, offloadBatch), min(n.Outputs, offloadBatch), min(n.Tokens/n.Seqs, offloadBatch)
	}
	return k
}

func newGraph(s *sizer) *graph {
	g := &graph{s: s, site: s.site(), compiled: map[batchKind]*ggml.Compiled{}}
	g.mixed = g.site != nil && (!g.site.Whole || !s.loader.m.none())
	sh := s.set.shape(&s.rules, s.job.Load())
	_, g.err = g.compile(s.sizes(&sh, sh.tokens, sh.outputs), false)
	return g
}

// compile the graph of a batch, once for each kind.
func (g *graph) compile(n ggml.Sizes, dry bool) (*ggml.Compiled, error) {
	kind := g.kind(&n, dry)
	if c := g.compiled[kind]; c != nil {
		return c, nil
	}
	if g.site != nil {
		g.site.Rows, g.site.DryRun = n, dry
	}
	c, err := ggml.Compile(g.s.job.Model, g.s.graphShape(kind.streams), g.site)
	if err != nil {
		return nil, err
	}
	g.compiled[kind] = c
	return c, nil
}

// graphShape is what of the plan and the version changes the graph.
func (s *sizer) graphShape(streams bool) ggml.Shape {
	in := &s.rules.inputs
	return ggml.Shape{Flash: s.set.flash, QuantisedK: s.k.BlockElems > 1 && s.rules.rotate, QuantisedV: s.v.BlockElems > 1 && s.rules.rotate, Streams: streams,
		Older: ggml.Older{OneInput: !in.both, WideMask: !in.halfMask, NoRows: !in.rows, PlainGates: !s.rules.gated, CopiedParts: s.rules.copied, Latent: latentGraph[s.rules.latent]}}
}

var latentGraph = map[latentCache]ggml.LatentCache{latentOnly: ggml.LatentOnly, latentAndV: ggml.LatentAndValue, latentExpanded: ggml.LatentExpanded}

// sizes of a batch of so many tokens, outputs of which have logits.
func (s *sizer) sizes(sh *shape, tokens, outputs int64) ggml.Sizes {
	n := ggml.Sizes{Tokens: unit.PadUp(tokens, sh.slots), Outputs: outputs, Cells: sh.cells, WindowCells: sh.cells, Seqs: sh.slots, Streams: sh.streams}
	for _, w := range s.job.Model.Spans() {
		n.WindowCells = s.set.slidingCells(&s.rules, sh, w)
	}
	return n
}

// buffers are compute buffers of every device, and of the host behind them: those of a run, and those that a
// dry run counts.
type buffers struct{ run, dry []unit.Bytes }

func (g *graph) buffers(sh *shape) buffers {
	out := buffers{run: g.most(sh, false)}
	if out.dry = out.run; len(g.s.devices) > 1 {
		out.dry = g.most(sh, true)
	}
	return out
}

// most of what a batch of prompts needs, or, where that runs elsewhere, one token for each slot.
func (g *graph) most(sh *shape, dry bool) []unit.Bytes {
	out := g.peaks(sh, sh.tokens, sh.outputs, dry)
	if g.mixed {
		for i, n := range g.peaks(sh, sh.slots, sh.slots, dry) {
			out[i] = max(out[i], n)
		}
	}
	return out
}

func (g *graph) peaks(sh *shape, tokens, outputs int64, dry bool) []unit.Bytes {
	n := g.s.sizes(sh, tokens, outputs)
	out := make([]unit.Bytes, len(g.s.devices)+1)
	c, err := g.compile(n, dry)
	if err != nil {
		return out
	}
	for i := range out {
		out[i] = g.planner.Peak(&c.Spots[i], n)
	}
	return out
}
