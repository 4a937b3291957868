package quality

import (
	"cmp"
	"math"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
)

// Order is a total order of recipes and of cache formats for one model, least loss first. It follows the change of
// perplexity on wikitext-2 from 16 bits if published. Other formats are placed by their bits between neighbours of
// known loss; such a rank says that it is a guess and carries no figure.
type Order struct {
	t       *table
	model   Model
	weights map[string]Rank
	cache   []anchor
}

// Rank is a place in an order. Only places in the same Order are comparable, and only weights with weights, caches with
// caches.
type Rank struct {
	Name string
	// Bits per element, scales included.
	Bits   float64
	Effect Effect
	// Guess says how the place was determined if no row decides it.
	Guess string

	key    float64 // percent, if a row decides
	native int     // -1 for the vendor's own format
}

// Guesses for ranks that no row decides.
const (
	ByBits  = "ranked by bits, no sourced row"
	ByError = "ranked by the error measured on these weights, no sourced row says what it is worth"
	Last    = "ranked last: pruned, no sourced row" // bits do not reveal the cost of pruning
)

// pruned reports whether a recipe drops weights rather than rounding them.
func pruned(r *dtype.Recipe) bool { return wideFormat(r.Base) && !Wide(r) }

// Compare orders ranks by loss, then vendor's own format first, then more bits, then by name.
func Compare(a, b Rank) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.native, b.native), cmp.Compare(b.Bits, a.Bits), cmp.Compare(a.Name, b.Name))
}

// decisive is the metric that orders: most rows have it, and other perplexities change by other amounts (a word is more
// than one token).
const decisive = "ppl-wikitext2"

// NewOrder ranks every recipe for a model. It evaluates them all, so call it once per search.
func NewOrder(m Model) *Order { return published().newOrder(m) }

func (t *table) newOrder(m Model) *Order {
	o := &Order{t: t, model: m, weights: map[string]Rank{}}
	var known []anchor
	for _, r := range dtype.Recipes() {
		k := Rank{Name: r.Name, Bits: m.bits(r), Effect: t.ofWeights(m, dtype.BF16.Name, r.Name)}
		native := r.Name == m.Native
		if native {
			k.native = -1
		}
		if k.decided(native || Wide(r)) && !native {
			known = append(known, anchor{k.Bits, k.key})
		}
		if pruned(r) && !native {
			k.Guess, k.key = Last, math.Inf(1)
		}
		o.weights[r.Name] = k
	}
	known = falling(known)
	for name, k := range o.weights {
		k.guessed(known)
		o.weights[name] = k
	}
	o.cache = t.cacheAnchors(m)
	return o
}

// Weights returns the rank of a recipe.
func (o *Order) Weights(r *dtype.Recipe) Rank { return o.weights[r.Name] }

// Cache returns the rank of a pair of key and value formats; its bits are their mean.
func (o *Order) Cache(k, v *dtype.Format) Rank {
	r := o.t.cacheRank(o.model, keyOf(k, v), (cacheBits(k)+cacheBits(v))/2)
	r.Name = k.Name + "/" + v.Name
	r.guessed(o.cache)
	return r
}

func (t *table) cacheRank(m Model, key cacheKey, bits float64) Rank {
	r := Rank{Bits: bits}
	if to, ok := t.ids.keySide(key); ok {
		r.Effect = t.effect(KVCache, m, side{wide: true, id: none}, to)
	}
	r.decided(key == cacheKey{})
	return r
}

// cacheAnchors returns the known losses of pairs of cache formats.
func (t *table) cacheAnchors(m Model) (known []anchor) {
	for key := range t.ids.kv {
		if r := t.cacheRank(m, key, key.bits()); r.Guess == "" && key != (cacheKey{}) {
			known = append(known, anchor{r.Bits, r.key})
		}
	}
	if len(known) == 0 {
		known = t.usualCache()
	}
	return falling(append(known, anchor{bits: cacheKey{}.bits()}))
}

