package validation

import (
	"os"
	"testing"

	"github.com/memwall/memwall"
)

func TestProbe(t *testing.T) {
	want := os.Getenv("PROBE")
	if want == "" {
		return
	}
	sets, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Compare(&memwall.Asker{}, sets) {
		if c.Measure.Name != want || c.Refused != "" {
			continue
		}
		a := c.Row.Ask
		t.Logf("%-10s %-22s %-9s %-12s %-16s tp%d N%d fit%v %-7s measured %-12s ours %8.4f [%8.4f %8.4f] diff %+.4f GiB (%.2f%%)", c.Row.Name(), a.Model, a.Weights, a.Engine, a.Hardware, a.TP, a.MaxSeqs, c.Row.Fit, c.Figure, c.Measured.Text, c.Ours.Mid/(1<<30), c.Ours.Low/(1<<30), c.Ours.High/(1<<30), (c.Ours.Mid-c.Measured.Mid)/(1<<30), c.Error*100)
	}
}
