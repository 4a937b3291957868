package vllm

import (
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/model"
	"github.com/memwall/memwall/model/catalog/catalogtest"
	"github.com/memwall/memwall/plan"
)

// TestSchedule: the scheduler's rules by version; #27614 and #37307 for the versions.
func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		model            string
		v                engine.Version
		pp               int64
		ahead, whole, on bool
	}{
		{"llama-3.1-8b", engine.V(0, 7, 0), 1, false, false, false},
		{"llama-3.1-8b", engine.V(0, 13, 0), 1, false, false, true},
		{"llama-3.1-8b", engine.V(0, 14, 0), 1, true, false, true},
		{"llama-3.1-8b", engine.V(0, 14, 0), 2, false, false, true},
		{"llama-3.1-8b", engine.V(0, 24, 0), 1, true, true, true},
		{"nemotron-h-8b", engine.V(0, 24, 0), 1, true, true, false},
	} {
		j := &engine.Job{Model: catalogtest.Model(t, c.model), Plan: &plan.Plan{}, Version: c.v}
		j.Plan.PP, j.Plan.MaxSeqs, j.Plan.MaxBatchedTokens = c.pp, 256, 8192
		s := Engine{}.Schedule(j)
		if s.Ahead != c.ahead || s.WholeRoom != c.whole || s.PrefixCache != c.on || s.WholePrompts || s.MaxSequences != 256 || s.StepTokens != 8192 {
			t.Errorf("%s with %s, pp %d: %+v", c.model, c.v, c.pp, s)
		}
	}
}

// TestGraphTokens: V0 captures nothing of a prompt, an eager plan nothing at all; the largest graph is of twice the sequences, of what the
// plan says, or of a step's tokens.
func TestGraphTokens(t *testing.T) {
	for _, c := range []struct {
		v                     engine.Version
		seqs, tokens, largest plan.Int
		eager                 bool
		want                  int64
	}{
		{engine.V(0, 7, 3), 256, 8192, 0, false, 0}, {engine.V(0, 15, 1), 256, 8192, 0, false, 512}, {engine.V(0, 15, 1), 128, 2048, 0, false, 256},
		{engine.V(0, 15, 1), 256, 8192, 64, false, 64}, {engine.V(0, 15, 1), 1024, 128, 0, false, 128}, {engine.V(0, 15, 1), 256, 8192, 0, true, 0},
	} {
		var p plan.Plan
		p.MaxSeqs, p.MaxBatchedTokens, p.GraphBatch, p.EnforceEager = c.seqs, c.tokens, c.largest, &c.eager
		if got := GraphTokens(c.v, "llama", &p); got != c.want {
			t.Errorf("%+v: %d tokens", c, got)
		}
	}
}

// TestRowsOfPages: a sequence of some length takes as many blocks by its pages as by the groups of its layers.
func TestRowsOfPages(t *testing.T) {
	g := groups{size: 1, count: []int64{2, 5}, specs: []spec{{class: model.FullKV, block: 16}, {class: model.WindowKV, block: 16, span: 1024}}}
	p := g.pages()
	if p != (engine.Pages{BlockTokens: 16, Full: 2, Window: 5, Rows: 65}) {
		t.Fatalf("%+v", p)
	}
	for _, tokens := range []int64{1, 16, 17, 1000, 1040} {
		rows := (tokens + 15) / 16
		if got, most := p.Full*rows+p.Window*min(rows, p.Rows), g.perRequest(tokens, tokens); got > most || got < most-p.Window {
			t.Errorf("%d tokens take %d blocks by pages, %d by groups", tokens, got, most)
		}
	}
}
