package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/ledger"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/shard"
	"github.com/memwall/memwall/unit"
)

// Parallel returns the parallel groups of a plan.
func Parallel(p *plan.Plan) shard.Parallel {
	return shard.Parallel{TP: p.TP, PP: p.PP, EP: p.EP, DP: p.DP, CP: p.CP, Redundant: int64(p.RedundantExperts)}.Normal()
}

// DefaultParallel sets unset groups: tensor parallelism to the largest divisor of a node's devices that divides the
// attention heads and that takes, if given, accepts; pipeline parallelism to as many stages as the weights need; the
// rest to data parallelism.
func DefaultParallel(j *Job, takes ...func(tp int64) bool) {
	p := j.Plan
	devices := j.Devices() / p.Pooled()
	given := p.TP > 0 || p.PP > 0 || p.DP > 0
	if p.TP == 0 {
		rest := devices / (max(1, p.PP) * max(1, p.DP) * max(1, p.CP))
		p.TP = 1
		for tp := min(rest, j.PerNode(), widest(j.Model)); tp > 1; tp-- {
			refused := slices.ContainsFunc(takes, func(ok func(int64) bool) bool { return !ok(tp) })
			if rest%tp == 0 && divides(tp, j.Model) && !refused {
				p.TP = tp
				break
			}
		}
		if devices > 1 {
			j.Default("tp", p.TP)
		}
	}
	if p.PP == 0 && !given {
		if p.PP = stages(j, devices/(p.TP*max(1, p.CP))); p.PP > 1 {
			j.Default("pp", p.PP)
		}
	}
	p.PP, p.CP = max(1, p.PP), max(1, p.CP)
	if p.DP == 0 {
		p.DP = 1
		if !given {
			p.DP = max(1, devices/(p.TP*p.PP*p.CP))
		}
		if p.DP > 1 {
			j.Default("dp", p.DP)
		}
	}
}

// full is the fraction of a device that weights may occupy when a layout is chosen; the rest is left to caches and the
// engine.
const full = 0.85

// stages returns the smallest number of device groups to split the layers over such that the model fits; 1 if one group
// is enough, or no number is.
func stages(j *Job, groups int64) int64 {
	d := j.Device(0)
	if d == nil || j.Weights == nil || !d.Usable.Known {
		return 1
	}
	room := full * float64(d.Usable.Value) * float64(j.Plan.TP)
	for n := int64(1); n <= groups; n++ {
		if groups%n == 0 && float64(j.Weights.Bytes())/float64(n) <= room && n <= int64(len(j.Model.Decoder().Layers)) {
			return n
		}
	}
	return 1
}

// divides reports whether attention heads and scan heads can be divided by n.
func divides(n int64, m *model.Model) bool {
	ok := m.Traits.Heads == 0 || m.Traits.Heads%n == 0
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if s := k.Ops[i].Scan; s != nil && s.Heads%n != 0 {
				ok = false
			}
		}
	})
	return ok
}

// widest returns how many ways heads can be divided at most; unbounded without heads.
func widest(m *model.Model) int64 {
	n := m.Traits.Heads
	m.Decoder().Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if s := k.Ops[i].Scan; s != nil {
				n = max(n, s.Heads)
			}
		}
	})
	if n == 0 {
		return math.MaxInt64
	}
	return n
}

// CheckParallel rejects groups that do not fit the model or the machine.
func CheckParallel(j *Job) error {
	p := j.Plan
	if p.TP > 1 && !divides(p.TP, j.Model) {
		return tpProblem(j)
	}
	layers := int64(len(j.Model.Decoder().Layers))
	if layers > 0 && p.PP > layers {
		return &plan.Problem{Field: "pp", Value: fmt.Sprint(p.PP), Impossible: true,
			Message: fmt.Sprintf("pp = %d is more than the %d layers of %s", p.PP, layers, j.Model.ID),
			Fix:     fmt.Sprintf("--pp %d or less", layers)}
	}
	if err := checkExperts(j); err != nil {
		return err
	}
	n, have := p.Ranks(), j.Devices()
	switch {
	case n > have && j.Machine != nil && j.Machine.CPUOnly:
		return &plan.Problem{Field: "engine", Value: p.Engine, Impossible: true,
			Message: "the rules of this engine are of devices: its back end for processors is not sized", Fix: "--engine llama.cpp"}
	case n > have:
		return &plan.Problem{Field: "devices", Value: fmt.Sprint(n), Impossible: true,
			Message: fmt.Sprintf("the plan needs %d devices (tp %d × pp %d × dp %d × cp %d), but the hardware has %d", n, p.TP,
				p.PP, p.DP, p.CP,
				have),
			Fix: fmt.Sprintf("--on with %d devices, or smaller groups", n)}
	}
	return nil
}

