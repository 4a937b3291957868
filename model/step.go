package model

import (
	"math"
	"slices"
)

// Step is one forward pass over a batch. All counts are of tokens or sequences.
type Step struct {
	Tokens  int64 // new tokens of all sequences
	Seqs    int64
	Outputs int64 // rows with logits
	Context int64 // cached tokens per sequence before the step
}

// Indexes of Features. The cost of every operator is linear in them; whatever is not linear in a Step (windows,
// causality, experts touched) is resolved here once rather than in each operator.
const (
	One      = iota // per step
	Tokens          // per new token
	Outputs         // per row with logits
	Seqs            // per sequence
	Pairs           // per query-key pair, causal
	Read            // per cached position read
	Touched         // per routed expert chosen by at least one token
	pairsW          // Pairs and Read again, for up to MaxSpans windows or chunks
	features = pairsW + 2*MaxSpans
)

// MaxSpans is the maximum number of distinct windows, chunks and choices per model.
const MaxSpans = 2

// Features is a point in feature space.
type Features [features]float64

// Windows returns the distinct windows and chunks that bound the model's caches.
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

// Spans returns the bounds on the reach of the decoder's attention: windows, chunks, and numbers of positions chosen by
// indexers.
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

// Features returns the features of a step for a model with the given spans and experts.
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

// windowPairs returns the number of query-key pairs of per new tokens after c cached ones if each attends to at most w
// positions.
func windowPairs(per, c, w float64) float64 {
	growing := math.Min(per, math.Max(0, w-c)) // tokens that still attend to everything before them
	return growing*c + growing*(growing+1)/2 + (per-growing)*w
}

// TouchedExperts returns the expected number of experts chosen by at least one of the tokens, assuming uniform and
// independent choices: N (1 - (1 - k/N)^tokens).
func TouchedExperts(e *Experts, tokens float64) float64 {
	n := float64(e.N)
	return n * (1 - math.Pow(1-float64(e.Used)/n, tokens))
}
