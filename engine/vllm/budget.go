package vllm

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
)

// The budget: vllm/worker/worker.py (V0), vllm/v1/worker/gpu_worker.py and vllm/utils/mem_utils.py (V1).
// What gpu_memory_utilization allows, less weights, the profile run's peak, memory outside torch and, from
// 0.20, an estimate for graphs, is the pool of pages.

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	s.limit(b, &r)
	r.Items = append(r.Items, s.weights(b, p))
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Silent, p.others)...)
	if s.t.rocm {
		r.Items = append(r.Items, s.loading(b))
	}
	r.Items = append(r.Items, s.activations(b, p), s.system(b, &p.pl))
	if s.job.Plan.All2All != "" {
		r.Items = append(r.Items, dispatchItem(b, s.job))
	}
	if p.hosted.Bytes > 0 && !p.hosted.InPlace {
		r.Items = append(r.Items, engine.HostedWindow(b, &p.hosted))
	}
	r.Host = engine.HostedItems(b, &p.hosted)
	if g := s.graphs(b, p); g.Bytes > 0 {
		if setsGraphsAside(s.job, s.t.rocm) {
			r.Items = append(r.Items, g)
		} else {
			r.Beside = append(r.Beside, g)
		}
	}
	free := s.available(&r)
	kv := s.kvCache(b, p, l)
	r.KV = engine.KV{PerToken: p.g.perToken(), Needed: kv.Bytes, Preallocated: true, BlockTokens: p.g.block, Pages: p.g.pages()}
	r.KV.Pool, r.KV.Given = p.g.stated(s.job.Plan, max(0, free.mid)), s.job.Plan.KVCacheMemory > 0 || s.job.Plan.KVPoolTokens > 0
	if r.Unlimited {
		r.KV.Pool = r.KV.Needed
	}
	r.KV.Blocks = p.g.blocks(r.KV.Pool)
	r.Host = append(r.Host, engine.EvictedItems(b, s.job.Plan, r.KV.Pool)...)
	r.Items = append(r.Items, split(kv, p, b, s.job.Sampled(l, false).Alive)...)
	return r
}

// stated returns the pool with the number of blocks given in the plan, if memory holds as many (vllm/v1/core/kv_cache_utils.py,
// may_override_num_blocks).
func (g *groups) stated(p *plan.Plan, pool unit.Bytes) unit.Bytes {
	if p.KVPoolTokens == 0 || p.BlockSize == 0 {
		return pool
	}
	return min(pool, unit.Bytes(int64(p.KVPoolTokens)/int64(p.BlockSize)*g.size)*g.page())
}

// budget is memory with its band; negative if the plan does not start.
type budget struct{ mid, low, high unit.Bytes }

// available returns what remains of Usable for pages, once all items but the caches are booked.
func (s *sizer) available(r *engine.Rank) budget {
	if n := unit.Bytes(s.job.Plan.KVCacheMemory); n > 0 {
		return budget{n, n, n}
	}
	if r.Unlimited {
		return budget{}
	}
	fixed := ledger.Sum(r.Items)
	mid := r.Usable.Bytes() - fixed.Bytes
	total, u := seen(s.job.Device(r.Index)), float64(r.Usable.Bytes())
	below := math.Hypot(float64(fixed.High-fixed.Bytes), u*(1-ratio(total.Low, total.Value)))
	above := math.Hypot(float64(fixed.Bytes-fixed.Low), u*(ratio(total.High, total.Value)-1))
	return budget{mid, mid - unit.Bytes(below), mid + unit.Bytes(above)}
}

// ratio returns bound/of, or 1 if the bound is unknown.
func ratio(bound, of unit.Bytes) float64 {
	if bound == 0 || of == 0 {
		return 1
	}
	return float64(bound) / float64(of)
}

func (s *sizer) weights(b *ledger.Book, p *prepared) ledger.Item {
	total := b.Lit(0)
	for i, w := range p.weights {
		n := b.Size(engine.InputName(w.name), w.bytes, "tensors as torch allocates them, this rank")
		if w.count > 1 {
			n = b.Mul(b.Int("layers", w.count, w.name), n)
		}
		if i > 0 {
			n = b.Add(total, n)
		}
		total = n
	}
	for _, x := range []struct {
		name, origin string
		bytes        unit.Bytes
	}{
		{"rotary_tables", "positions × rotary dimensions × width", p.rotary},
		{"attention_scales", "7 blocks of 512 for each attention layer", p.scalars},
		{"segment_rests", "of torch's segments, too small to split off", p.rests},
	} {
		if x.bytes > 0 {
			total = b.Add(total, b.Size(x.name, x.bytes, x.origin))
		}
	}
	if p.hosted.Bytes > 0 {
		total = b.Sub(total, b.Size("on_host", p.hosted.Bytes, "parameters of layers, docs/formulas.md#cpu-offload"))
	}
	it := ledger.Known("weights", "weights", total, ledger.Derived, ledger.Persistent, ledger.Device, "docs/formulas.md#vllm-weights")
	high := it.Bytes + p.rests
	if s.job.Version.AtLeast(unreplayed) {
		high += it.Bytes / 300 // six logs of 0.19 to 0.22 are 0.05 to 0.3 % above
	}
	if s.job.Checkpoint.Assumed {
		high += p.spared
	}
	return it.Band(it.Bytes-p.rests, high)
}

