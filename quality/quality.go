// Package quality reports what a number format costs in quality: published changes of perplexity and accuracy, and
// nothing where none are published.
//
// quality.go has the queries, pair.go the comparison of two rows, order.go the order that a search needs, methods.go
// when to use which format. Rows are only compared within one source: perplexities of the same name differ between
// sources in corpus, context and program, but their changes are comparable.
package quality

import (
	"math"
	"slices"

	"github.com/memwall/memwall/dtype"
	"github.com/memwall/memwall/internal/stable"
	"github.com/memwall/memwall/stat"
)

// Model identifies the model asked about.
type Model struct {
	ID         string // in the catalog, "" if not
	Parameters int64  // 0 if unknown
	// The remaining fields are only used by orders. Native is the recipe the vendor publishes, if not 16 bits: weights
	// lose nothing in it. Bits returns the bits per element of the model's layers under a recipe; nil uses those of
	// large matrices.
	Native string
	Bits   func(*dtype.Recipe) float64
	// Own errors override published rows; nil if none.
	Own *Own
}

func (m *Model) bits(r *dtype.Recipe) float64 {
	if m.Bits == nil {
		return r.BulkBits()
	}
	return m.Bits(r)
}

// Cache is the formats of cached keys and values; values default to the format of keys.
type Cache struct{ K, V string }

// Change is the change of a metric from one format to another, in percent.
type Change struct {
	Metric *Metric
	// Low..High spans the rows, including rounding and noise; Mid is their median.
	Low, Mid, High float64
	// Rows compared, and the number of models they cover.
	Rows, Models int
	// Source of the row closest to Mid, and its model.
	Source  *Source
	OnModel string
	// Format is the row's name for the second format.
	Format *Format
	Level  Level
}

// Worse returns the change as a loss, positive being worse for any metric. Changes of printed losses refer to the
// remainder.
func (c *Change) Worse() (low, mid, high float64) {
	if c.Metric.LowerIsBetter && c.Metric.Kind != PrintedLoss {
		return c.Low, c.Mid, c.High
	}
	return -c.High, -c.Mid, -c.Low
}

// Level is how close the measured models are to the one asked about.
type Level uint8

const (
	Exact      Level = iota // the model itself, base or tuned
	FamilyNear              // same name and major version, half to twice the parameters
	Family                  // same name and major version, any size
	Similar                 // other models with half to twice the parameters
	Weighed                 // these very weights
	anyModel                // any model: used by orders only
)

func (l Level) String() string {
	return [...]string{"model", "family", "family", "size", "weights"}[l]
}

// Effect is the effect of a change of format. Parts without a sourced row are nil.
type Effect struct{ Perplexity, Accuracy *Change }

// Best returns the change to show first: perplexity, else accuracy, else nil.
func (e Effect) Best() *Change {
	if e.Perplexity != nil {
		return e.Perplexity
	}
	return e.Accuracy
}

// OfWeights returns the effect of changing a model's weights from one recipe to another. Names are those that dtype
// accepts, or those in the rows ("aqlm-2bit-1x16"). Rows of the model itself take precedence, then its family, similar
// sizes first, then other models of similar size; among metrics, the first in metrics.tsv with rows at that level.
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

// OfCache returns the effect of changing the formats of a cache.
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

// question is a change that is asked about.
type question struct {
	t        *table
	target   Target
	model    Model
	family   string
	from, to side
}

// change returns the change of the first metric of a kind with rows at the closest level, or nil.
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

// samples returns those of one level, of the metric that comes first in metrics.tsv.
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

// alike is the maximum ratio of sizes of similar models.
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

// summary returns the range and median of samples.
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
