package sglang

import (
	"fmt"
	"math"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/unit"
)

// Pools: model_executor/pool_configurator.py and mem_cache/kv_cache_configurator.py (before 2026
// model_runner.py, profile_max_num_token). Every token takes a cell: its row in each layer. Where layers
// differ, the memory is divided among pools by fixed ratios, whatever the load.

// rows are layers that keep the same bytes of a token.
type rows struct {
	layers int64
	bytes  unit.Bytes
	origin string
}

// pool is how one rank divides its memory.
type pool struct {
	page          int64
	full, sliding []rows
	span          int64 // longest window of the sliding layers
	chunk         int64
	// state of one request in all recurrent layers, and how many are kept.
	state unit.Bytes
	// elsewhere is what else the pool is charged with for each state: layers of other stages.
	elsewhere unit.Bytes
	rule      stateRule
	fixed     int64 // states when rule.ratio is 0
	latent    bool
	held      int64 // tokens for which a sequence that drafts holds cells beyond its own
}

// poolOf returns the pool of a rank's layers and of its draft's. Layers that share the keys and values of an earlier one have rows too,
// which nothing writes: pools are sized by num_hidden_layers or by layer_types (model_executor/model_runner.py, num_effective_layers;
// pool_configurator.py, HybridSWAPoolConfigurator).
func (s *sizer) poolOf(own, kinds []engine.KindCount) pool {
	j := s.job
	format := dtype.FindFormat(j.Plan.KV)
	p := pool{page: int64(j.Plan.BlockSize), chunk: int64(j.Plan.MaxBatchedTokens), latent: j.Model.Latent(), held: draftCells(j)}
	apart := slidingPool(j.Model.Arch, j.Version, blackwell(j.Device(0)))
	delta := false
	add := func(c *model.Cache, layers int64) {
		switch {
		case c.Class == model.StateCache:
			p.state += unit.Bytes(layers) * s.stateBytes(c)
			delta = delta || c.Scan != nil && c.Scan.Delta
		case apart && c.Span > 0:
			p.sliding = addRows(p.sliding, layers, c, format)
			p.span = max(p.span, c.Span)
		default:
			p.full = addRows(p.full, layers, c, format)
		}
	}
	for _, k := range kinds {
		k.Kind.Caches(func(c model.Cache) { add(&c, k.Count) })
	}
	for _, k := range own {
		k.Kind.SharedCaches(func(c model.Cache) { add(&c, k.Count) })
	}
	p.rule = states(j.Version, delta, j.Plan.PrefixCache == nil || *j.Plan.PrefixCache)
	p.fixed = requestsWithoutCache
	if n := int64(j.Plan.MaxSeqs); n > 0 {
		p.fixed = n
	}
	return p
}

// stateBytes of one layer: convolution states in the model's 16-bit format, scan states in fp32 unless the
// config says otherwise.
func (s *sizer) stateBytes(c *model.Cache) unit.Bytes { return engine.StateBytes(s.job, c, 2, 4) }

func addRows(to []rows, layers int64, c *model.Cache, f *dtype.Format) []rows {
	r := rows{layers: layers, bytes: cellBytes(c.K+c.V, f), origin: fmt.Sprintf("2 × %d KV heads × %d, %s", c.KVHeads, c.DimK, f.Name)}
	if c.Class == model.LatentKV {
		r.origin = fmt.Sprintf("latent of %d, %s, not divided by tp", c.K, f.Name)
	}
	if c.Class == model.IndexKV {
		r.bytes, r.origin = c.TokenBytes(f, f), fmt.Sprintf("index key of %d in FP8 with its scales", c.DimK)
	}
	for i := range to {
		if to[i].bytes == r.bytes && to[i].origin == r.origin {
			to[i].layers += layers
			return to
		}
	}
	return append(to, r)
}

// cellBytes of elements: FP4 has a scale of one byte for 16.
func cellBytes(elems int64, f *dtype.Format) unit.Bytes {
	if f == dtype.FP4E2M1 {
		return unit.Bytes(elems/2 + elems/16)
	}
	return f.Row(elems)
}

// keepsTokens reports whether any layer does.
func (p *pool) keepsTokens() bool { return len(p.full)+len(p.sliding) > 0 }

func perToken(r []rows) (b unit.Bytes) {
	for i := range r {
		b += unit.Bytes(r[i].layers) * r[i].bytes
	}
	return b
}