// spared is how much more the projections of recurrent mixers take in 16 bits than as stored. Whoever quantises a hybrid chooses:
// llm-compressor's recipes ignore linear_attn (examples/quantization_w4a4_fp4/qwen3_next_example.py), others pack it. In 8 bits makers pack it themselves, and
// so does vLLM when it loads.
func spared(g *engine.WeightGroup) (more unit.Bytes) {
	if !slices.ContainsFunc(g.Tensors, func(t engine.WeightTensor) bool { return t.Role == dtype.SSMConv }) {
		return 0
	}
	for i := range g.Tensors {
		t := &g.Tensors[i]
		if t.Scheme == nil || t.Scheme.Elem.Bits() >= 8 || strings.HasPrefix(string(t.Role), "ffn_") {
			continue
		}
		f := t.Scheme.Elem
		if wide := t.Main * unit.Bytes(2*f.BlockElems) / unit.Bytes(f.BlockBytes); wide > t.Local {
			more += unit.Bytes(g.Count) * (wide - t.Local)
		}
	}
	return more
}

// activations returns the peak of the profile run.
func (s *sizer) activations(b *ledger.Book, p *prepared) ledger.Item {
	tokens, v := int64(s.job.Plan.MaxBatchedTokens), s.job.Version
	peak := forwardPeak(b, &p.w, tokens, v)
	name, spared := "activations", unit.Bytes(0)
	if p.pl.Post {
		k, why := perLogit(s.job, s.t.rocm)
		sampler := samplerPeak(b, &p.w, int64(s.job.Plan.MaxSeqs), tokens, k, why)
		if least := leastPerLogit(v, s.t.rocm); least > 0 {
			spared = max(0, sampler.Bytes()-max(peak.Bytes(), samplerPeak(nil, &p.w, int64(s.job.Plan.MaxSeqs), tokens, least, "").Bytes()))
		}
		if sampler.V > peak.V {
			name = fmt.Sprintf("activations: sampler over %s sequences", unit.Count(min(int64(s.job.Plan.MaxSeqs), tokens)))
		}
		peak = b.Max(sampler, peak)
	}
	seen := ledger.Num{}
	if e := p.encoder; e != nil {
		items := e.items(s)
		n := b.Int("items", items, "of the encoder's budget")
		seen = e.peak(b, n)
		peak = b.Add(peak, e.outputs(b, n))
		if seen.V > peak.V {
			name = e.name(items)
		}
		peak = b.Max(seen, peak)
	}
	if p.index > 0 {
		peak = b.Add(peak, indexedPrompts(b, p.index, int64(s.job.Plan.Context)))
	}
	later := peak
	if first := compilePeak(b, p, s.job); first.V > peak.V {
		name, peak = "activations: first start, compiling", b.Max(first, peak)
	}
	kept := workspace(s.t.hopper)
	peak = b.Add(peak, b.Size("cublas_workspace", kept, "allocated by the first product"))
	it := ledger.Known("activations", name, peak, ledger.Derived, ledger.Ephemeral, ledger.Device, "docs/formulas.md#vllm-activations")
	least := later.Bytes() + kept - spared
	low, high := least-least/50, it.Bytes+it.Bytes/50
	switch {
	case p.encoder != nil:
		high = max(high, it.Bytes+unit.Bytes(seen.V/3)) // attention in float32 may take more than the FFN
	case s.job.Model.Traits.Multimodal && !engine.On(s.job.Plan.TextOnly, false):
		high += 2 * unit.GiB // the largest item of this model is not described
	}
	return it.Band(low, high)
}

// system returns the memory not allocated by torch.
func (s *sizer) system(b *ledger.Book, pl *engine.Placed) ledger.Item {
	many := pl.Parallel.TP*pl.Parallel.PP > 1
	assumed, source := outsideTorch(s.job.Version, s.t, pl.Parallel.TP, pl.Parallel.PP)
	c := assumed.or()
	id, name := "driver", "driver growth"
	if many {
		id, name = "collectives", "NCCL, driver growth"
	}
	n := b.Size("outside_torch", gib(c.Value), c.source())
	return ledger.Known(id, name, n, c.basis(), ledger.Persistent, ledger.Device, source).Band(c.band(1))
}

