// Package quality says what a number format costs in quality: published changes of perplexity and accuracy, and
// nothing where nobody published any.
//
// quality.go has the questions, pair.go how two rows are compared, order.go the order that a search needs,
// methods.go when to use which format. Rows are compared inside one source alone: perplexities of one name differ
// in corpus, context and program from source to source, while their changes can be set beside each other.
package quality

import (
	"math"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// Model that is asked about.
type Model struct {
	ID         string // of the catalog, "" for another
	Parameters int64  // 0 where unknown
	// Orders alone ask for the rest. Native is the recipe that its makers publish, if not 16 bits: weights lose nothing
	// in it. Bits is what an element of the model's layers takes in a recipe; nil takes that of large matrices.
	Native string
	Bits   func(*dtype.Recipe) float64
	// Own errors stand before published rows; nil when there are none.
	Own *Own
}

func (m *Model) bits(r *dtype.Recipe) float64 {
	if m.Bits == nil {
		return r.BulkBits()
	}
	return m.Bits(r)
}

// Cache is the formats of cached keys and values; "" for values means those of keys.
type Cache struct{ K, V string }

// Change is by how much a metric moves from one format to another, in percent of the first.
type Change struct {
	Metric *Metric
	// Low..High is over the rows, with what rounding and the noise of a metric leave open of each; Mid is their
	// median.
	Low, Mid, High float64
	// Rows compared, of so many models.
	Rows, Models int
	// Source of the row nearest to Mid, and the model that it is of.
	Source  *Source
	OnModel string
	// Format is the row's name of what it was changed to.
	Format *Format
	Level  Level
}

// Worse is the change as a loss: positive is worse, whatever the metric. Changes of printed losses are of what is
// left.
func (c *Change) Worse() (low, mid, high float64) {
	if c.Metric.LowerIsBetter && c.Metric.Kind != PrintedLoss {
		return c.Low, c.Mid, c.High
	}
	return -c.High, -c.Mid, -c.Low
}

// Level is how near the measured models are to the one that was asked.
type Level uint8

const (
	Exact      Level = iota // the model itself, base or tuned
	FamilyNear              // models of the same name and major version, of half to twice the parameters
	Family                  // models of the same name and major version, of any size
	Similar                 // models of half to twice the parameters
	Weighed                 // these very weights
	anyModel                // models that are not near: for orders alone
)

func (l Level) String() string {
	return [...]string{"model", "family", "family", "size", "weights"}[l]
}

// Effect is what a change of format does. Parts without a sourced row are nil.
type Effect struct{ Perplexity, Accuracy *Change }

// Best is the change to show first: perplexity, else accuracy, else nil.
func (e Effect) Best() *Change {
	if e.Perplexity != nil {
		return e.Perplexity
	}
	return e.Accuracy
}

// OfWeights is what happens when the weights of a model go from one recipe to another. Names are those that dtype
// reads, or those that rows have ("aqlm-2bit-1x16"). Rows of the model itself count first, then those of its
// family, of similar size before others, then those of other models of similar size; of metrics the first of metrics.tsv that has rows
// there.
func OfWeights(m Model, from, to string) Effect { return published().ofWeights(m, from, to) }

func (t *table) ofWeights(m Model, from, to string) Effect {
	if c := m.Own.change(&m, from, to); c != nil {
		return Effect{Perplexity: c}
	}
	a, okA := t.ids.weightSide(from)
	b, okB := t.ids.weightSide(to)
	if !okA || !okB {
		return Effect{}
	}
	return t.effect(Weights, m, a, b)
}

// OfCache is the same for the formats of a cache.
func OfCache(m Model, from, to Cache) Effect { return published().ofCache(m, from, to) }

func (t *table) ofCache(m Model, from, to Cache) Effect {
	a, okA := t.ids.kvSide(from)
	b, okB := t.ids.kvSide(to)
	if !okA || !okB {
		return Effect{}
	}
	return t.effect(KVCache, m, a, b)
}

func (t *table) effect(target Target, m Model, from, to side) Effect {
	q := question{t: t, target: target, model: m, family: t.familyOf(m.ID), from: from, to: to}
	return Effect{Perplexity: q.change(Perplexity), Accuracy: q.change(Accuracy)}
}

// question is one change that is asked for.
type question struct {
	t        *table
	target   Target
	model    Model
	family   string
	from, to side
}

// change is that of the first metric of a kind, at the nearest level, that rows tell; nil where none do.
func (q *question) change(kind Kind) *Change {
	if q.from == q.to {
		return nil
	}
	var room [64]sample
	for _, level := range []Level{Exact, FamilyNear, Family, Similar} {
		if found := q.samples(kind, level, room[:0]); len(found) > 0 {
			return summary(found, level)
		}
	}
	return nil
}

// samples of one level: those of the metric that stands first in metrics.tsv.
func (q *question) samples(kind Kind, level Level, found []sample) []sample {
	first := math.MaxInt
	for _, s := range q.t.models {
		if !q.at(s, level) {
			continue
		}
		for i := range s.benches[q.target] {
			b := &s.benches[q.target][i]
			if b.metric.kind() != kind || b.metric.order > first {
				continue
			}
			had := len(found)
			found = b.pairs(q.from, q.to, found)
			if len(found) > had && b.metric.order < first {
				first = b.metric.order
				found = slices.Delete(found, 0, had)
			}
		}
	}
	return found
}

// alike is how far apart the sizes of similar models are, at most.
const alike = 2.0

func (q *question) at(s *subject, level Level) bool {
	switch level {
	case Exact:
		return q.model.ID != "" && (s.catalog == q.model.ID || s.name == q.model.ID)
	case FamilyNear:
		return q.at(s, Family) && q.at(s, Similar)
	case Family:
		return q.family != "" && s.family == q.family
	}
	if level == anyModel {
		return true
	}
	ratio := s.billions * 1e9 / float64(q.model.Parameters)
	return q.model.Parameters > 0 && ratio >= 1/alike && ratio <= alike
}

// summary of samples: their whole range and their median.
func summary(found []sample, level Level) *Change {
	stable.Sort(found, func(a, b sample) int {
		switch {
		case a.mid < b.mid:
			return -1
		case a.mid > b.mid:
			return 1
		}
		return 0
	})
	n := len(found)
	typical := &found[stat.MedianRow(n)]
	mid := stat.OfRanks(int64(n), 0.5, func(i int64) float64 { return found[i].mid })
	c := &Change{Metric: typical.to.Metric, Mid: mid, Low: math.Inf(1), High: math.Inf(-1), Rows: n, Source: typical.to.Source,
		OnModel: typical.to.Model(), Format: typical.to.Format, Level: level}
	for i := range found {
		c.Low, c.High = min(c.Low, found[i].low), max(c.High, found[i].high)
		if !slices.ContainsFunc(found[:i], func(s sample) bool { return s.to.model == found[i].to.model }) {
			c.Models++
		}
	}
	return c
}
