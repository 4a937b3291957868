package validation

import (
	"math"
	"testing"
)

// TestTrainingVerdicts: runs that end for want of memory are told from those that do not: few that ran are said not to fit, and
// few that ran out to fit beyond doubt. Two of the four that did are one recipe of megatron-bridge, out of memory at 58.8 of 80 GB
// allocated: fragments, which no rule here knows.
func TestTrainingVerdicts(t *testing.T) {
	_, all, err := CompareTraining()
	if err != nil {
		t.Fatal(err)
	}
	v := TrainingVerdicts(all)
	if v.Out < 100 || v.Ran < 350 {
		t.Fatalf("only %+v are judged", v)
	}
	if v.Balanced() < 0.92 || v.BestEstimate() < 0.95 {
		t.Errorf("balanced accuracy %.3f, by the best estimate %.3f: %+v", v.Balanced(), v.BestEstimate(), v)
	}
	if d, s := share(v.RanDenied, v.Ran), share(v.OutSaid, v.Out); d > 0.02 || s > 0.034 {
		t.Errorf("%.3f of the runs that ran are denied, %.3f of those that ran out are promised: %+v", d, s, v)
	}
}

// TestTrainingVotes: of sources that were left out, each with one vote, bands hold what they promise, and no figure is far off.
func TestTrainingVotes(t *testing.T) {
	_, all, err := CompareTraining()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, v := range TrainingVotes(all) {
		most, ok := map[string]float64{"training, allocated": 0.04, "training, reserved": 0.08, "training, nvidia-smi": 0.10}[v.Measure.Name]
		if v.Group != "" || !ok {
			continue
		}
		found++
		if v.Sources.Cover < 0.87 || v.Sources.Median > most {
			t.Errorf("%s: of %d sources the median error is %.3f, p90 %.3f, cover %.3f", v.Measure.Name, v.Makers, v.Sources.Median, v.Sources.P90, v.Sources.Cover)
		}
	}
	if found != 3 {
		t.Errorf("%d figures have votes", found)
	}
}

// TestVotesWeighSources: a source of one row weighs as much as one of nine.
func TestVotesWeighSources(t *testing.T) {
	var all []*Comparison
	for i := range 10 {
		c := &Comparison{Row: &Row{Source: "a/b:x"}, Error: 0.01, Inside: true}
		if i == 9 {
			c = &Comparison{Row: &Row{Source: "c/d:x"}, Error: 0.5}
		}
		all = append(all, c)
	}
	v := vote(&trainAllocated, "", all, maker)
	if v.Makers != 2 || math.Abs(v.Sources.Cover-0.5) > 1e-9 || v.Rows.Cover != 0.9 || v.Rows.Median != 0.01 || v.Sources.P90 <= v.Rows.Median {
		t.Errorf("%+v", v)
	}
}

// TestTrainingRowsAreAsked: no row is refused but for what its source leaves open.
func TestTrainingRowsAreAsked(t *testing.T) {
	rows, err := Trainings()
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for i := range rows {
		r := &rows[i]
		if r.Source == "" {
			t.Errorf("%s comes from nowhere", r.Name())
		}
		if r.Refused != "" {
			continue
		}
		used++
		if _, err := r.Predict(); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
	}
	if used < 500 {
		t.Errorf("only %d of %d rows are used", used, len(rows))
	}
}
