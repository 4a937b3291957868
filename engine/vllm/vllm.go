// Package vllm models the memory that vLLM reserves: the budget set by gpu_memory_utilization, the part that the
// profile run takes, and the pages of KV cache in the rest. rules.go has what changed between versions, activation.go
// the profile run, kv.go the pages, weights.go the parameters, loading.go their loading through torch's allocator
// (caching.go), and log.go the start-up log.
package vllm

import (
	"fmt"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// Engine is vLLM.
type Engine struct{}

// Name implements engine.Engine.
func (Engine) Name() string { return "vllm" }

// Latest implements engine.Engine.
func (Engine) Latest() engine.Version { return Latest }

// Defaults fills in the defaults of vllm serve.
func (Engine) Defaults(j *engine.Job) {
	p := j.Plan
	if p.KV == "" {
		p.KV = kvDefault(j)
		j.Default("kv", p.KV)
	}
	if p.KVV == "" {
		p.KVV = p.KV
	}
	engine.DefaultParallel(j, engine.KeepsBlocks(j))
	share(j)
	stepDefaults(j)
	if p.BlockSize == 0 {
		p.BlockSize = plan.Int(blockTokens(deviceTraits(j), latent(j), headDim(j.Model)))
	}
	engine.DraftDefaults(j)
	engine.EagerNote(j, false)
	engine.SpeechNote(j)
	checkpointNote(j)
}

// castSince: fp32 checkpoints are loaded in fp16, later in the first format that the platform lists
// (vllm/config: _get_and_verify_dtype until 0.8, _resolve_auto_dtype from 0.9).
var castSince = []engine.Since[string]{
	{From: engine.V(0, 0, 0), Value: "f16", Source: "vllm/config.py, _get_and_verify_dtype"},
	{From: engine.V(0, 9, 0), Value: "bf16", Source: "vllm/config.py, _resolve_auto_dtype"},
}

// Casts returns the format that fp32 weights are loaded in; Gemma 2 overflows in fp16.
func (Engine) Casts(v engine.Version, family string) string {
	if family == "gemma2" {
		return "bf16"
	}
	return engine.At(castSince, v).Value
}

// followed is since when "auto" is the format that a checkpoint states for its cache, by the method that quantised it.
var followed = map[string]engine.Since[bool]{
	"modelopt":           {From: engine.V(0, 14, 0), Source: "#29980 (2025-12), vllm/utils/torch_utils.py, resolve_kv_cache_dtype_string"},
	"compressed-tensors": {From: engine.V(0, 16, 0), Source: "#30141, vllm/model_executor/layers/attention/attention.py, kv_cache_scheme"},
}

// kvDefault returns the format of "auto": the one that the checkpoint states, or that of the unquantized weights.
func kvDefault(j *engine.Job) string {
	if c := &j.Checkpoint; c.Cache != "" && j.Keeps() {
		if since, ok := followed[c.Method]; ok && j.Version.AtLeast(since.From) {
			return c.Cache
		}
	}
	if j.Plan.Weights == dtype.F32.Name { // else fp32 checkpoints are narrowed
		return dtype.F32.Name
	}
	if n := j.Model.Native; n != nil && n.BlockBytes == 2 {
		return n.Name
	}
	return "bf16"
}

func stepDefaults(j *engine.Job) {
	p := j.Plan
	chunked := p.ChunkedPrefill == nil || *p.ChunkedPrefill
	seqs, tokens := steps(j.Version, deviceTraits(j), int64(p.Context), chunked)
	if p.MaxBatchedTokens == 0 {
		p.MaxBatchedTokens = plan.Int(tokens)
		j.Default("max_num_batched_tokens", tokens)
	}
	if p.MaxSeqs == 0 {
		p.MaxSeqs = plan.Int(min(seqs, int64(p.MaxBatchedTokens)))
		j.Default("max_num_seqs", int64(p.MaxSeqs))
	}
}

func deviceTraits(j *engine.Job) traits {
	d := j.Device(0)
	if d == nil {
		return traits{total: 1 << 62, large: true}
	}
	return traitsOf(d)
}

// latent reports whether the plan's caches hold latents.
func latent(j *engine.Job) bool { return j.Version.AtLeast(latentCaches) && j.Model.Latent() }

func headDim(m *model.Model) (dim int64) {
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		k.Caches(func(c model.Cache) { dim = max(dim, c.DimK) })
	})
	return dim
}