func bookRows(b *ledger.Book, r []rows) ledger.Num {
	var sum ledger.Num
	for i := range r {
		n := b.Mul(b.Int("layers", r[i].layers, "this rank"), b.Size("bytes_per_token", r[i].bytes, r[i].origin))
		if i > 0 {
			n = b.Add(sum, n)
		}
		sum = n
	}
	return sum
}

// needed books a load: cells of its tokens, states of its requests, and what the fixed ratios between
// pools leave idle.
func (p *pool) needed(b *ledger.Book, l engine.Load, x engine.Sampled) []ledger.Item {
	l.Sequences = x.Alive
	seqs := b.Int("sequences", x.Alive, "plan")
	kv, idle := p.cells(b, seqs, l, x)
	if p.state == 0 {
		return p.items(kv, ledger.Num{}, idle)
	}
	state, more := p.states(b, seqs, sum(b, kv, idle))
	return p.items(kv, state, sum(b, idle, more))
}

// sum of what is there: adding nothing leaves a formula as it is.
func sum(b *ledger.Book, x, y ledger.Num) ledger.Num {
	switch {
	case x.V == 0:
		return y
	case y.V == 0:
		return x
	}
	return b.Add(x, y)
}

func (p *pool) items(kv, state, idle ledger.Num) (out []ledger.Item) {
	if p.keepsTokens() {
		out = append(out, ledger.Known("kv_cache", "KV cache", kv, ledger.Exact, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#sglang-pools"))
	}
	if state.V > 0 {
		out = append(out, ledger.Known("state", "recurrent state", state, ledger.Exact, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#sglang-pools"))
	}
	if idle.V > 0 {
		out = append(out, ledger.Known("other", "idle in the other pool", idle, ledger.Derived, ledger.SemiPersistent, ledger.Device,
			"pools have a fixed ratio: --swa-full-tokens-ratio, --mamba-full-memory-ratio"))
	}
	return out
}

// cells of the tokens of a load. Sliding layers keep a window of each sequence and the chunks in flight;
// their pool has slidingRatio as many tokens as that of the full layers, whichever of the two decides.
func (p *pool) cells(b *ledger.Book, seqs ledger.Num, l engine.Load, x engine.Sampled) (kv, idle ledger.Num) {
	if !p.keepsTokens() {
		return kv, idle
	}
	each := b.PadUp(b.Int("tokens", l.Context, "context"), b.Int("page", p.page, "page_size"))
	if p.held > 0 {
		each = b.Add(each, b.Int("drafting", p.held, "cells of a sequence that drafts, beyond its own (get_alloc_reserve_per_decode)"))
	}
	tokens := b.Mul(seqs, each)
	if whole := x.Tokens / max(1, p.page) * p.page; x.Sharing*whole > 0 {
		sharing := b.Int("sharing", x.Sharing, "answers beyond the first to each prompt")
		tokens = b.Sub(tokens, b.Mul(sharing, b.Int("shared_tokens", whole, "whole pages of a prompt")))
	}
	if len(p.sliding) == 0 {
		return b.Mul(tokens, bookRows(b, p.full)), idle
	}
	inWindow := b.Int("tokens_in_windows", p.windowTokens(l),
		fmt.Sprintf("min(context, %d + %d + 2 pages) each, and two prefill chunks", p.span, evictionInterval))
	s := bookRows(b, p.sliding)
	if len(p.full) == 0 {
		return b.Mul(inWindow, s), idle
	}
	s = b.Name("bytes_sliding", s)
	f := b.Name("bytes_full", bookRows(b, p.full))
	tokens = b.Name("tokens_in_full", tokens)
	ratio := b.In("swa_full_tokens_ratio", slidingRatio, "server_args.py")
	kv = b.Name("cells", b.Add(b.Mul(tokens, f), b.Mul(inWindow, s)))
	most := b.Max(tokens, b.Div(inWindow, ratio))
	all := b.Mul(most, b.Add(f, b.Mul(ratio, s)))
	return kv, b.Sub(all, kv)
}

// windowTokens of all sequences.
func (p *pool) windowTokens(l engine.Load) int64 {
	each := min(unit.PadUp(l.Context, p.page), unit.PadUp(p.span+evictionInterval, p.page)+2*p.page)
	flight := min(2*p.chunk+p.page, l.Sequences*l.Context)
	return min(l.Sequences*each+flight, l.Sequences*unit.PadUp(l.Context, p.page))
}

// states of the requests of a load, and what stays idle: the memory of states and of KV cache is divided
// by a fixed ratio, or there are as many states as max_running_requests allows.
func (p *pool) states(b *ledger.Book, seqs, cells ledger.Num) (state, idle ledger.Num) {
	per := b.Size("state", p.state, "convolution and scan states of all layers, this rank")
	if p.rule.ratio == 0 {
		slots := b.Max(seqs, b.Int("states", p.fixed, "max_running_requests, else 512"))
		return b.Mul(slots, per), p.charged(b, slots)
	}
	slots := b.Mul(seqs, b.Int("slots", p.rule.slots, "running state and what the prefix cache keeps"))
	if p.rule.spare > 0 {
		slots = b.Add(slots, b.Int("spare", p.rule.spare, "padding slot"))
	}
	state = b.Name("states", b.Mul(slots, per))
	if cells.V == 0 {
		return state, p.charged(b, slots)
	}
	cells = b.Name("cells", cells)
	ratio := b.In("mamba_full_memory_ratio", p.rule.ratio, "server_args.py")
	one := b.Add(b.Lit(1), ratio)
	whole := b.Max(b.Mul(cells, one), b.Div(b.Mul(state, one), ratio))
	return state, sum(b, b.Sub(b.Sub(whole, cells), state), p.charged(b, slots))
}

// charged is what slots take of the pool for layers that other stages hold.
func (p *pool) charged(b *ledger.Book, slots ledger.Num) ledger.Num {
	if p.elsewhere == 0 {
		return ledger.Num{}
	}
	return b.Mul(slots, b.Size("elsewhere", p.elsewhere, "states of the layers of other stages (#33666)"))
}

// chargeStages finds what each stage is charged for a state: as much as the stage with most of them from 0.5.18 on, before that all
// layers of the model (mem_cache/kv_cache_configurator.py, _handle_max_mamba_cache; #33666).
func (s *sizer) chargeStages() {
	stages := map[int]unit.Bytes{}
	for i := range s.ranks {
		at := s.ranks[i].pl.Stage
		stages[at] = max(stages[at], s.ranks[i].pool.state)
	}
	var most, all unit.Bytes
	for _, n := range stages {
		most, all = max(most, n), all+n
	}
	if s.job.Version.AtLeast(ownStage) {
		all = most
	}
	for i := range s.ranks {
		if p := &s.ranks[i].pool; p.state > 0 {
			p.elsewhere = all - p.state
		}
	}
}

// stated is the pool without the cells beyond the tokens that the plan states, in whole pages (model_runner.py, max_total_tokens):
// those of sliding layers follow in their ratio, and states are set aside before.
func (s *sizer) stated(p *pool, bytes unit.Bytes) unit.Bytes {
	most := int64(s.job.Plan.KVPoolTokens)
	if most == 0 || !p.keepsTokens() {
		return bytes
	}
	_, cells := p.split(bytes)
	each := perToken(p.full) + unit.Bytes(slidingRatio*float64(perToken(p.sliding)))
	return bytes - max(0, cells-unit.Bytes(most/max(1, p.page)*p.page)*each)
}

// split divides the pool's bytes: how many states, and what is left for cells.
func (p *pool) split(bytes unit.Bytes) (slots int64, cells unit.Bytes) {
	if p.state == 0 {
		return 0, bytes
	}
	slots = p.fixed
	if p.rule.ratio > 0 {
		budget := float64(bytes) * p.rule.ratio / (1 + p.rule.ratio)
		slots = max(0, int64(budget)/int64(p.state+p.elsewhere)-p.rule.spare)
	}
	return slots, max(0, bytes-unit.Bytes(slots+p.rule.spare)*(p.state+p.elsewhere))
}

// tokens of a pool: what max_total_num_tokens says, and the tokens of a sliding layer.
func (p *pool) tokens(bytes unit.Bytes) (full, sliding int64) {
	f, s := float64(perToken(p.full)), float64(perToken(p.sliding))
	cell := f
	switch {
	case f == 0:
		cell = s
	case s > 0:
		cell = f + slidingRatio*s
	}
	switch {
	case cell == 0:
		return math.MaxInt64, 0 // no layer keeps tokens: nothing bounds them
	case bytes <= 0:
		return 0, 0
	}
	full = int64(float64(bytes)/cell) / p.page * p.page
	if s > 0 && f > 0 {
		sliding = int64(float64(full)*slidingRatio) / p.page * p.page
	}
	return full, sliding
}
