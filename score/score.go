package score

import (
	"slices"
)

// Use cases that models are picked for.
const (
	Chat, Coding, Reasoning, Agents = "chat", "coding", "reasoning", "agents"
	Vision, Embedding, LongContext  = "vision", "embedding", "long-context"
	OCR, Speech                     = "ocr", "speech"
)

// Uses returns all use cases, the default first.
func Uses() []string {
	return []string{Chat, Coding, Reasoning, Agents, Vision, LongContext, Embedding, OCR, Speech}
}

// Score rates a model for a use case, on the scale of one benchmark.
type Score struct {
	Value     float64
	Benchmark *Benchmark
	// Row is the published figure; nil if Value is estimated from Rows figures of other benchmarks.
	Row  *Row
	Rows int
}

// Of returns the score of a catalog model for a use case; false if nothing is published about it.
func Of(model, use string) (Score, bool) { return fitted().score(model, use) }

func (t *table) score(model, use string) (Score, bool) {
	if use == LongContext {
		use = Chat // long context requires space, which no benchmark measures
	}
	b := t.first(use)
	if b == nil {
		return Score{}, false
	}
	for i := range t.rows {
		if r := &t.rows[i]; r.Model == model && r.Benchmark == b {
			return Score{Value: r.Value, Benchmark: b, Row: r, Rows: 1}, true
		}
	}
	s := t.scales[b.ID]
	if s == nil {
		return Score{}, false
	}
	if from, ok := t.fromElder(model, use, b, s); ok {
		return from, true
	}
	rows := t.scaledRows(model, t.scales)
	return Score{Value: b.value(s.at + s.slope*ability(rows, t.scales, use)), Benchmark: b, Rows: len(rows)}, len(rows) > 0
}

// first returns the benchmark whose scale scores of a use case are given on.
func (t *table) first(use string) *Benchmark {
	for i := range t.benchmarks {
		if slices.Contains(t.benchmarks[i].Uses, use) {
			return &t.benchmarks[i]
		}
	}
	return nil
}

// Special returns the use of a special-purpose model: OCR, Speech or Embedding; "" for all others.
func Special(model string) string { return published().special[model] }
