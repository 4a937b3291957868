package mcp

import (
	"encoding/json"
	"testing"
)

// TestBudget: what an agent reads before it asks anything is short. A token is taken for four bytes.
func TestBudget(t *testing.T) {
	const mostTokens = 3000
	c := agent(t, piped(t))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, tool := range list.Tools {
		text, err := json.Marshal(tool)
		if err != nil {
			t.Fatal(err)
		}
		sum += len(text)
		in, _ := json.Marshal(tool.InputSchema)
		t.Logf("%s: %d bytes, %d of its arguments", tool.Name, len(text), len(in))
	}
	if sum/4 > mostTokens {
		t.Errorf("%d tools of %d tokens, more than %d", len(list.Tools), sum/4, mostTokens)
	}
}