// loading returns what ROCm's driver counts beside the weights after loading.
func (s *sizer) loading(b *ledger.Book) ledger.Item {
	c := rocmLoading.or()
	n := b.Size("hipblaslt_workspace", gib(c.Value), c.source())
	return ledger.Known("weights", "loading: hipBLASLt, unused segments", n, c.basis(), ledger.Persistent, ledger.Device,
		"vllm/platforms/rocm.py (get_current_memory_usage)").Band(c.band(1))
}

// graphs returns the graphs: an estimate inside the budget if the version reserves them, else memory beside it.
func (s *sizer) graphs(b *ledger.Book, p *prepared) ledger.Item {
	v := s.job.Version
	switch {
	case eager(s.job.Plan):
		return ledger.Item{}
	case setsGraphsAside(s.job, s.t.rocm):
		return s.estimatedGraphs(b, p)
	}
	if c, ok := allGraphs(v, &s.t); ok {
		n := b.Size("graphs", gib(c.Value), c.source())
		return ledger.Known("graphs", "CUDA graphs", n, c.basis(), ledger.SemiPersistent, ledger.Device,
			"capture_model of vllm/worker/model_runner.py, vllm/v1/worker/gpu_model_runner.py").Band(c.band(1))
	}
	c := graphPiece(&s.t)
	return ledger.Known("graphs", "CUDA graphs", s.pieces(b, p, c), c.basis(), ledger.SemiPersistent, ledger.Device,
		"capture_model of vllm/v1/worker/gpu_model_runner.py").Band(c.band(p.pieces(s.captured())))
}

// estimatedGraphs is "Estimated CUDA graph memory"; a plan whose log has the line is better asked with it.
func (s *sizer) estimatedGraphs(b *ledger.Book, p *prepared) ledger.Item {
	first, c := firstGraph.or(), estimatedPiece(s.job.Machine, p.pl.Parallel.TP, latent(s.job)).or()
	n := b.Add(b.Size("first", gib(first.Value), first.source()), s.pieces(b, p, c))
	it := ledger.Known("graphs", "CUDA graphs", n, c.basis(), ledger.SemiPersistent, ledger.Device,
		"vllm/v1/worker/gpu_model_runner.py (profile_cudagraph_memory)")
	low, high := c.band(p.pieces(s.captured()))
	return it.Band(low+gib(first.Low), high+gib(first.High))
}

// pieces returns the number of graph pieces for a number of batch sizes.
func (p *prepared) pieces(sizes int64) float64 { return float64(sizes * (p.splits + 1)) }

// pieces of graphs: what is between the operators at which they are split, for each batch size.
func (s *sizer) pieces(b *ledger.Book, p *prepared, c Constant) ledger.Num {
	between := b.Add(b.Int("splits", p.splits, "layers and indexers of this rank"), b.Lit(1))
	return b.Floor(b.Mul(b.Size("piece", gib(c.Value), c.source()), b.Int("batch_sizes", s.captured(), "captured"), between))
}

// splits counts the operators excluded from graphs: attention and recurrence, one per layer, and the indexers of sparse attention
// (splitting_ops of vllm/config/compilation.py); key is the indexer's bytes per token.
func splits(pl *engine.Placed) (n int64, key unit.Bytes) {
	n = int64(pl.Last - pl.First)
	for _, k := range pl.Kinds {
		k.Kind.Caches(func(c model.Cache) {
			if c.Class == model.IndexKV {
				n, key = n+k.Count, max(key, c.TokenBytes(nil, nil))
			}
		})
	}
	return n, key
}

// captured counts the batch sizes with graphs up to a largest one, which is the version's own where the plan says none.
func (s *sizer) captured() int64 {
	p := s.job.Plan
	return captureSizes(s.job.Version, s.job.Model.Family, int64(p.GraphBatch), int64(p.MaxSeqs), int64(p.MaxBatchedTokens))
}

// kvCache returns what the load takes of the pool.
func (s *sizer) kvCache(b *ledger.Book, p *prepared, l engine.Load) ledger.Item {
	g := &p.g
	per := b.Int("blocks_per_sequence", g.perRequest(l.Context, s.inFlight()), s.blockOrigin(g, l))
	x := s.job.Sampled(l, Engine{}.Schedule(s.job).PrefixCache)
	layers, page := b.Int("layers_per_group", g.size, "docs/formulas.md#vllm-groups"), s.pageFormula(b, g)
	n := b.Mul(b.Int("sequences", x.Alive, "plan"), per, layers, page)
	if blocks := g.shared(x.Tokens); x.Sharing*blocks > 0 {
		sharing := b.Int("sharing", x.Sharing, "answers beyond the first to each prompt")
		n = b.Sub(n, b.Mul(sharing, b.Int("shared_blocks", blocks, "whole blocks of a prompt"), layers, page))
	}
	basis := ledger.Exact
	if g.padded {
		basis = ledger.Derived
	}
	return ledger.Known("kv_cache", "KV cache", n, basis, ledger.SemiPersistent, ledger.Device, "docs/formulas.md#vllm-pages")
}

