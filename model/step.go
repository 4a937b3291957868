package model

import (
	"math"
	"slices"
)

// Step is one forward pass over a batch. All counts are of tokens or sequences.
type Step struct {
	Tokens  int64 // new tokens, all sequences together
	Seqs    int64
	Outputs int64 // rows with logits
	Context int64 // cached tokens of each sequence before the step
}

// Feature numbers: the cost of every operator is linear in them. What is not linear in a Step (windows,
// causality, experts touched) is worked out here once, not in every operator.
const (
	One      = iota // per step
	Tokens          // per new token
	Outputs         // per row with logits
	Seqs            // per sequence
	Pairs           // per query-key pair, causal
	Read            // per cached position read
	Touched         // per routed expert with at least one token
	pairsW          // Pairs and Read again for up to MaxSpans windows or chunks
	features = pairsW + 2*MaxSpans
)

// MaxSpans is how many distinct windows, chunks and choices one model may have.
const MaxSpans = 2

// Features is a point in feature space.
type Features [features]float64

// Windows lists the distinct windows and chunks that a model's caches are bounded by.
func (m *Model) Windows() (spans []int64) {
	for i := range m.Parts {
		m.Parts[i].Each(func(k *Kind, _ int64) {
			k.Caches(func(c Cache) {
				if c.Span > 0 && !slices.Contains(spans, c.Span) {
					spans = append(spans, c.Span)
				}
			})
		})
	}
	return spans
}

// Spans lists how far the decoder's attention reaches where that is bounded: windows, chunks, and how many
// positions indexers choose.
func (m *Model) Spans() (spans []int64) {
	m.Decoder().Each(func(k *Kind, _ int64) {
		for j := range k.Ops {
			if a := k.Ops[j].Attn; a != nil {
				spans = a.spans(spans)
			}
		}
	})
	return spans
}

func (a *Attn) spans(list []int64) []int64 {
	for _, x := range []int64{max(a.Window, a.Chunk), a.Chosen} {
		if x > 0 && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// Features of a step, for a model with the given spans and experts.
func (s Step) Features(spans []int64, e *Experts) (f Features) {
	n, c := float64(s.Seqs), float64(s.Context)
	per := float64(s.Tokens) / n
	f[One], f[Tokens], f[Outputs], f[Seqs] = 1, float64(s.Tokens), float64(s.Outputs), n
	f[Pairs] = n * (per*c + per*(per+1)/2)
	f[Read] = n * (c + per)
	for i, w := range spans {
		if i < MaxSpans {
			w := float64(w)
			f[pairsW+2*i] = n * windowPairs(per, c, w)
			f[pairsW+2*i+1] = n * math.Min(c+per, w+per)
		}
	}
	if e != nil {
		f[Touched] = TouchedExperts(e, float64(s.Tokens))
	}
	return f
}

// windowPairs counts query-key pairs of per new tokens after c cached ones when each sees at most w.
func windowPairs(per, c, w float64) float64 {
	growing := math.Min(per, math.Max(0, w-c)) // tokens that still see everything before them
	return growing*c + growing*(growing+1)/2 + (per-growing)*w
}

// TouchedExperts is the expected number of experts that at least one of the tokens chooses, when choices
// are uniform and independent: N (1 - (1 - k/N)^tokens).
func TouchedExperts(e *Experts, tokens float64) float64 {
	n := float64(e.N)
	return n * (1 - math.Pow(1-float64(e.Used)/n, tokens))
}
