package tensorrt

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// The budget. In PyTorch (tensorrt_llm/_torch/pyexecutor/_util.py, configure_kv_cache_capacity) a dry run of
// max_num_tokens gives a peak inside torch and what lies outside it; the cache takes
//
//	(total − peak) × free_gpu_memory_fraction
//
// and its blocks are ceil(bytes // bytes per token / tokens_per_block). A built engine does the same with
// what is free after the engine and its buffers (cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp).

func gib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }

type sizer struct {
	job   *engine.Job
	ranks []prepared
}

type prepared struct {
	pl      engine.Placed
	weights []engine.WeightSum
	others  []ledger.Item // towers and the like
	forward engine.Forward
	layers  []rows
	state   unit.Bytes // of one sequence
}

// rows are layers that keep the same bytes of a token.
type rows struct {
	layers int64
	bytes  unit.Bytes
	origin string
}

// Sizer prepares shares and caches.
func (Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	placed, err := j.PlaceDecoder(engine.Parallel(j.Plan))
	if err != nil {
		return nil, err
	}
	s := &sizer{job: j}
	for i := range placed {
		s.ranks = append(s.ranks, s.prepare(&placed[i]))
	}
	if n := int64(j.Plan.MaxSeqs); j.Model.Recurrent() && n > 256 {
		j.Note("states_reserved", "warn", "max_num_seqs",
			"recurrent states are kept for all %s sequences of max_num_seqs: %s on each device", unit.Count(n),
			s.ranks[0].state*unit.Bytes(n))
	}
	return s, nil
}

// prepare a class of ranks. Sliding layers are kept in full unless max_attention_window is given.
func (s *sizer) prepare(pl *engine.Placed) prepared {
	p := prepared{pl: *pl, weights: pl.WeightSums(), others: engine.OtherParts(nil, s.job, pl, engine.Speaking),
		forward: engine.ForwardOf(pl.Kinds, s.job.Model.Hidden, 1)}
	f := dtype.FindFormat(s.job.Plan.KV)
	for _, k := range engine.WithDraft(s.job, pl, pl.Kinds) {
		k.Kind.Caches(func(c model.Cache) {
			if c.Class == model.StateCache {
				p.state += unit.Bytes(k.Count) * s.stateBytes(&c)
				return
			}
			p.add(k.Count, &c, f)
		})
	}
	return p
}

func (s *sizer) stateBytes(c *model.Cache) unit.Bytes { return engine.StateBytes(s.job, c, 2, 2) }

func (p *prepared) add(layers int64, c *model.Cache, f *dtype.Format) {
	r := rows{layers: layers, bytes: cellBytes(c.K+c.V, f), origin: fmt.Sprintf("2 × %d KV heads × %d, %s", c.KVHeads, c.DimK, f.Name)}
	if c.Class == model.LatentKV {
		r.origin = fmt.Sprintf("latent of %d, %s, not divided by tp", c.K, f.Name)
	}
	if c.Class == model.IndexKV {
		r.bytes, r.origin = c.TokenBytes(f, f), fmt.Sprintf("index key of %d in FP8 with its scales", c.DimK)
	}
	for i := range p.layers {
		if p.layers[i].bytes == r.bytes && p.layers[i].origin == r.origin {
			p.layers[i].layers += layers
			return
		}
	}
	p.layers = append(p.layers, r)
}

// cellBytes of elements: NVFP4 has a scale of one byte for 16.
func cellBytes(elems int64, f *dtype.Format) unit.Bytes {
	if f == dtype.FP4E2M1 {
		return unit.Bytes(elems/2 + elems/16)
	}
	return f.Row(elems)
}

func (p *prepared) perToken() (b unit.Bytes) {
	for _, r := range p.layers {
		b += unit.Bytes(r.layers) * r.bytes
	}
	return b
}

