package ggml

import (
	"slices"
	"testing"
)

// TestUnknownFamilies: what the graph of a family would be off by that is known only by the rules for all:
// the rows with what single families do forgotten, over as printed. The band of unknown families
// (engine/llamacpp, unknownFamily) holds nine of ten, where each family weighs the same.
func TestUnknownFamilies(t *testing.T) {
	kept := familyQuirks
	familyQuirks = map[string]quirks{}
	defer func() { familyQuirks = kept }()
	byFamily := map[string][]float64{}
	var p Planner
	for _, r := range carriedRows(t) {
		m := converted(t, r.model)
		c, err := Compile(m, r.settings.shape(), nil)
		if err != nil {
			t.Fatal(err)
		}
		byFamily[m.Family] = append(byFamily[m.Family], float64(r.bytes)/float64(p.Peak(&c.Spots[0], r.settings.sizes(m))))
	}
	var worst []float64
	inside := 0.0
	for f, list := range byFamily {
		slices.Sort(list)
		worst = append(worst, list[0], list[len(list)-1])
		n := 0.0
		for _, x := range list {
			if x >= 0.96 && x <= 1.06 {
				n++
			}
		}
		inside += n / float64(len(list)) / float64(len(byFamily))
		t.Logf("%s: printed over replayed %.3f to %.3f", f, list[0], list[len(list)-1])
	}
	slices.Sort(worst)
	t.Logf("of all: %.3f to %.3f; the band holds %.0f %%", worst[0], worst[len(worst)-1], 100*inside)
	if inside < 0.9 {
		t.Errorf("the band of unknown families holds %.0f %%", 100*inside)
	}
}
