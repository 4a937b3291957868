package score

import (
	"slices"
)

// Uses that models are picked for.
const (
	Chat, Coding, Reasoning, Agents = "chat", "coding", "reasoning", "agents"
	Vision, Embedding, LongContext  = "vision", "embedding", "long-context"
	OCR, Speech                     = "ocr", "speech"
)

// Uses are all that models are picked for, the usual one first.
func Uses() []string {
	return []string{Chat, Coding, Reasoning, Agents, Vision, LongContext, Embedding, OCR, Speech}
}

// Score is how good a model is at a use, on the scale of one benchmark.
type Score struct {
	Value     float64
	Benchmark *Benchmark
	// Row is the published figure; nil where Value is estimated from Rows figures of other benchmarks.
	Row  *Row
	Rows int
}

// Of scores a model of the catalog for a use; false where nothing is published of it.
func Of(model, use string) (Score, bool) { return published().score(model, use) }

func (t *table) score(model, use string) (Score, bool) {
	if use == LongContext {
		use = Chat // what a long context adds is room, which is not for a benchmark to tell
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

// first is the benchmark that scores of a use are said in.
func (t *table) first(use string) *Benchmark {
	for i := range t.benchmarks {
		if slices.Contains(t.benchmarks[i].Uses, use) {
			return &t.benchmarks[i]
		}
	}
	return nil
}

// Special is what a model is made for where it answers nothing else: "ocr", "speech"; "" for all others.
func Special(model string) string { return published().special[model] }
