package plain

import (
	"fmt"
	"strconv"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

func gib(x float64) unit.Bytes { return unit.Bytes(x * float64(unit.GiB)) }

type sizer struct {
	rules *rules
	job   *engine.Job
	k, v  *kvFormat
	ranks []prepared
}

type prepared struct {
	pl       engine.Placed
	weights  []engine.WeightSum
	experts  []engine.WeightSum // those in host memory
	others   []ledger.Item
	kinds    []engine.KindCount
	forward  engine.Forward
	unpacked int64 // elements of a token that the widest layer keeps
}

// Sizer prepares the devices' shares.
func (e Engine) Sizer(j *engine.Job) (engine.Sizer, error) {
	placed, err := j.PlaceDecoder(engine.Parallel(j.Plan))
	if err != nil {
		return nil, err
	}
	s := &sizer{rules: e.rules, job: j, k: e.cache(j.Plan.KV), v: e.cache(j.Plan.KVV)}
	for i := range placed {
		s.ranks = append(s.ranks, s.prepare(&placed[i]))
	}
	return s, nil
}

func (s *sizer) prepare(pl *engine.Placed) prepared {
	p := prepared{pl: *pl, weights: pl.WeightSums(), others: engine.OtherParts(nil, s.job, pl, engine.Speaking),
		kinds:   engine.WithDraft(s.job, pl, pl.Kinds),
		forward: engine.ForwardOf(pl.Kinds, s.job.Model.Hidden, 1)}
	if s.rules.experts {
		p.experts = pl.ExpertSums()
	}
	for i := range p.kinds {
		p.kinds[i].Kind.Caches(func(c model.Cache) {
			if c.Class != model.StateCache {
				p.unpacked = max(p.unpacked, c.K+c.V)
			}
		})
	}
	return p
}

// Size books a load.
func (s *sizer) Size(b *ledger.Book, l engine.Load) []engine.Rank {
	return engine.SizeRanks(s.ranks, func(p *prepared) engine.Rank { return s.rank(b, p, l) })
}

func (s *sizer) rank(b *ledger.Book, p *prepared, l engine.Load) engine.Rank {
	r := engine.NewRank(b, s.job, &p.pl)
	r.Items = append(r.Items, s.weights(b, p)...)
	r.Items = append(r.Items, engine.Rebook(b, s.job, &p.pl, engine.Speaking, p.others)...)
	r.Items = append(r.Items, s.activations(b, p, l), s.runtime(b))
	fixed := ledger.At(r.Items, ledger.Device)
	paged := l
	paged.Context = unit.PadUp(l.Context, max(1, s.rules.step, s.rules.page)) // in the steps or pages that the engine allocates
	kv, state := engine.CacheItems(b, p.kinds, s.k.stored, s.v.stored, engine.StateFormat(s.job.Model), paged)
	if it, ok := s.copy(b, p, paged); ok {
		r.Items = append(r.Items, it)
	}
	r.Items = append(r.Items, append(kv, state...)...)
	r.KV = engine.GrowingKV(engine.PerToken(p.kinds, s.k.stored, s.v.stored), kv)
	s.reserve(b, &r, fixed.Bytes)
	r.Host = engine.OffDevice(r.Items)
	return r
}

func (s *sizer) weights(b *ledger.Book, p *prepared) []ledger.Item {
	const source = "file tensors as stored"
	all := engine.BookWeights(b, p.weights, source)
	if len(p.experts) == 0 {
		return []ledger.Item{all}
	}
	hosted := engine.BookWeights(b, p.experts, source)
	rest := ledger.Known("weights", "weights but experts", b.Sub(all.Why, hosted.Why), ledger.Exact, ledger.Persistent, ledger.Device,
		all.Source)
	hosted.Name, hosted.Place = "experts", ledger.Pinned
	return []ledger.Item{rest, hosted}
}

// activations of the piece of a prompt that is computed at once, with the logits of its last token.
func (s *sizer) activations(b *ledger.Book, p *prepared, l engine.Load) ledger.Item {
	chunk := int64(s.job.Plan.MaxBatchedTokens)
	tokens := b.Min(b.Int("chunk", chunk, "max_num_batched_tokens"), b.Mul(b.Int("sequences", l.Sequences, "plan"),
		b.Int("prompt", engine.Prompt(s.job, l), "tokens of a prompt")))
	if s.rules.pool != nil {
		tokens = b.Int("chunk", chunk, "max_num_batched_tokens, as tried at start-up")
	}
	n := p.forward.Peak(b, tokens, engine.ActivationFormat(s.job.Model).BlockBytes)
	if p.pl.Post {
		n = b.Add(n, b.Mul(b.Lit(6), b.Int("rows", l.Sequences, "plan"), b.Int("vocabulary", s.job.Model.Vocab, "model")))
	}
	it := ledger.Known("activations", "activations of a piece of the prompt", n, ledger.Derived, ledger.Ephemeral, ledger.Device,
		"docs/formulas.md#forward-peak")
	return it.Band(it.Bytes/2, 5*it.Bytes/2+unit.GiB/4)
}

func (s *sizer) runtime(b *ledger.Book) ledger.Item {
	c := s.rules.runtime
	it := ledger.Known("driver", "runtime, libraries", b.Size("runtime", gib(c.value), "assumed"), ledger.Assumed, ledger.Persistent,
		ledger.Device, s.rules.source)
	return it.Band(gib(c.low), gib(c.high))
}

// copy is the 16-bit copy of one layer's cache that attention reads.
func (s *sizer) copy(b *ledger.Book, p *prepared, l engine.Load) (ledger.Item, bool) {
	if !s.rules.unpacks || !s.k.packed && !s.v.packed || p.unpacked == 0 {
		return ledger.Item{}, false
	}
	n := b.Mul(b.Int("sequences", l.Sequences, "plan"), b.Int("tokens", l.Context, "context"),
		b.Int("elements", p.unpacked, "keys and values of the widest layer"), b.Int("bytes", 2, "f16"))
	return ledger.Known("workspace", "one layer's cache unpacked", n, ledger.Derived, ledger.Persistent, ledger.Device, s.rules.source),
		true
}

// reserve is the pool that an engine takes ahead: a share of what is free, less a part of the whole device.
func (s *sizer) reserve(b *ledger.Book, r *engine.Rank, fixed unit.Bytes) {
	f := s.job.Plan.FreeGPUMemoryFraction
	if s.rules.pool == nil || r.Unlimited || f == nil {
		return
	}
	held := b.Size("held", fixed, "weights, activations and what lies beside them")
	kept := b.Mul(b.In("kept", s.rules.pool.kept, "share of the device that stays free"), r.Capacity)
	free := b.Max(b.Lit(0), b.Sub(b.Sub(r.Usable, held), kept))
	pool := b.Floor(b.Mul(b.In("free_gpu_memory_fraction", *f, "plan"), free))
	r.Usable = b.Min(r.Usable, b.Add(held, pool))
	r.Limit = fmt.Sprintf("what is held, and %s × %s GiB left free by it", strconv.FormatFloat(*f, 'g', 4, 64),
		unit.Fixed(free.Bytes().GiB(), 2))
	r.KV.Pool, r.KV.Preallocated, r.KV.BlockTokens = max(0, pool.Bytes()), true, s.rules.page
	if r.KV.PerToken > 0 {
		r.KV.Blocks = int64(r.KV.Pool/r.KV.PerToken) / s.rules.page
		r.KV.Tokens = r.KV.Blocks * s.rules.page
	}
}
