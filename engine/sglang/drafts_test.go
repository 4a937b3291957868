package sglang

import (
	"strings"
	"testing"

	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/engine/enginetest"
	"github.com/memwall/memwall/plan"
)

// TestDraftDefaults: what SGLang chooses where a plan leaves it open, how many requests run then, and the cells that each holds.
func TestDraftDefaults(t *testing.T) {
	eagle := plan.Plan{DraftModel: "eagle3-llama-3.1-8b"}
	tree := eagle
	tree.DraftBranches = 4
	thin := tree
	thin.DraftSteps = 1
	pages := tree
	pages.BlockSize = 16
	for _, c := range []struct {
		name                           string
		p                              plan.Plan
		version                        engine.Version
		steps, branches, tokens, seats plan.Int
		held                           int64
	}{
		{"heads of Llama", eagle, engine.V(0, 5, 18), 5, 4, 7, 48, 2 * 20},
		{"branches alone", tree, engine.V(0, 5, 18), 5, 4, 7, 48, 2 * 20},
		{"a tree of one step", thin, engine.V(0, 5, 18), 1, 4, 4, 48, 2 * 5},
		{"a page of each branch", pages, engine.V(0, 5, 18), 5, 4, 7, 48, 2 * 4 * 32},
		{"one step at a time", eagle, engine.V(0, 5, 10), 5, 4, 7, 48, 20},
		{"before", eagle, engine.V(0, 4, 4), 5, 4, 7, 32, 20},
		{"n-grams", plan.Plan{Serving: plan.Serving{DraftMethod: plan.DraftNGram}}, engine.V(0, 5, 18), 0, 0, 11, 48, 2 * 12},
		{"nothing", plan.Plan{}, engine.V(0, 5, 18), 0, 0, 0, 0, 0},
	} {
		c.p.Context, c.p.Sequences = 2048, 1
		j := enginetest.Case{Model: "llama-3.1-8b", Hardware: "1xh100", Plan: c.p, Version: c.version}.Job(t)
		if c.p.DraftModel != "" {
			j.Draft = enginetest.Case{Model: c.p.DraftModel}.Job(t)
		}
		Engine{}.Defaults(j)
		p := j.Plan
		got := [...]plan.Int{p.DraftSteps, p.DraftBranches, p.DraftTokens, p.MaxSeqs, plan.Int(draftCells(j))}
		if got != [...]plan.Int{c.steps, c.branches, c.tokens, c.seats, plan.Int(c.held)} {
			t.Errorf("%s: %d steps, %d branches, %d tokens, %d at once, %d cells", c.name, p.DraftSteps, p.DraftBranches, p.DraftTokens,
				p.MaxSeqs, draftCells(j))
		}
		if command := (Engine{}).Command(j); strings.Contains(command, "--max-running-requests") {
			t.Errorf("%s: the command says a default: %s", c.name, command)
		}
	}
}

// TestRunningOfGroups: --max-running-requests is of all groups of attention together, and goes out as it came in.
func TestRunningOfGroups(t *testing.T) {
	c := enginetest.Case{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Weights: "fp8-block", Context: 4096, Sequences: 8,
		DP: 8, EP: 8, Serving: plan.Serving{MaxSeqs: 6}}}
	j := c.Job(t)
	Engine{}.Defaults(j)
	if command := (Engine{}).Command(j); !strings.Contains(command, "--max-running-requests 48") {
		t.Errorf("command: %s", command)
	}
}
