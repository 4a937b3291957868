package sglang

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// The budget (model_runner.py): with f = mem_fraction_static,
//
//	rest = available after loading − available before loading × (1 − f)
//
// so that weights and pools together have f × available before loading. What the driver and NCCL took
// before that, activations and graphs lie beside it.

// constant is a figure in GiB with its 90 % band.
type constant struct{ value, low, high float64 }

func gib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }

// leftByLoading is what loading takes beyond the tensors: allocator rounding, padded vocabularies,
// workspaces, rotary tables. 0.0 to 0.3 GiB on public logs, more when weights are requantised.
var leftByLoading = constant{0.15, 0, 0.3}

// reloaded is its upper edge for weights that are repacked as they load.
const reloaded = 1.0

type sizer struct {
	job   *engine.Job
	ranks []prepared
}

type prepared struct {
	pl      engine.Placed
	weights []engine.WeightSum
	hosted  engine.Hosted
	others  []ledger.Item // towers and the like
	pool    pool
	forward engine.Forward
}

// Sizer prepares shares and pools.
func (e Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	p := groupsOf(j.Plan)
	if p.PP > 1 {
		p.Stages = stageLayers(len(j.Model.Decoder().Layers), int(p.PP))
	}
	placed, err := j.PlaceDecoder(p)
	if err != nil {
		return nil, err
	}
	s := &sizer{job: j}
	for i := range placed {
		own := placed[i].Kinds
		s.ranks = append(s.ranks, prepared{pl: placed[i], weights: placed[i].WeightSums(),
			others: engine.OtherParts(nil, j, &placed[i], engine.Silent), pool: s.poolOf(own, engine.WithDraft(j, &placed[i], own)),
			forward: engine.ForwardOf(own, j.Model.Hidden, 1)})
	}
	s.chargeStages()
	s.hostAll()
	s.reserveNote()
	s.dispatchNote()
	return s, cmp.Or(s.checkOffload(), s.checkEvicted())
}

// groupsOf a plan: where ranks share experts and attend in groups, dense layers and shared experts are cut over all of them
// (layers/dp_attention.py; models/deepseek_v2.py, DeepseekV2MLP), and dense layers over none with --moe-dense-tp-size 1
// (enable_moe_dense_fully_dp).
func groupsOf(p *plan.Plan) shard.Parallel {
	g := engine.Parallel(p)
	if !sharesExperts(p) {
		return g
	}
	g.DenseTP, g.SharedTP = g.TP*g.DP, g.TP*g.DP
	if p.DenseTP == 1 {
		g.DenseTP = 1
	}
	if p.All2All != "" { // each rank computes the shared expert of its own tokens
		g.SharedTP = 1
	}
	return g
}

// stageLayers gives the last stages what does not divide (distributed/utils.py, get_pp_indices).
func stageLayers(layers, stages int) []int {
	out := make([]int, stages)
	for i := range out {
		out[i] = layers / stages
		if i >= stages-layers%stages {
			out[i]++
		}
	}
	return out
}

// Size books a load.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	out := engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
	s.level(out)
	return out
}

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	s.limit(b, &r, p)
	r.Items = append(r.Items, s.weights(b, p))
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Silent, p.others)...)
	r.Items = append(r.Items, s.loading(b))
	if s.job.Model.Traits.Multimodal && s.job.Version.AtLeast(embedCache) {
		r.Items = append(r.Items, embeddings(b))
	}
	fixed := ledger.Sum(r.Items)
	needed := p.pool.needed(b, l, s.job.Sampled(l, engine.On(s.job.Plan.PrefixCache, true)))
	r.Items = append(r.Items, needed...)
	r.Host = engine.HostedItems(b, &p.hosted)
	r.KV = engine.KV{PerToken: perToken(p.pool.full), Preallocated: true, BlockTokens: p.pool.page, Needed: ledger.Sum(needed).Bytes}
	r.KV.Pool = r.KV.Needed
	if !r.Unlimited {
		r.KV.Pool = s.stated(&p.pool, max(0, r.Usable.Bytes()-fixed.Bytes))
		r.KV.Given = s.job.Plan.KVPoolTokens > 0
	}
	r.Beside = append(r.Beside, s.keptFree(b, p, p.pool.capacity(r.KV.Pool).tokens)...)
	r.Host = append(r.Host, engine.EvictedItems(b, s.job.Plan, r.KV.Pool)...)
	return r
}

