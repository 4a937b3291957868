package validation

import (
	"testing"

	"github.com/memwall/memwall"
)

// TestSpilled: models larger than their device are asked for, with a rate and a band; what a fit predicted, several
// devices and engines that leave nothing to the host are not among them.
func TestSpilled(t *testing.T) {
	_, all, err := CompareStreams(&memwall.Asker{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[*Measure]int{}
	for i := range all {
		c := &all[i]
		if c.Measure != &decodeSpilled && c.Measure != &promptSpilled {
			continue
		}
		found[c.Measure]++
		if c.Refused != "" || !(c.Ours.Low < c.Ours.Mid && c.Ours.Mid < c.Ours.High) {
			t.Errorf("%s: %+v %s", c.Row.Name(), c.Ours, c.Refused)
		}
		if !spillers[c.Row.Ask.Engine] {
			t.Errorf("%s is of %s", c.Row.Name(), c.Row.Ask.Engine)
		}
	}
	if found[&decodeSpilled] < 20 || found[&promptSpilled] < 6 {
		t.Errorf("%d answers and %d prompts", found[&decodeSpilled], found[&promptSpilled])
	}
	held := StreamRow{Model: "llama-3.1-8b", Weights: "q4_k_m", Device: "rtx-3090", Count: 1, Engine: "llama.cpp", Kind: "decode", Rate: 1}
	if _, ok := held.spilled(&memwall.Asker{}, &Row{}); ok {
		t.Error("8B spill from 24 GB")
	}
}