// CheckCross rejects encoder-decoder models for an engine whose cross-attention cache is not described; the message
// names the engine.
func CheckCross(j *Job, engine string) error {
	if !j.Model.Caches(func(c model.Cache) bool { return c.Class == model.CrossKV }) {
		return nil
	}
	return &plan.Problem{Field: "engine", Value: j.Plan.Engine, Lacking: true,
		Message: fmt.Sprintf("how %s keeps the encoder's output of %s is not described", engine, j.Model.ID),
		Fix:     "--engine transformers or --engine vllm"}
}

func tpProblem(j *Job) error {
	p := j.Plan
	best := int64(1)
	for n := min(p.TP-1, widest(j.Model)); n > 1; n-- {
		if divides(n, j.Model) {
			best = n
			break
		}
	}
	fix := fmt.Sprintf("--tp %d", best)
	if next := nextDividing(p.TP, j.Model); next > 0 {
		fix += fmt.Sprintf(", or --tp %d on %d devices", next, next)
	}
	heads := fmt.Sprintf("%d attention heads", j.Model.Traits.Heads)
	if j.Model.Traits.Heads%p.TP == 0 {
		heads = "heads of the recurrent layers"
	}
	return &plan.Problem{Field: "tp", Value: fmt.Sprint(p.TP), Impossible: true,
		Message: fmt.Sprintf("tp = %d does not divide the %s of %s", p.TP, heads, j.Model.ID), Fix: fix}
}

func nextDividing(n int64, m *model.Model) int64 {
	for i := n + 1; i <= m.Traits.Heads && i <= 4*n; i++ {
		if divides(i, m) {
			return i
		}
	}
	return 0
}

// NewRank returns a Rank for a class of ranks, with its device.
func NewRank(b *ledger.Book, j *Job, pl *Placed) Rank {
	d := j.Device(pl.Index)
	if d == nil {
		return Rank{Name: "a device without bounds", Index: pl.Index, Count: pl.Count, Unlimited: true}
	}
	r := Rank{Name: d.Name, Index: pl.Index, Count: pl.Count, UsableBasis: d.Usable.Basis}
	capacity := d.Reported
	if !capacity.Known {
		capacity = d.Usable
	}
	r.Capacity = b.Size("capacity", capacity.Value, "driver")
	r.Usable = b.Size("device_total", d.Usable.Value, d.Usable.Source)
	r.Usable = Unreserved(b, j.Plan, r.Usable)
	return r
}

// Unreserved returns what a plan leaves of a device's usable memory; zero if it reserves more than that.
func Unreserved(b *ledger.Book, p *plan.Plan, usable ledger.Num) ledger.Num {
	if p.Reserved <= 0 {
		return usable
	}
	left := b.Sub(usable, b.Size("reserved", unit.Bytes(p.Reserved), "plan"))
	if left.V < 0 {
		left = b.Max(left, b.Lit(0))
	}
	return left
}

func (g *WeightGroup) bytes() (b unit.Bytes) {
	for i := range g.Tensors {
		b += g.Tensors[i].Local
	}
	return b
}

// InputName returns s as the name of an input: words joined by underscores.
func InputName(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }), "_")
}

// OtherParts books towers and other parts, which are replicated on every rank of the first stage, and tensors of a file
// that no operator uses. A silent engine skips parts that synthesize audio.
func OtherParts(b *ledger.Book, j *Job, pl *Placed, voice Voice) (out []ledger.Item) {
	if pl.Stage != 0 {
		return extraItems(b, j, pl)
	}
	for i := range j.Model.Parts {
		part := &j.Model.Parts[i]
		if i == 0 || part.Name == model.PartMTP || part.Speaks && voice == Silent || On(j.Plan.TextOnly, false) &&
			part.Name != partEncoder {
			continue
		}
		tp := pl.Parallel.TP
		if On(j.Plan.WholeTower, false) {
			tp = 1
		}
		n := b.Size(InputName(part.Name), towerBytes(part, &j.Weights.Parts[i], tp), "sum over tensors, this rank")
		out = append(out, ledger.Known("weights", partTitle(part.Name), n, ledger.Exact, ledger.Persistent, ledger.Device,
			"docs/formulas.md#towers"))
	}
	out = append(out, extraItems(b, j, pl)...)
	if j.Weights.Extra > 0 {
		n := b.Size("extra", j.Weights.Extra, "tensors of the file that the model does not use")
		out = append(out, ledger.Known("other", j.Weights.ExtraName, n, ledger.Exact, ledger.Persistent, ledger.Device, "file"))
	}
	return out
}

// partEncoder is the encoder of an encoder-decoder, which unlike a tower cannot be left out.
const partEncoder = "encoder"

// partTitle returns a readable name of a part other than the decoder.
func partTitle(part string) string {
	title := strings.ReplaceAll(part, "_", " ")
	if part == partEncoder {
		return title
	}
	return title + " tower"
}

