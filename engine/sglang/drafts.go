package sglang

import "github.com/memwall/memwall/engine"

// draftDefaults are how much a model drafts where nobody says it (server_args.py, auto_choose_speculative_params, 0.5.17): a tree for
// Llama with heads of EAGLE, else a chain of three.
func draftDefaults(j *engine.Job) {
	p := j.Plan
	if p.DraftBranches > 1 && p.DraftSteps == 0 {
		p.DraftSteps = 3
		j.Default("draft_steps", 3)
	}
	if p.DraftTokens > 0 || p.DraftSteps > 0 || j.Draft == nil && !engine.Drafts(p.MTP) {
		return
	}
	p.DraftTokens = 3
	if j.Draft != nil && algorithm(j.Draft) != standalone && j.Model.Family == "llama" {
		p.DraftTokens, p.DraftSteps, p.DraftBranches = 7, 5, 4
		j.Default("draft_steps", int64(p.DraftSteps))
		j.Default("draft_branches", int64(p.DraftBranches))
	}
	j.Default("draft_tokens", int64(p.DraftTokens))
}