// Size books a load.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	out := engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
	s.level(out)
	return out
}

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	r.Items = append(r.Items, engine.BookWeights(b, p.weights, "file tensors as stored"))
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Speaking, p.others)...)
	r.Items = append(r.Items, s.fixed(b, p)...)
	fixed := ledger.Sum(r.Items)
	s.limit(b, &r, fixed.Bytes)
	if kv, ok := p.cache(b, int64(s.job.Plan.BlockSize), l, s.job.Sampled(l, engine.On(s.job.Plan.PrefixCache, true))); ok {
		r.Items = append(r.Items, kv)
		r.KV.Needed = kv.Bytes
	}
	r.KV.PerToken, r.KV.Preallocated, r.KV.BlockTokens = p.perToken(), true, int64(s.job.Plan.BlockSize)
	r.KV.Pool = r.KV.Needed
	if !r.Unlimited {
		r.KV.Pool = max(0, r.Usable.Bytes()-fixed.Bytes)
	}
	return r
}

// fixed is what the engine holds before its cache.
func (s *sizer) fixed(b *ledger.Book, p *prepared) []ledger.Item {
	rest := ledger.Known("fragmentation", "left by loading", b.Size("left_by_loading", gib(loaded.value), "public log of 1.1"),
		ledger.Assumed, ledger.Persistent, ledger.Device, "memory after loading less the tensors")
	out := []ledger.Item{rest.Band(gib(loaded.low), gib(loaded.high)), s.activations(b, p)}
	if s.job.Version.Before(pytorchBackend) {
		if p.pl.Post {
			out = append(out, s.decoder(b))
		}
	} else {
		g := ledger.Known("graphs", "CUDA graphs", b.Size("estimate", gib(graphs.value), fmt.Sprintf("batches to %d", graphMaxBatch)),
			ledger.Assumed, ledger.SemiPersistent, ledger.Device, "captured before the cache is sized; no rule gives their size")
		out = append(out, g.Band(gib(graphs.low), gib(graphs.high)))
	}
	out = append(out, s.driver(b, &p.pl))
	if p.state > 0 {
		n := b.Mul(b.Int("sequences", int64(s.job.Plan.MaxSeqs), "max_batch_size"),
			b.Size("state", p.state, "convolution and scan states of all layers, this rank"))
		out = append(out, ledger.Known("state", "recurrent state of max_num_seqs sequences", n, ledger.Derived, ledger.SemiPersistent,
			ledger.Device, "_torch/pyexecutor/mamba_cache_manager.py"))
	}
	return out
}

