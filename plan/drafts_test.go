package plan

import "testing"

// TestDrafts: trees have the nodes that they have, chains as many tokens as steps, and an acceptance is said once.
func TestDrafts(t *testing.T) {
	a, two, nine := 0.5, 2.0, 9.0
	tree := func(tokens, steps, branches Int) Plan {
		return Plan{DraftTokens: tokens, Serving: Serving{DraftSteps: steps, DraftBranches: branches}}
	}
	for name, c := range map[string]struct {
		plan  Plan
		field string
	}{
		"a tree":              {tree(7, 5, 4), ""},
		"of all its nodes":    {tree(36, 3, 4), ""},
		"of more":             {tree(37, 3, 4), "draft_tokens"},
		"a chain":             {tree(3, 3, 1), ""},
		"of other steps":      {tree(4, 3, 1), "draft_tokens"},
		"too deep":            {tree(7, 65, 4), "draft_steps"},
		"too wide":            {tree(7, 5, 17), "draft_branches"},
		"said twice":          {Plan{Acceptance: &a, AcceptanceLength: &two}, "acceptance"},
		"positions":           {Plan{AcceptanceAt: "0.8, 0.8,0.1"}, ""},
		"that rise":           {Plan{AcceptanceAt: "0.8,0.9"}, "acceptance_at"},
		"that are not shares": {Plan{AcceptanceAt: "80,60"}, "acceptance_at"},
		"of words":            {Plan{AcceptanceAt: "often"}, "acceptance_at"},
		"a length":            {Plan{DraftTokens: 8, AcceptanceLength: &nine}, ""},
		"beyond a tree":       {Plan{DraftTokens: 8, AcceptanceLength: &nine, Serving: Serving{DraftSteps: 3, DraftBranches: 4}}, "acceptance_length"},
		"below one":           {Plan{AcceptanceLength: &a}, "acceptance_length"},
		"a method":            {Plan{Serving: Serving{DraftMethod: "oracle"}}, "draft_method"},
	} {
		err := c.plan.Check()
		if p, ok := err.(*Problem); (c.field == "") != (err == nil) || ok && p.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