// limit is what mem_fraction_static leaves of the memory that is free before loading.
func (s *sizer) limit(b *ledger.Book, r *engine.Rank, p *prepared) {
	f := share(s.job)
	if r.Unlimited || f == 0 {
		return
	}
	c, why := s.driver(&p.pl)
	free := b.Sub(r.Usable, b.Size("before_loading", gib(c.value), why))
	r.Usable = b.Floor(b.Max(b.Lit(0), b.Mul(b.In("mem_fraction_static", f, "plan"), free)))
	r.Limit = fmt.Sprintf("%s × %s GiB free before loading", strconv.FormatFloat(f, 'g', 4, 64), unit.Fixed(free.Bytes().GiB(), 2))
}

func (s *sizer) driver(pl *engine.Placed) (constant, string) {
	ranks := pl.Parallel.TP * pl.Parallel.PP
	if sharesExperts(s.job.Plan) { // groups of attention talk to each other
		ranks *= pl.Parallel.DP
	}
	d := s.job.Device(pl.Index)
	if d != nil && d.Unified != nil && d.Vendor == "NVIDIA" {
		return besideSystem, "CUDA context and the processes of SGLang and the system, in shared memory"
	}
	c, what := engine.BeforeLoading(ranks, d)
	return constant{c.Value, c.Low, c.High}, what
}

// besideSystem is what lacks of the memory that a DGX Spark shares before loading, where SGLang takes what the system says is available
// (utils/common.py, get_available_gpu_memory: psutil on integrated devices): "Load weight begin" of seven reports of 2026, 110.0 to
// 115.4 GiB of 117.7.
var besideSystem = constant{5.1, 2.2, 7.7}

// loading is the rest that loading leaves; its band has the spread of what is free before it too.
func (s *sizer) loading(b *ledger.Book) ledger.Item {
	c := leftByLoading
	n := b.Size("left_by_loading", gib(c.value), "measured on public logs")
	high := c.high
	if s.job.Weights.Name != "" && s.job.Weights.Name != engine.ActivationFormat(s.job.Model).Name {
		high = reloaded
	}
	it := ledger.Known("fragmentation", "left by loading", n, ledger.Measured, ledger.Persistent, ledger.Device,
		"available before less after loading, less the tensors; public logs of 0.2 to 0.5")
	return it.Band(gib(c.low), gib(high))
}

// embeddings of images and sounds are kept in a cache that is allocated after the pool has been sized, and taken off it beforehand
// (mem_cache/kv_cache_configurator.py, mm_runtime_reservation_gb; environ.py, SGLANG_VLM_CACHE_SIZE_MB; 0.5.18). The pools of
// --mm-feature-transport=cuda_ipc and cuda_vmm come to it where they are asked for.
func embeddings(b *ledger.Book) ledger.Item {
	n := b.Size("reserved", 100*unit.MiB, "SGLANG_VLM_CACHE_SIZE_MB")
	return ledger.Known("encoder_cache", "cache of multimodal embeddings", n, ledger.Derived, ledger.Persistent, ledger.Device,
		"mem_cache/kv_cache_configurator.py, mm_runtime_reservation_gb")
}

