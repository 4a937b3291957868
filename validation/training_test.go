package validation

import "testing"

// TestTrainingVerdicts: runs that end for want of memory are told from those that do not, and few are said to fit and do
// not.
func TestTrainingVerdicts(t *testing.T) {
	_, all, err := CompareTraining()
	if err != nil {
		t.Fatal(err)
	}
	v := TrainingVerdicts(all)
	if v.OutDenied+v.OutSaid < 100 || v.RanSaid < 350 {
		t.Fatalf("only %+v are judged", v)
	}
	if b := v.Balanced(); b < 0.95 {
		t.Errorf("balanced accuracy %.3f: %+v", b, v)
	}
	if s := v.SaidButOut(); s > 0.02 {
		t.Errorf("%.3f of the runs that were said to fit ran out: %+v", s, v)
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