// usualCache returns the losses of cache formats over all models' rows, for a model that is near none of them: keys and
// values lose far less per bit than weights do.
func (t *table) usualCache() (known []anchor) {
	for key := range t.ids.kv {
		to, ok := t.ids.keySide(key)
		if !ok {
			continue
		}
		q := question{t: t, target: KVCache, from: side{wide: true, id: none}, to: to}
		if found := q.samples(Perplexity, anyModel, nil); len(found) > 0 && found[0].to.Metric.Name == decisive {
			known = append(known, anchor{key.bits(), max(0, summary(found, anyModel).Mid)})
		}
	}
	return known
}

// bits returns the mean bits per element of keys and values.
func (k cacheKey) bits() float64 {
	of := func(f *dtype.Format) float64 {
		if f == nil {
			return dtype.F16.Bits()
		}
		return cacheBits(f)
	}
	return (of(k.k) + of(k.v)) / 2
}

// cacheBits returns the bits per cache element, scales included: engines store e2m1 with one byte per 16 (SGLang,
// TensorRT-LLM).
func cacheBits(f *dtype.Format) float64 {
	if f == dtype.FP4E2M1 {
		return dtype.NVFP4Split.Bits()
	}
	return f.Bits()
}

// decided places a rank by its row. An apparent gain is chance and counts as no loss.
func (r *Rank) decided(wide bool) bool {
	r.Guess = ""
	switch p := r.Effect.Perplexity; {
	case wide:
		r.key = 0
	case p != nil && p.Metric.Name == decisive:
		r.key = max(0, p.Mid)
	case p != nil && p.Metric.Name == OwnError:
		r.Guess, r.key = ByError, p.place()
	default:
		r.Guess = ByBits
	}
	return r.Guess == ""
}

// anchor is a known loss at a number of bits.
type anchor struct{ bits, key float64 }

// falling returns one anchor per number of bits, the mean, from many bits to few, with losses made non-decreasing:
// guesses must not prefer fewer bits.
func falling(known []anchor) (out []anchor) {
	stable.Sort(known, func(a, b anchor) int { return cmp.Or(cmp.Compare(b.bits, a.bits), cmp.Compare(a.key, b.key)) })
	least := 0.
	for from := 0; from < len(known); {
		to, sum := from, 0.
		for ; to < len(known) && known[to].bits == known[from].bits; to++ {
			sum += known[to].key
		}
		least = max(least, sum/float64(to-from))
		out = append(out, anchor{known[from].bits, least})
		from = to
	}
	return out
}

// fewBits is where losses start to grow by themselves: each bit less quadruples the power of rounding noise (Bennett
// 1948), and perplexity rises with it. Published rows agree: TestFewBits. Above it, formats differ by more than their
// bits.
const fewBits = 4.5

// usualLoss is the default loss at fewBits in percent, the median of published rows (TestFewBits).
const usualLoss = 1.5

// noisier extrapolates a loss to fewer bits than the lowest with a row.
func noisier(loss, bits, now float64) float64 {
	from := min(bits, fewBits)
	if now >= from {
		return loss + bits - now
	}
	return max(1, loss+bits-from) * math.Exp2(2*(from-now))
}

// guessed places an undecided rank between its neighbours by linear interpolation in bits.
func (r *Rank) guessed(known []anchor) {
	if r.Guess != ByBits {
		return
	}
	at := slices.IndexFunc(known, func(a anchor) bool { return a.bits <= r.Bits })
	switch {
	case len(known) == 0:
		r.key = noisier(usualLoss, fewBits, r.Bits)
	case at == 0:
		r.key = known[0].key
	case at < 0:
		last := known[len(known)-1]
		r.key = noisier(last.key, last.bits, r.Bits)
	default:
		above, below := known[at-1], known[at]
		r.key = above.key + (below.key-above.key)*(above.bits-r.Bits)/(above.bits-below.bits)
	}
}
