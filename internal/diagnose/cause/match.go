package cause

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/lifetime"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// To identify an allocation, its size, printed with two decimals, is compared with the plan's own allocations, listed from the
// operators of a rank's share, including values of that many rows.

const maxMatches = 4

// allocation is a tensor that the plan may allocate.
type allocation struct {
	name  string
	place diagnose.Place
	terms []term
	// tokens is the number of tokens in its rows, 0 if none; it is solved for if not given.
	tokens int64
}

type term struct {
	value int64
	unit  string
}

// bytes multiplies the terms; ok is false on overflow.
func (x *allocation) bytes() (n int64, ok bool) {
	n = 1
	for _, t := range x.terms {
		if n, ok = unit.MulOK(n, t.value); !ok {
			return 0, false
		}
	}
	return n, true
}

func (x *allocation) formula() string {
	var parts []string
	for _, t := range x.terms {
		if t.value != 1 || t.unit != "" {
			parts = append(parts, strings.TrimSpace(unit.Count(t.value)+" "+t.unit))
		}
	}
	return strings.Join(parts, " × ")
}

// match returns the plan's allocations of the requested size, likeliest first.
func (p *failed) match() []api.Match {
	if p.base == nil || !p.first.Requested.Known || p.first.Kind.Weight() == diagnose.NotMemory {
		return nil
	}
	var out []api.Match
	all := p.allocations()
	for i := range all {
		if m, ok := hit(&all[i], p.first); ok {
			out = append(out, m)
		}
	}
	out = append(out, p.booked()...)
	if len(out) == 0 {
		out = solve(all, p.first)
	}
	return firstOfSize(out)
}

// firstOfSize keeps the likeliest few, each name once.
func firstOfSize(all []api.Match) (out []api.Match) {
	for _, m := range all {
		if len(out) < maxMatches && !slices.ContainsFunc(out, func(o api.Match) bool { return o.Name == m.Name }) {
			out = append(out, m)
		}
	}
	return out
}

// hit compares an allocation with the requested size, to the last printed digit.
func hit(x *allocation, f *diagnose.Finding) (api.Match, bool) {
	n, ok := x.bytes()
	if !ok || n == 0 || !equal(n, f) {
		return api.Match{}, false
	}
	return api.Match{Name: x.name, Formula: x.formula(), Bytes: unit.Bytes(n), Exact: true}, true
}

// equal reports whether n bytes print as the figure.
func equal(n int64, f *diagnose.Finding) bool {
	asked := f.Requested
	if askedByTorch(f) {
		n = lifetime.TorchSegment(n)
	}
	return abs64(n-int64(asked.Bytes)) <= int64(asked.Half)
}

func abs64(n int64) int64 { return max(n, -n) }

// askedByTorch reports whether PyTorch's allocator made the request.
func askedByTorch(f *diagnose.Finding) bool {
	switch f.Backend {
	case "cuda", "hip", "xpu":
		return f.Engine != "llama.cpp" && f.Engine != "ollama" && f.Engine != "tensorrt-llm"
	}
	return false
}

