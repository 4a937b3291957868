package mcp

import (
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/api"
)

// TestMeasured: what the owner's rows say of a plan stands in an agent's answer, and nothing where there are none.
func TestMeasured(t *testing.T) {
	r := &memwall.Request{Ask: "fit", Model: "llama-3.1-8b", Hardware: "rtx-4090"}
	a, err := (&memwall.Asker{Models: memwall.Catalog{}}).Ask(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*memwall.Measured{nil, {Rows: 3, Ratios: []api.MeasuredRatio{{Kind: "decode", Figures: 3, Median: 0.9, Low: 0.8, High: 1}}}} {
		a.Measured = m
		got, err := toolResult(r, a)
		if err != nil {
			t.Fatal(err)
		}
		const says = "measured × 3 on this card; over the prediction: decode 0.90 (0.80–1.00)"
		if strings.Contains(textIn(got), says) != (m != nil) || got.StructuredContent.(*Brief).Measured != m {
			t.Errorf("%+v: %s", m, textIn(got))
		}
	}
}