// keptFree are what mem_fraction_static keeps free: the driver, activations, the table of requests, graphs.
func (s *sizer) keptFree(b *ledger.Book, p *prepared, tokens int64) []ledger.Item {
	c, why := s.driver(&p.pl)
	driver := ledger.Known("driver", why, b.Size("before_loading", gib(c.value), "measured on public logs"), ledger.Measured,
		ledger.Persistent, ledger.Device, "device total less 'Load weight begin. avail mem'")
	out := []ledger.Item{driver.Band(gib(c.low), gib(c.high)), s.activations(b, p)}
	if p.pool.keepsTokens() {
		out = append(out, s.table(b, tokens))
	}
	if n := graphs(s.job); n > 0 {
		out = append(out, graphItem(b, n))
	}
	if s.job.Plan.All2All != "" {
		out = append(out, s.dispatchItem(b))
	}
	if p.hosted.Bytes > 0 {
		out = append(out, engine.HostedWindow(b, &p.hosted))
	}
	return out
}

// activations of a prefill step. Nothing measures them at start-up: SGLang assumes 1.5 MiB a token.
func (s *sizer) activations(b *ledger.Book, p *prepared) ledger.Item {
	t := int64(s.job.Plan.MaxBatchedTokens)
	n := p.forward.Peak(b, b.Int("chunk", t, "chunked_prefill_size"), 2)
	if p.pl.Post {
		n = b.Add(n, b.Mul(s.logits(b), b.Int("vocabulary", s.job.Model.Vocab, "model")))
	}
	it := ledger.Known("activations", "activations of a prefill step", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak")
	return it.Band(it.Bytes/2, max(2*it.Bytes, unit.Bytes(t)*3*unit.MiB/2))
}

// logits of a decode step: a row for each sequence, and for each token that a step verifies (speculative/eagle_utils.py).
func (s *sizer) logits(b *ledger.Book) ledger.Num {
	p, batch := s.job.Plan, max(1, graphs(s.job))
	if p.DraftTokens == 0 {
		return b.Mul(b.Lit(6), b.Int("batch", batch, "largest decode batch with a graph"))
	}
	if n := int64(p.MaxSeqs); n > 0 {
		batch = min(batch, n)
	}
	return b.Mul(b.Mul(b.Lit(6), b.Int("batch", batch, "largest decode batch with a graph, max_running_requests")),
		b.Int("verified", int64(p.DraftTokens)+1, "speculative_num_draft_tokens"))
}

// graphItem: no rule gives the size of graphs; the engine's own reserve of 2 MiB a sequence stands in.
func graphItem(b *ledger.Book, batch int64) ledger.Item {
	n := b.Mul(b.Int("batch", batch, "cuda_graph_max_bs"), b.Size("reserve", 2*unit.MiB, "server_args.py"))
	it := ledger.Known("graphs", "CUDA graphs", n, ledger.Assumed, ledger.SemiPersistent, ledger.Device,
		"server_args.py: SGLang's own reserve")
	return it.Band(it.Bytes/8, 2*it.Bytes+unit.GiB)
}

// reserveNote warns when what is kept free is less than activations and graphs are expected to take.
func (s *sizer) reserveNote() {
	f, d := share(s.job), s.job.Device(0)
	if f == 0 || d == nil {
		return
	}
	p := &s.ranks[len(s.ranks)-1]
	c, _ := s.driver(&p.pl)
	free := d.Usable.Value - gib(c.value)
	keep := free - unit.Bytes(f*float64(free))
	want := s.activations(nil, p).Bytes
	if n := graphs(s.job); n > 0 {
		want += graphItem(nil, n).Low
	}
	what := ""
	if s.job.Plan.All2All != "" {
		want, what = want+s.dispatchItem(nil).Low, ", and DeepEP's buffers,"
	}
	if keep < want {
		s.job.Note("small_reserve", "warn", "mem_fraction_static",
			"mem_fraction_static = %.3g keeps %s free, and activations of %s-token steps with graphs%s take about %s", f, keep,
			unit.Count(int64(s.job.Plan.MaxBatchedTokens)), what, want)
	}
}