// settledWindows: blocks that leave a window are freed once the steps in flight are done, and each layer of a window is given room for as
// many steps as the scheduler runs ahead (#47728, VllmConfig.max_in_flight_tokens).
var settledWindows = engine.V(0, 26, 0)

// inFlight returns the tokens that windowed layers may have to keep beyond the window: those of a step, or of all scheduled steps,
// one per stage and two with asynchronous scheduling, the default.
func (s *sizer) inFlight() int64 {
	p := s.job.Plan
	if s.job.Version.Before(settledWindows) {
		return int64(p.MaxBatchedTokens)
	}
	return int64(p.MaxBatchedTokens) * max(2, p.PP)
}

func (s *sizer) blockOrigin(g *groups, l engine.Load) string {
	if g.total() <= 1 {
		return fmt.Sprintf("ceil(%d tokens / %d)", l.Context, g.block)
	}
	return fmt.Sprintf("over %d groups of layers", g.total())
}

// pageFormula returns one layer's page, by the first attention spec.
func (s *sizer) pageFormula(b *ledger.Book, g *groups) ledger.Num {
	if len(g.specs) == 0 {
		return b.Lit(0)
	}
	for i := range g.specs {
		if c := &g.specs[i]; c.class != model.StateCache {
			return b.Mul(b.Int("block_tokens", c.block, "page of the attention backend"), b.Size("bytes_per_token", c.perTok, c.origin))
		}
	}
	return b.Size("page", g.page(), "recurrent state of one layer")
}

// split separates recurrent states from the KV cache.
func split(kv ledger.Item, p *prepared, b *ledger.Book, sequences int64) []ledger.Item {
	states := int64(0)
	for i, c := range p.g.specs {
		if c.class == model.StateCache {
			states += p.g.count[i]
		}
	}
	switch {
	case states == 0:
		return []ledger.Item{kv}
	case states == p.g.total():
		kv.ID, kv.Name = "state", "recurrent state"
		return []ledger.Item{kv}
	}
	n := b.Mul(b.Int("sequences", sequences, "plan"), b.Int("state_groups", states, "one block each"),
		b.Int("layers_per_group", p.g.size, "docs/formulas.md#vllm-groups"),
		b.Size("page", p.g.page(), "a state, padded to the attention's page"))
	state := ledger.Known("state", "recurrent state", n, ledger.Exact, ledger.SemiPersistent, ledger.Device, "docs/formulas.md#vllm-pages")
	rest := b.Sub(kv.Why, n)
	return []ledger.Item{state, ledger.Known(kv.ID, kv.Name, rest, kv.Basis, kv.Life, kv.Place, kv.Source)}
}

// poolTokens returns "GPU KV cache size": the tokens that the pool holds.
func (s *sizer) poolTokens(g *groups, blocks int64, l engine.Load) int64 {
	if g.total() == 0 {
		return 0
	}
	if s.job.Version.AtLeast(tokensByConcurrency) {
		return int64(concurrency(g, blocks, l, s.inFlight()) * float64(l.Context))
	}
	block := g.block
	if slices.ContainsFunc(g.specs, func(c spec) bool { return c.class == model.StateCache }) &&
		!engine.On(s.job.Plan.PrefixCache, s.job.Version.AtLeast(recurrentPrefixes)) {
		block = min(block, l.Context) // a state's block is as long as the context (mamba_block_size), and the smallest counts
	}
	return blocks / g.total() * block * max(1, g.over)
}

// tokensByConcurrency: the printed size is concurrency × length (#41069, 2026-04-28; a log of 0.20.0 has none of it, two of 0.20.2 do).
var tokensByConcurrency = engine.V(0, 20, 2)

// concurrency returns "Maximum concurrency": tokens over length, until requests were counted by their blocks (#17996).
func (s *sizer) concurrency(g *groups, blocks int64, l engine.Load) float64 {
	if s.job.Version.Before(hybridGroups) {
		return float64(s.poolTokens(g, blocks, l)) / float64(max(1, l.Context))
	}
	return concurrency(g, blocks, l, s.inFlight())
}

func concurrency(g *groups, blocks int64, l engine.Load, batched int64) float64 {
	per := g.perRequest(l.Context, batched)
	if per == 0 {
		return 0
	}
	return float64(blocks) / float64(per)
}
