package sglang

import (
	"github.com/memwall/memwall/engine"
	"github.com/memwall/memwall/plan"
)

var (
	blockDrafts = engine.V(0, 5, 11) // DFlash (#22077)
	aheadDrafts = engine.V(0, 5, 11) // drafting overlaps the scheduler by default, SGLANG_ENABLE_SPEC_V2 (#21062)
	draftRows   = engine.V(0, 5, 1)  // rows of the table have room for drafted tokens (#9388)
)

// mostDrafting is max_running_requests where a server drafts and nobody says, of all groups of attention together
// (server_args.py, from 0.5.11 arg_groups/speculative_hook.py).
var mostDrafting = []engine.Since[int64]{
	{From: engine.V(0, 0, 0), Value: 0, Source: "as without drafts"},
	{From: engine.V(0, 4, 4), Value: 32, Source: "2025-03-05 (#3986)"},
	{From: engine.V(0, 4, 5), Value: 48, Source: "2025-03-30 (#4908)"},
}

// draftDefaults are how much a model drafts where nobody says it (arg_groups/speculative_hook.py, _auto_choose_speculative_params,
// _handle_ngram and _handle_dflash, 0.5.18): a tree for Llama with heads of EAGLE, a block with DFlash's, twelve tokens of the text
// with the known one, else a chain of three; and how many requests run then.
func draftDefaults(j *engine.Job) {
	p := j.Plan
	if p.DraftBranches > 1 {
		growTree(j)
	}
	if p.DraftTokens == 0 {
		chooseDrafts(j)
	}
	if most := runningDrafts(j); most > 0 && p.MaxSeqs == 0 {
		p.MaxSeqs = plan.Int(most)
		j.Default("max_num_seqs", most)
		if int64(p.Sequences) > most {
			j.Note("few_running", "warn", "max_num_seqs", "while it drafts SGLang runs %d requests at a time unless "+
				"--max-running-requests says otherwise: the others of these %d wait", most, p.Sequences)
		}
	}
}

// runningDrafts is max_running_requests of a group of attention that drafts, where nobody says it; 0 where drafts change nothing.
func runningDrafts(j *engine.Job) int64 {
	most := engine.At(mostDrafting, j.Version).Value
	if most == 0 || j.Plan.DraftTokens == 0 {
		return 0
	}
	return max(1, most/attentionGroups(j.Plan))
}

func chooseDrafts(j *engine.Job) {
	p := j.Plan
	switch {
	case p.DraftSteps > 0:
		p.DraftTokens = p.DraftSteps
	case p.DraftMethod == plan.DraftNGram:
		p.DraftTokens = 11
	case j.Draft == nil && !engine.Drafts(p.MTP):
		return
	case j.Draft != nil && algorithm(j) == blocks:
		p.DraftTokens = 15
	default:
		c := usualDrafts(j)
		p.DraftTokens = c.tokens
		if c.branches > 1 {
			p.DraftSteps, p.DraftBranches = c.steps, c.branches
			j.Default("draft_steps", int64(p.DraftSteps))
			j.Default("draft_branches", int64(p.DraftBranches))
		}
	}
	j.Default("draft_tokens", int64(p.DraftTokens))
}

// drafted is a tree or a chain of drafts.
type drafted struct{ steps, branches, tokens plan.Int }

func usualDrafts(j *engine.Job) drafted {
	if j.Draft != nil && algorithm(j) == heads && j.Model.Family == "llama" {
		return drafted{5, 4, 7}
	}
	return drafted{3, 1, 3}
}

// growTree completes a tree of which only a part is given: SGLang itself asserts that num_steps, eagle_topk and num_draft_tokens are
// all given or none.
func growTree(j *engine.Job) {
	p, c := j.Plan, usualDrafts(j)
	if p.DraftSteps > 0 && p.DraftTokens > 0 {
		return
	}
	if p.DraftSteps == 0 {
		p.DraftSteps = c.steps
		j.Default("draft_steps", int64(p.DraftSteps))
	}
	if p.DraftTokens == 0 {
		b := p.DraftBranches
		p.DraftTokens = min(max(c.tokens, 7), b+(p.DraftSteps-1)*b*b)
		j.Default("draft_tokens", int64(p.DraftTokens))
	}
	j.Note("tree_completed", "info", "draft_branches",
		"SGLang starts only with all of --speculative-num-steps, --speculative-eagle-topk and --speculative-num-draft-tokens or none: "+
			"%d steps and %d draft tokens complete this tree", p.DraftSteps, p.DraftTokens+1)
}

// draftCells are the cache slots that a sequence holds beyond its own tokens while it drafts: the larger of the branches of all steps and
// of the tokens that are verified, each branch on pages of its own; and as many again while the step before is not known
// (mem_cache/allocation_sizing.py, get_alloc_len_per_decode and get_alloc_reserve_per_decode, 0.5.18; before that
// managers/schedule_batch.py, new_tokens_required_next_decode). They are whole pages.
func draftCells(j *engine.Job) int64 {
	p := j.Plan
	if p.DraftTokens == 0 {
		return 0
	}
	page, branches := max(1, int64(p.BlockSize)), max(1, int64(p.DraftBranches))
	steps := max(1, int64(p.DraftSteps))
	if branches > 1 && page > 1 {
		steps = (steps + 2*page - 2) / page * page
	}
	n := max(branches*steps, int64(p.DraftTokens)+1)
	if j.Version.AtLeast(aheadDrafts) {
		n *= 2
	}
	return (n + page - 1) / page * page
}
