package memwall

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// trainFlags are the flags of testdata/judged/train.tsv as fields.
var trainFlags = map[string]string{"--method": "method", "--on": "hardware", "--seq": "sequence_length", "--micro-batch": "micro_batch",
	"--tp": "tp", "--framework": "framework"}

// TestFirstCureOfTraining: what is said first of a run that does not fit is what a practitioner would say, in nine of ten, and applied it
// gives the verdict shown.
func TestFirstCureOfTraining(t *testing.T) {
	t.Parallel()
	rows := judged(t, "train.tsv")
	agreed := 0
	for _, c := range rows {
		r := Request{Ask: "train", Model: c["model"]}
		words := strings.Fields(c["ask"])
		for i := 0; i+1 < len(words); i += 2 {
			if err := r.Set(trainFlags[words[i]], words[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Ask(&r)
		if err != nil {
			t.Errorf("%s %s: %v", c["model"], c["ask"], err)
			continue
		}
		s := firstCure(a.Suggestions)
		if s == nil && len(a.Suggestions) > 0 && a.Suggestions[0].Verdict == Tight {
			s = &a.Suggestions[0]
		}
		if s == nil {
			t.Errorf("%s %s: %s, and nothing is said", c["model"], c["ask"], a.Verdict)
			continue
		}
		sets := strings.Join(slices.Sorted(maps.Keys(s.Patch)), ",")
		if slices.Contains(strings.Split(c["sets"], "|"), sets) {
			agreed++
		} else {
			t.Logf("%s %s: %s, want %s: %s", c["model"], c["ask"], s.Change, c["sets"], c["why"])
		}
		p, err := Patch(&r, s.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := Ask(p); err != nil || b.Verdict != s.Verdict || a.Devices[0].Needed-b.Devices[0].Needed != s.Saves {
			t.Errorf("%s %s, %s: promised %s and %s saved, got %+v, %v", c["model"], c["ask"], s.Change, s.Verdict, s.Saves, b.Verdict, err)
		}
	}
	if t.Logf("%d of %d", agreed, len(rows)); len(rows) < 15 || agreed*10 < len(rows)*9 {
		t.Errorf("%d first cures of %d are those of a practitioner", agreed, len(rows))
	}
}