// Check rejects plans that vLLM rejects.
func (Engine) Check(j *engine.Job) error {
	if err := engine.CheckParallel(j); err != nil {
		return err
	}
	if err := engine.CheckDrafts(j); err != nil {
		return err
	}
	if err := engine.CheckBlocks(j, "vLLM", "--enable-expert-parallel"); err != nil {
		return err
	}
	for _, check := range []func(*engine.Job) error{checkShare, checkOver, engine.CheckRedundant, engine.CheckDispatch, checkDispatch} {
		if err := check(j); err != nil {
			return err
		}
	}
	p := j.Plan
	if n := p.BlockSize; n > 256 || n < 1 || n&(n-1) != 0 {
		return &plan.Problem{Field: "block_size", Value: fmt.Sprint(n),
			Message: fmt.Sprintf("block_size = %d: vLLM has pages of 1 to 256 tokens, a power of two", n), Fix: "16, or leave it out"}
	}
	if p.MaxSeqs > p.MaxBatchedTokens {
		return &plan.Problem{Field: "max_num_seqs", Value: fmt.Sprint(p.MaxSeqs), Impossible: true,
			Message: fmt.Sprintf("max_num_seqs = %d is more than max_num_batched_tokens = %d", p.MaxSeqs, p.MaxBatchedTokens),
			Fix:     "raise max_num_batched_tokens"}
	}
	if j.Version.AtLeast(v1Default) && p.ChunkedPrefill != nil && !*p.ChunkedPrefill && p.MaxBatchedTokens < p.Context {
		return &plan.Problem{Field: "max_num_batched_tokens", Value: fmt.Sprint(p.MaxBatchedTokens), Impossible: true,
			Message: fmt.Sprintf("without chunked prefill a prompt of %d tokens does not go through steps of %d", p.Context,
				p.MaxBatchedTokens), Fix: "raise max_num_batched_tokens, or leave chunked prefill on"}
	}
	if ranks := p.TP * p.DP; p.EP > 1 && p.EP != ranks {
		return &plan.Problem{Field: "ep", Value: fmt.Sprint(p.EP), Impossible: true,
			Message: fmt.Sprintf("vLLM spreads experts over all tensor and data parallel ranks: ep = %d is not tp %d × dp %d", p.EP, p.TP,
				p.DP), Fix: fmt.Sprintf("--ep %d, or none", ranks)}
	}
	return checkKV(p)
}

func checkKV(p *plan.Plan) error {
	for _, f := range []struct{ field, value string }{{"kv", p.KV}, {"kv_v", p.KVV}} {
		if e := dtype.FindFormat(f.value); f.value != "nvfp4" && (e == nil || e.BlockElems != 1 || e.BlockBytes > 4) {
			return &plan.Problem{Field: f.field, Value: f.value, Message: fmt.Sprintf("vLLM cannot keep its KV cache in %s", f.value),
				Fix: "bf16, fp16 or fp8"}
		}
	}
	if f := dtype.FindFormat(p.KV); engine.On(p.KVScales, false) && f != dtype.FP8E4M3 && f != dtype.I8 {
		return &plan.Problem{Field: "kv_scales", Value: "true", Message: fmt.Sprintf("vLLM keeps scales of each head beside int8 and fp8, not beside %s", p.KV), Fix: "--kv fp8 or int8, or leave kv_scales out"}
	}
	if p.KV != p.KVV {
		return &plan.Problem{Field: "kv_v", Value: p.KVV, Message: "vLLM keeps keys and values in one format", Fix: "leave kv_v out"}
	}
	return nil
}