// booked compares with the ledger's items, since llama.cpp allocates each buffer as a whole.
func (p *failed) booked() (out []api.Match) {
	if askedByTorch(p.first) {
		return nil
	}
	asked := p.first.Requested
	var walk func(items []api.Item, above string)
	walk = func(items []api.Item, above string) {
		for i := range items {
			it := &items[i]
			name := strings.TrimSpace(above + " " + it.Name)
			within := it.Low-asked.Half <= asked.Bytes && asked.Bytes <= it.High+asked.Half
			if it.Bytes > 0 && within {
				off := it.Bytes - asked.Bytes
				out = append(out, api.Match{Name: name, Formula: it.Formula, Bytes: it.Bytes, Exact: max(off, -off) <= asked.Half,
					Item: true})
			}
			walk(it.Items, "")
		}
	}
	for i := range p.base.Devices {
		walk(p.base.Devices[i].Ledger, "")
		walk(p.base.Devices[i].Beside, "")
	}
	if p.base.Host != nil {
		walk(p.base.Host.Ledger, "")
	}
	stable.Sort(out, func(a, b api.Match) int { return cmp.Compare(btoi(b.Exact), btoi(a.Exact)) })
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// solve looks for a round number of tokens that gives an allocation the requested size, since a plan does not fix the lengths of
// single batches.
func solve(all []allocation, f *diagnose.Finding) (out []api.Match) {
	asked := f.Requested
	seen := map[string]bool{}
	for i := range all {
		x := &all[i]
		whole, ok := x.bytes()
		if !ok || x.tokens == 0 || whole%x.tokens != 0 || seen[strings.TrimPrefix(x.name, "fp32 ")] || x.place != f.Place &&
			f.Place != diagnose.Forward && f.Place != diagnose.Backward && f.Place != diagnose.Profiling {
			continue
		}
		per := whole / x.tokens
		n := roundest((int64(asked.Bytes-asked.Half)+per-1)/per, int64(asked.Bytes+asked.Half)/per)
		if n == 0 || n%256 != 0 && x.place != f.Place {
			continue
		}
		seen[strings.TrimPrefix(x.name, "fp32 ")] = true
		y := *x
		y.terms = append([]term{{n, "tokens"}}, x.rest()...)
		out = append(out, api.Match{Name: x.name, Formula: y.formula(), Bytes: unit.Bytes(n * per), Exact: equal(n*per, f), Solved: true,
			Tokens: n})
	}
	stable.Sort(out, func(a, b api.Match) int { return cmp.Compare(b.Tokens&-b.Tokens, a.Tokens&-a.Tokens) })
	return out
}

// rest returns the terms without tokens.
func (x *allocation) rest() (out []term) {
	for _, t := range x.terms {
		if t.unit != "sequences" && t.unit != "tokens" {
			out = append(out, t)
		}
	}
	return out
}

// roundest returns the number in a range divisible by the highest power of two; 0 if the range is empty.
func roundest(low, high int64) int64 {
	if low > high || low < 1 {
		return 0
	}
	for p := int64(1) << 40; p > 0; p /= 2 {
		if n := (low + p - 1) / p * p; n <= high {
			return n
		}
	}
	return 0
}

// rankShare is the network computed by one rank, with the tokens it processes at once.
type rankShare struct {
	part     *model.Part
	groups   shard.Parallel
	rows     []term // rows of the values: sequences × tokens, or tokens
	sequence int64  // tokens per sequence
	samples  int64  // sequences sampled at once
	trains   bool
}

func (p *failed) rankShare() *rankShare {
	if p.train != nil {
		r := &p.train.Question.Request
		s := &rankShare{part: p.train.Job.Model.Decoder(), groups: shard.Parallel{TP: r.TP}, sequence: p.train.Job.Sequence(), trains: true}
		s.samples = max(1, int64(r.MicroBatch))
		s.rows = []term{{s.samples, "sequences"}, {s.sequence, "tokens"}}
		return s
	}
	if p.fit == nil {
		return nil
	}
	load := &p.fit.Request.Plan
	s := &rankShare{part: p.fit.Job.Model.Decoder(), groups: shard.Parallel{TP: load.TP, EP: load.EP}, sequence: int64(load.Context),
		samples: max(1, int64(load.MaxSeqs))}
	s.rows = []term{{max(1, int64(load.MaxBatchedTokens)), "tokens"}}
	if load.MaxBatchedTokens == 0 {
		s.rows[0].value = max(1, int64(load.PromptTokens))
	}
	return s
}

// tokens returns the tokens of all rows.
func (s *rankShare) tokens() (n int64) {
	n = 1
	for _, t := range s.rows {
		n *= t.value
	}
	return n
}

// allocations returns those of a rank: operator outputs, logits, score matrices, weights and optimizer states.
func (p *failed) allocations() (out []allocation) {
	s := p.rankShare()
	if s == nil || p.base.Model == nil {
		return nil
	}
	s.groups = s.groups.Normal()
	out = append(out, s.logits()...)
	s.part.Each(func(k *model.Kind, _ int64) {
		local := s.groups.Kind(k, shard.Coord{})
		for i := range local.Ops {
			out = append(out, s.values(&local.Ops[i])...)
		}
	})
	s.part.Each(func(k *model.Kind, _ int64) {
		local := s.groups.Kind(k, shard.Coord{})
		for i := range local.Ops {
			out = append(out, s.tensors(&local.Ops[i])...)
		}
	})
	return append(out, p.states()...)
}

const (
	bytes16 = 2
	bytes32 = 4
)

// logits returns those of all rows, of all rows but the last (labels are shifted), and of the sampled rows.
func (s *rankShare) logits() (out []allocation) {
	for i := range s.part.Post.Ops {
		o := &s.part.Post.Ops[i]
		if o.Kind != model.Head {
			continue
		}
		for _, width := range []term{{bytes32, "B"}, {bytes16, "B"}} {
			name := map[int64]string{bytes32: "fp32 logits", bytes16: "logits"}[width.value]
			out = append(out, allocation{name, diagnose.Loss, append(slices.Clone(s.rows), term{o.Out, ""}, width), s.tokens()})
			if s.trains && s.sequence > 1 {
				out = append(out, allocation{name + ", shifted", diagnose.Loss,
					[]term{{s.samples, "sequences"}, {s.sequence - 1, "tokens"}, {o.Out, ""}, width}, 0})
				continue
			}
			out = append(out, allocation{name + " of the sampler", diagnose.Sampler, []term{{s.samples, "sequences"}, {o.Out, ""}, width},
				s.samples})
		}
	}
	return out
}

// valueNames are outputs by the operator that computes them.
var valueNames = map[dtype.Role]struct {
	name  string
	place diagnose.Place
}{
	dtype.FFNGate: {"the MLP's intermediate", diagnose.MLP}, dtype.FFNUp: {"the MLP's intermediate", diagnose.MLP},
	dtype.FFNGateExps: {"the experts' intermediate", diagnose.MLP}, dtype.FFNUpExps: {"the experts' intermediate", diagnose.MLP},
	dtype.AttnQ: {"queries", diagnose.Attention}, dtype.AttnQKV: {"queries, keys and values", diagnose.Attention},
	dtype.AttnK: {"keys", diagnose.Attention}, dtype.TokenEmbd: {"hidden states", diagnose.Forward},
}

// values returns the outputs of an operator.
func (s *rankShare) values(o *model.Op) (out []allocation) {
	if o.Kind == model.Attention && o.Attn != nil {
		for _, width := range []term{{bytes16, "B"}, {bytes32, "B"}} {
			n := s.samples
			if !s.trains {
				n = 1
			}
			out = append(out, allocation{"the matrix of attention scores", diagnose.Attention,
				[]term{{n, "sequences"}, {o.Attn.Heads, "heads"}, {s.sequence, ""}, {s.sequence, ""}, width}, 0})
		}
		return out
	}
	v, ok := valueNames[o.Role]
	if !ok || o.Out == 0 || o.Kind != model.Linear && o.Kind != model.ExpertLinear && o.Kind != model.Embed {
		return nil
	}
	rows := slices.Clone(s.rows)
	if o.Rows == model.PerChoice && o.Moe != nil {
		rows = append(rows, term{o.Moe.Used, "experts"})
	}
	out = append(out, allocation{v.name, v.place, append(slices.Clone(rows), term{o.Out, ""}, term{bytes16, "B"}), s.tokens()})
	if v.place == diagnose.MLP {
		out = append(out, allocation{v.name + ", gate and up together", v.place,
			append(slices.Clone(rows), term{2, ""}, term{o.Out, ""}, term{bytes16, "B"}), s.tokens()})
	}
	if v.place == diagnose.Forward || v.place == diagnose.MLP {
		out = append(out, allocation{v.name + " in fp32", v.place, append(rows, term{o.Out, ""}, term{bytes32, "B"}), s.tokens()})
	}
	return out
}

// tensors returns an operator's matrices, as 16-bit weights or gradients, and as FP32 states or copies.
func (s *rankShare) tensors(o *model.Op) (out []allocation) {
	if o.Lent {
		return nil
	}
	for _, t := range o.W {
		if t.Cols < 2 || t.Bias {
			continue
		}
		shape := []term{{max(1, t.Batch), ""}, {t.Rows(), ""}, {t.Cols, ""}}
		name := strings.ReplaceAll(string(t.Role), "_", " ")
		out = append(out, allocation{"a matrix of " + name, diagnose.Loading, append(slices.Clone(shape), term{bytes16, "B"}), 0})
		if s.trains {
			out = append(out, allocation{"an fp32 state or copy of " + name, diagnose.Optimizer, append(shape, term{bytes32, "B"}), 0})
		}
	}
	return out
}

// states returns the flat buffers of all parameters, whole and sharded over the data-parallel ranks.
func (p *failed) states() (out []allocation) {
	if p.train == nil || p.train.Question.Request.Method != "full" {
		return nil
	}
	n := p.base.Model.Parameters
	ranks := max(1, p.train.Question.Request.DP)
	for _, width := range []int64{bytes32, bytes16} {
		name := map[int64]string{bytes32: "an fp32 copy or state", bytes16: "gradients, or a copy in 16 bits,"}[width]
		out = append(out, allocation{name + " of all parameters", diagnose.Optimizer, []term{{n, "parameters"}, {width, "B"}}, 0})
		if ranks > 1 {
			share := int64(math.Ceil(float64(n) / float64(ranks)))
			out = append(out, allocation{"a shard of " + name + " of all parameters", diagnose.Optimizer,
				[]term{{share, "parameters of a rank"}, {width, "B"}}, 0})
		}
	}
	return out
}