// towerBytes returns a rank's share of a tower: tensor parallelism shards its layers like the decoder's, if it divides
// the heads.
func towerBytes(part *model.Part, w *model.PartWeights, tp int64) (b unit.Bytes) {
	part.Each(func(k *model.Kind, _ int64) {
		for i := range k.Ops {
			if a := k.Ops[i].Attn; a != nil && a.Heads%tp != 0 {
				tp = 1
			}
		}
	})
	placed, err := Place(part, w, shard.Parallel{TP: tp})
	if err != nil {
		return w.Bytes()
	}
	for _, g := range placed[0].WeightGroups() {
		b += g.bytes() * unit.Bytes(g.Count)
	}
	return b
}

// CacheItems books unpaged caches: every sequence holds keys and values for its full length, windows hold their span,
// states their fixed size.
func CacheItems(b *ledger.Book, kinds []KindCount, k, v, state *dtype.Format, l Load) (kv, states []ledger.Item) {
	var total, stateSum ledger.Num
	seen, hasState := false, false
	for _, kc := range kinds {
		kc.Kind.Caches(func(c model.Cache) {
			layers := b.Int("layers", kc.Count, kc.Kind.Name)
			if c.Class == model.StateCache {
				n := b.Mul(layers, b.Int("sequences", l.Sequences, "plan"), b.Int("state_elements", c.ConvElems+c.StateElems, "model"),
					b.Int("bytes", state.BlockBytes, state.Name))
				if hasState {
					n = b.Add(stateSum, n)
				}
				stateSum, hasState = n, true
				return
			}
			n := b.Mul(layers, b.Int("sequences", l.Sequences, "plan"), tokens(b, c, l), rowBytes(b, c, k, v))
			if seen {
				n = b.Add(total, n)
			}
			total, seen = n, true
		})
	}
	if seen {
		kv = append(kv, ledger.Known("kv_cache", "KV cache", total, ledger.Exact, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#kv-cache"))
	}
	if hasState {
		states = append(states, ledger.Known("state", "recurrent state", stateSum, ledger.Exact, ledger.SemiPersistent, ledger.Device,
			"docs/formulas.md#recurrent-state"))
	}
	return kv, states
}

func tokens(b *ledger.Book, c model.Cache, l Load) ledger.Num {
	if c.Source > 0 {
		return b.Int("source_tokens", c.Source, "model, of the encoder's output")
	}
	n := b.Int("tokens", l.Context, "context")
	if l.Over > 1 {
		n = b.CeilDiv(n, b.Int("cp", l.Over, "plan"))
	}
	if c.Span > 0 {
		return b.Min(n, b.Int("window", c.Span, "model"))
	}
	return n
}

func rowBytes(b *ledger.Book, c model.Cache, k, v *dtype.Format) ledger.Num {
	if c.Class == model.IndexKV {
		return b.Size("index_bytes", c.TokenBytes(k, v), fmt.Sprintf("index key of %d in FP8 with its scales", c.DimK))
	}
	if c.Class == model.LatentKV {
		return b.Size("latent_bytes", k.Row(c.K), fmt.Sprintf("%d elements in %s", c.K, k.Name))
	}
	if k == v && c.DimK == c.DimV && k.BlockElems == 1 {
		return b.Mul(b.Lit(2), b.Int("kv_heads", c.KVHeads, "model, this rank"), b.Int("head_dim", c.DimK, "model"),
			b.Int("bytes", k.BlockBytes, k.Name))
	}
	return b.Add(b.Size("k_row", k.Row(c.K), fmt.Sprintf("%d elements in %s", c.K, k.Name)),
		b.Size("v_row", v.Row(c.V), fmt.Sprintf("%d elements in %s", c.V, v.Name)))
}

// PerToken returns the cache growth per token of a long sequence: full and latent caches and index keys only.
func PerToken(kinds []KindCount, k, v *dtype.Format) (b unit.Bytes) {
	for _, kc := range kinds {
		kc.Kind.Caches(func(c model.Cache) {
			if c.Class == model.FullKV || c.Class == model.LatentKV || c.Class == model.IndexKV {
				b += unit.Bytes(kc.Count) * c.TokenBytes(k, v)
			}
		})
	}
	return b
}

// StateBytes returns what one recurrent layer keeps per sequence: convolution states with conv bytes per element, scan
// states in the format named by the plan or the model's config, or else with scan bytes per element.
func StateBytes(j *Job, c *model.Cache, conv, scan int64) unit.Bytes {
	scan = StateWidth(j, scan)
	return unit.Bytes(conv*c.ConvElems + scan*c.StateElems)
}

// StateWidth returns the bytes per element of a scan's state: of the plan's format or that of the model's config, or
// usual if neither is given.
func StateWidth(j *Job, usual int64) int64 {
	if f := dtype.FindFormat(j.Plan.StateFormat); f != nil && j.Plan.StateFormat != "" {
		return f.BlockBytes
	}
	if j.Model.State != nil {
		return j.Model.State.BlockBytes
	}
	return usual
}

// StateFormat returns the format of a model's recurrent states: as its configuration says, else fp32.
func StateFormat(m *model.Model) *dtype.Format {
	if m.State != nil {
		return m.State
	}
	return dtype.F32
}