// Sizer implements engine.Engine.
func (Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	p := engine.Parallel(j.Plan)
	if p.PP > 1 {
		p.Stages = stageLayers(len(j.Model.Decoder().Layers), int(p.PP))
	}
	placed, err := j.PlaceDecoder(p)
	if err != nil {
		return nil, err
	}
	s := &sizer{job: j, t: deviceTraits(j)}
	all := s.specs(allKinds(j, &placed[0]))
	g, err := group(all, j.Version, int64(j.Plan.BlockSize))
	g.over = max(1, j.Plan.DCP)
	if err != nil {
		return nil, &plan.Problem{Field: "engine", Value: "vllm@" + j.Version.String(), Impossible: true, Message: err.Error(),
			Fix: "vllm@" + Latest.String()}
	}
	for i := range placed {
		s.ranks = append(s.ranks, s.prepare(&placed[i], g))
	}
	err = s.checkOffload()
	return s, err
}

// stageLayers divides layers among pipeline stages: the rest goes to the stages before the last
// (vllm/distributed/utils.py, get_pp_indices).
func stageLayers(layers, stages int) []int {
	out := make([]int, stages)
	for i := range out {
		out[i] = layers / stages
	}
	for i := 2; i < layers%stages+2; i++ {
		out[stages-i]++
	}
	return out
}

// allKinds returns the layers of the whole model with the first rank's widths, since groups are formed over the model.
func allKinds(j *engine.Job, pl *engine.Placed) []engine.KindCount {
	if pl.First == 0 && pl.Last == len(pl.Part.Layers) && pl.Post {
		return engine.WithDraft(j, pl, pl.Kinds)
	}
	whole := *pl
	whole.First, whole.Last, whole.Post = 0, len(pl.Part.Layers), true
	return engine.WithDraft(j, &whole, whole.LocalKinds())
}

type sizer struct {
	job   *engine.Job
	t     traits
	ranks []prepared
}

// prepared is what one class of ranks holds regardless of the load.
type prepared struct {
	pl      engine.Placed
	weights []weightSum
	others  []ledger.Item
	rotary  unit.Bytes
	scalars unit.Bytes // of attention layers
	rests   unit.Bytes // of segments, that the allocator counts as allocated
	hosted  engine.Hosted
	spared  unit.Bytes // that projections of recurrent mixers would take more in 16 bits
	w       widths

	embedding unit.Bytes // of tokens, on the first stage
	encoder   *encoder   // on the first stage; nil without
	splits    int64      // of the graphs: attention and recurrent layers, and indexers
	index     unit.Bytes // a token's key of the indexer of sparse attention; 0 without
	g         groups
}

type weightSum struct {
	name  string
	count int64
	bytes unit.Bytes
}

func (s *sizer) specs(kinds []engine.KindCount) []spec {
	return specsOf(kinds, int64(s.job.Plan.BlockSize), s.kvBytes())
}

// wideStates is the first version that keeps Nemotron-H's states in 32 bits where nothing is said.
var wideStates = engine.V(0, 20, 0)

// usualState is the bytes of an element of a scan's state where neither the plan nor the model's configuration says its format: 16 bits,
// but 32 for Nemotron-H from 0.20 (vllm/model_executor/models/config.py, DEFAULT_MAMBA_SSM_CACHE_DTYPE; 2026-04-06, #39032).
func usualState(j *engine.Job) int64 {
	if strings.HasPrefix(j.Model.Arch, "NemotronH") && j.Version.AtLeast(wideStates) {
		return 4
	}
	return 2
}

func (s *sizer) kvBytes() kvBytes {
	e := dtype.FindFormat(s.job.Plan.KV)
	w := kvBytes{element: e.Bits() / 8, conv: 2, state: engine.StateWidth(s.job, usualState(s.job)), states: 1}
	w.heads = s.job.Version.Before(latentCaches)
	w.scaled = engine.On(s.job.Plan.KVScales, false)
	w.slots = e.Bits() == 8 && s.job.Version.AtLeast(sparseSlots)
	if engine.On(s.job.Plan.PrefixCache, s.job.Version.AtLeast(recurrentPrefixes)) {
		w.states = 2 // mamba_cache_mode "align" (#30877)
	}
	w.drafts = int64(s.job.Plan.DraftTokens)
	w.states += w.drafts // one that a rejected token falls back to (MambaSpec, num_speculative_blocks)
	return w
}