// activations of the dry run. No public log tells more than that the rule is of the right size: gpt-oss-120b
// took 0.85 GiB for 8,192 tokens, where the rule gives 0.7. Hence the band.
func (s *sizer) activations(b *ledger.Book, p *prepared) ledger.Item {
	j := s.job
	t := int64(j.Plan.MaxBatchedTokens)
	n := p.forward.Peak(b, b.Int("batched_tokens", t, "max_num_tokens"), 2)
	if p.pl.Post {
		requests := unit.CeilDiv(t, max(1, min(t, int64(j.Plan.Context)-1)))
		n = b.Add(n, b.Mul(b.Lit(8), b.Int("requests", requests, "prompts of the dry run"), b.Int("vocabulary", j.Model.Vocab, "model")))
	}
	it := ledger.Known("activations", "activations of the dry run", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak; unverified")
	return it.Band(it.Bytes*7/10, 2*it.Bytes+2*unit.GiB)
}

// decoder buffers of a built engine: for max_batch_size sequences, whatever the load.
func (s *sizer) decoder(b *ledger.Book) ledger.Item {
	seqs, vocab := int64(s.job.Plan.MaxSeqs), s.job.Model.Vocab
	n := b.Mul(b.In("bytes_per_logit", logitBytes.value, "decoder and runtime buffers"), b.Int("sequences", seqs, "max_batch_size"),
		b.Int("vocabulary", vocab, "model"))
	it := ledger.Known("output", fmt.Sprintf("decoder buffers for %s sequences", unit.Count(seqs)), n, ledger.Assumed, ledger.Persistent,
		ledger.Device, "one public log of 0.12")
	return it.Band(unit.Bytes(logitBytes.low*float64(seqs*vocab)), unit.Bytes(logitBytes.high*float64(seqs*vocab)))
}

func (s *sizer) driver(b *ledger.Book, pl *engine.Placed) ledger.Item {
	rule := engine.At(outside, s.job.Version)
	c, id, name := rule.Value.one, "driver", "CUDA context, libraries"
	if pl.Parallel.TP*pl.Parallel.PP*max(1, pl.Parallel.EP) > 1 {
		c, id, name = rule.Value.many, "collectives", "CUDA context, libraries, NCCL"
	}
	it := ledger.Known(id, name, b.Size("outside", gib(c.value), rule.Source), ledger.Assumed, ledger.Persistent, ledger.Device,
		rule.Source)
	return it.Band(gib(c.low), gib(c.high))
}

// limit: of what weights and activations leave, free_gpu_memory_fraction is the cache's.
func (s *sizer) limit(b *ledger.Book, r *engine.Rank, fixed unit.Bytes) {
	f := s.job.Plan.FreeGPUMemoryFraction
	if r.Unlimited || f == nil {
		return
	}
	held := b.Size("held", fixed, "weights, activations and what lies beside them")
	free := b.Max(b.Lit(0), b.Sub(r.Usable, held))
	r.Usable = b.Min(r.Usable, b.Add(held, b.Floor(b.Mul(b.In("free_gpu_memory_fraction", *f, "plan"), free))))
	r.Limit = fmt.Sprintf("what is held, and %s × %s GiB left free by it", strconv.FormatFloat(*f, 'g', 4, 64),
		unit.Fixed(free.Bytes().GiB(), 2))
}

// cache is what the load takes of the pool, in whole blocks of each sequence.
func (p *prepared) cache(b *ledger.Book, block int64, l engine.Load, x engine.Sampled) (ledger.Item, bool) {
	if len(p.layers) == 0 {
		return ledger.Item{}, false
	}
	var per ledger.Num
	for i, r := range p.layers {
		n := b.Mul(b.Int("layers", r.layers, "this rank"), b.Size("bytes_per_token", r.bytes, r.origin))
		if i > 0 {
			n = b.Add(per, n)
		}
		per = n
	}
	held := b.Mul(b.Int("sequences", x.Alive, "plan"),
		b.PadUp(b.Int("tokens", l.Context, "context"), b.Int("tokens_per_block", block, "plan")))
	if whole := x.Tokens / max(1, block) * block; x.Sharing*whole > 0 {
		sharing := b.Int("sharing", x.Sharing, "answers beyond the first to each prompt")
		held = b.Sub(held, b.Mul(sharing, b.Int("shared_tokens", whole, "whole blocks of a prompt")))
	}
	n := b.Mul(held, per)
	return ledger.Known("kv_cache", "KV cache", n, ledger.Exact, ledger.SemiPersistent, ledger.Device,
		"docs/formulas.md#tensorrt-llm-blocks"), true
}

// blocks of a pool: a last block that is only partly paid for counts.
func blocks(pool, perToken unit.Bytes, block int64) int64 {
	if pool <= 0 || perToken == 0 {
		return 0
	}
	return unit.CeilDiv(int64(pool/perToken), block)
}

// level gives every rank the blocks of the rank with the fewest, and the lines of the log.
func (s *sizer) level(ranks []engine.Rank) {
	least := int64(-1)
	for i := range ranks {
		p := &s.ranks[i]
		if n := blocks(ranks[i].KV.Pool, p.perToken(), ranks[i].KV.BlockTokens); p.perToken() > 0 && (least < 0 || n < least) {
			least = n
		}
	}
	for i := range ranks {
		r := &ranks[i]
		r.KV.Blocks, r.KV.Tokens = max(0, least), max(0, least)*r.KV.BlockTokens
		if r.Unlimited || least < 0 {
			r.KV.Blocks, r.KV.Tokens = 0, -1
		}
		r.Prints = s.prints(r, &s.ranks[i])
	}
}

// prints are the lines of the start-up log.
func (s *sizer) prints(r *engine.Rank, p *prepared) []engine.Print {
	if r.Unlimited || p.perToken() == 0 {
		return nil
	}
	size := unit.Bytes(r.KV.Tokens) * p.perToken()
	return []engine.Print{
		{Name: "Number of blocks in KV cache primary pool", Value: float64(r.KV.Blocks), Text: strconv.FormatInt(r.KV.Blocks, 10)},
		{Name: "Allocated for max tokens in paged KV cache", Value: size.GiB(), Text: strconv.FormatFloat(size.GiB(), 'f', 2, 64),
			Unit: "GiB"},
		{Name: "max tokens in paged KV cache", Value: float64(r.KV.Tokens), Text: strconv.FormatInt(r.KV.Tokens, 10), Unit: "tokens"},
	}
}
