package validation

import (
	"testing"

	"github.com/memwall/memwall/workload"
)

// TestLoads: every run is simulated, and logs whose steps are fitted agree as far as the scheduler decides.
func TestLoads(t *testing.T) {
	_, all, err := CompareLoads()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		c := &all[i]
		if c.Refused != "" && c.Row.Refused == "" {
			t.Errorf("%s of %s: %s", c.Measure.Name, c.Row.Name(), c.Refused)
		}
		if c.Measure == &ownToken && (c.Error > 0.02 || c.Error < -0.02) {
			t.Errorf("%s: %.4g ms a token, the log says %.4g", c.Row.Name(), c.Ours.Mid, c.Measured.Mid)
		}
	}
}

// TestLogsAreTraces: what a simulation reads of a log is what the log has.
func TestLogsAreTraces(t *testing.T) {
	laws, err := Laws()
	if err != nil {
		t.Fatal(err)
	}
	for name := range laws {
		log, err := Log(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Traces{}.Trace(name)
		if err != nil {
			t.Fatal(err)
		}
		src, err := workload.Spec{Arrivals: "trace", Trace: name}.Replay(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range log {
			got, ok, err := src.Next()
			if err != nil || !ok || got.Arrival != log[i].Arrival || got.Prompt != log[i].Prompt || got.Output != log[i].Output {
				t.Fatalf("%s, request %d: %+v %v %v, the log has %+v", name, i, got, ok, err, log[i].Request)
			}
		}
	}
}
