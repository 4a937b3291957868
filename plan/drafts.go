package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Values of draft_method.
const (
	DraftNGram  = "ngram"
	DraftSuffix = "suffix"
)

// Bounds on a tree of draft tokens.
const (
	maxDraftSteps    = 64
	maxDraftBranches = 16
)

// checkDrafts rejects impossible draft trees and contradictory acceptance rates.
func (p *Plan) checkDrafts() error {
	steps, branches, tokens := int64(p.DraftSteps), int64(p.DraftBranches), int64(p.DraftTokens)
	switch {
	case steps < 0 || steps > maxDraftSteps:
		return bad("draft_steps", steps, "is out of range", fmt.Sprintf("1 to %d", maxDraftSteps))
	case branches < 0 || branches > maxDraftBranches:
		return bad("draft_branches", branches, "is out of range", fmt.Sprintf("1 to %d", maxDraftBranches))
	case branches > 1 && steps > 0 && tokens > branches+(steps-1)*branches*branches:
		return bad("draft_tokens", tokens, fmt.Sprintf("is more than a tree of %d steps with %d branches has: %d", steps, branches,
			branches+(steps-1)*branches*branches), "fewer, or more steps")
	case branches <= 1 && steps > 0 && tokens > 0 && tokens != steps:
		return bad("draft_tokens", tokens, fmt.Sprintf("is not what a chain of %d steps drafts", steps),
			fmt.Sprintf("draft_tokens = %d, or draft_branches = 4", steps))
	}
	return p.checkAcceptance(tokens, steps)
}

func (p *Plan) checkAcceptance(tokens, steps int64) error {
	said := 0
	for _, is := range []bool{p.Acceptance != nil, p.AcceptanceAt != "", p.AcceptanceLength != nil} {
		if is {
			said++
		}
	}
	if said > 1 {
		return bad("acceptance", "", "and acceptance_at or acceptance_length say the same twice", "one of them")
	}
	if _, err := p.Positions(); err != nil {
		return err
	}
	depth := tokens
	if p.DraftBranches > 1 && steps > 0 {
		depth = min(steps, tokens)
	}
	if l := p.AcceptanceLength; l != nil && (!(*l >= 1 && *l <= 1<<10) || tokens > 0 && *l > float64(1+depth)) {
		return bad("acceptance_length", *l, "is not what a step yields: one token, and at most those that are drafted after each other",
			"a number from 1, such as 2.4")
	}
	return nil
}

// Positions returns acceptance_at as numbers: the acceptance rate at each draft position.
func (p *Plan) Positions() (out []float64, err error) {
	if p.AcceptanceAt == "" {
		return nil, nil
	}
	last := 1.0
	for word := range strings.SplitSeq(p.AcceptanceAt, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || math.IsNaN(x) || x < 0 || x > last || len(out) >= 1<<10 {
			return nil, bad("acceptance_at", shortened(p.AcceptanceAt), "are not shares of which none is larger than the one before it",
				"0.72,0.45,0.28")
		}
		out, last = append(out, x), x
	}
	return out, nil
}

func shortened(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