// prepare a class: a pipeline stage has fewer layers in each group of the model.
func (s *sizer) prepare(pl *engine.Placed, whole groups) prepared {
	p := prepared{pl: *pl, others: engine.OtherParts(nil, s.job, pl, engine.Silent), rotary: rotaryBytes(s.job.Model),
		w: widthsOf(s.job.Model, pl.Kinds), g: whole}
	p.w.shuffled = s.job.Plan.MoEBackend == "cutlass" && strings.HasPrefix(s.job.Weights.Name, "nvfp4")
	p.splits, p.index = splits(pl)
	if v := s.job.Version; pl.Pre && !(second(v, s.job.Model) && v.Before(secondSeesEncoders)) {
		p.encoder = placedEncoder(s.job, pl)
	}
	if pl.Parallel.PP > 1 {
		p.g = whole.stage(s.specs(engine.WithDraft(s.job, pl, pl.Kinds)))
	}
	s.load(&p)
	return p
}

// stored is what a class of ranks stores, and what its allocator loses to segments.
type stored struct {
	weights        []weightSum
	scalars, rests unit.Bytes
	embedding      unit.Bytes
	hosted         engine.Hosted
	spared         unit.Bytes
}

// loadedKey is all that loading depends on.
type loadedKey struct {
	weights  *model.Weights
	version  engine.Version
	parallel [6]int64 // tp, pp, ep, dp, cp and experts held twice; the rank has the layers of its stage
	rank     shard.Rank
	traits   traits
	offload  plan.Size
}

// load sums up what the class stores, once for the jobs of a search.
func (s *sizer) load(p *prepared) {
	by := &p.pl.Parallel
	key := loadedKey{s.job.Weights, s.job.Version, [6]int64{by.TP, by.PP, by.EP, by.DP, by.CP, by.Redundant}, p.pl.Rank, s.t,
		s.job.Plan.CPUOffload}
	l := engine.Once(s.job, key, func() stored { return s.stored(p) })
	p.weights, p.scalars, p.rests, p.embedding = l.weights, l.scalars, l.rests, l.embedding
	p.hosted, p.spared = l.hosted, l.spared
}

func (s *sizer) stored(p *prepared) (l stored) {
	sets := &paramSets{layers: map[int][]param{}}
	for _, k := range p.pl.Kinds {
		l.scalars += unit.Bytes(k.Count) * scalars(k.Kind, s.job.Version)
	}
	sum := p.rotary + l.scalars
	for n, g := range p.pl.WeightGroups() {
		set := s.params(&p.pl, &g)
		sets.add(&p.pl, n, set)
		w := weightSum{g.Name, g.Count, 0}
		for i := range set {
			w.bytes += set[i].bytes()
			if set[i].role == dtype.TokenEmbd {
				l.embedding = set[i].bytes()
			}
		}
		l.spared += spared(&g)
		l.weights = append(l.weights, w)
		sum += unit.Bytes(w.count) * w.bytes
	}
	l.hosted = s.host(&p.pl, sets)
	l.rests = s.replay(&p.pl, sets, l.scalars, &l.hosted) - (sum - l.hosted.Bytes)
	return l
}

// stage keeps the groups of the model, each with the stage's share of its layers.
func (g groups) stage(local []spec) groups {
	if g.joined {
		g.specs = join(local)
		return g
	}
	most := int64(1)
	for _, s := range local {
		for i, w := range g.specs {
			if w.class == s.class && w.span == s.span {
				most = max(most, unit.CeilDiv(s.layers, g.count[i]))
			}
		}
	}
	g.size = most
	return g
}

// Size implements engine.Sizer.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	out := engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
	s.levelBlocks(out, l)
	return out
}

// levelBlocks: all ranks use the smallest number of blocks that any has.
func (s *sizer) levelBlocks(ranks []engine.Rank, l engine.Load) {
	least := ranks[0].KV.Blocks
	for i := range ranks {
		least = min(least, ranks[i].KV.Blocks)
	}
	for i := range ranks {
		r, g := &ranks[i], &s.ranks[i].g
		r.KV.Blocks = least
		r.KV.Tokens = s.poolTokens(g, least, l)
		if !l.Silent {
			r.Prints = s.prints(r, &s.ranks[i], l)
		}
	}
}
