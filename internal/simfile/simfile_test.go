package simfile

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/sim"
	"github.com/memwall/memwall/speed"
	"github.com/memwall/memwall/workload"
)

func done(id int64, arrival time.Duration) *sim.Done {
	return &sim.Done{Request: &workload.Request{ID: id, Arrival: arrival, Prompt: 100, Output: 10}, Admitted: arrival + time.Second,
		First: arrival + 2*time.Second, End: arrival + 3*time.Second, Generated: 10}
}

func TestRequests(t *testing.T) {
	var b strings.Builder
	r := NewRequests(&b)
	r.Add(done(7, time.Second))
	r.Add(&sim.Done{Request: &workload.Request{ID: 8, Prompt: 9, Output: 1}, Outcome: sim.Refused})
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[1][3] != "finished" || rows[1][4] != "1.000000" || rows[1][6] != "3.000000" {
		t.Errorf("%q", rows[1])
	}
	if rows[2][3] != "refused" || rows[2][6] != "" {
		t.Errorf("%q: a request that was refused has no first token", rows[2])
	}
	(*Requests)(nil).Add(done(1, 0)) // nobody asked for rows
}

func TestSteps(t *testing.T) {
	var b strings.Builder
	s := NewSteps(&b)
	for replica := range 2 {
		s.Add(&sim.Step{Replica: replica, Start: time.Millisecond, End: 3 * time.Millisecond, Times: 2, Batch: speed.Batch{Decodes: 3},
			Waiting: 1, Running: 3, KV: 0.5})
	}
	s.End()
	var trace struct {
		Events []struct {
			Ph, Name string
			Pid      int
			Dur      float64
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal([]byte(b.String()), &trace); err != nil {
		t.Fatal(err)
	}
	if n := len(trace.Events); n != 2*(2+1+3) {
		t.Errorf("%d events", n)
	}
	if e := trace.Events[2]; e.Ph != "X" || e.Name != "decode" || e.Dur != 2000 {
		t.Errorf("%+v", e)
	}
}

// Requests end in another order than they come; a recording has that of their coming.
func TestWorkloadIsARecording(t *testing.T) {
	var b strings.Builder
	w := NewWorkload(&b)
	for _, at := range []time.Duration{3, 1, 2} {
		w.Add(done(int64(at), at*time.Second))
	}
	w.End()
	trace, err := workload.Open(strings.NewReader(b.String()), workload.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for want := 1; want <= 3; want++ {
		if r, ok, err := trace.Next(); !ok || err != nil || r.Arrival != time.Duration(want)*time.Second || r.Prompt != 100 {
			t.Errorf("%+v, %v, %v", r, ok, err)
		}
	}
}

func TestSeries(t *testing.T) {
	var b strings.Builder
	WriteSeries(&b, &memwall.Simulated{Series: &memwall.Series{IntervalS: 0.5, Waiting: []float64{0, 1}, Running: []float64{2, 3},
		KV: []float64{0.1, 0.2}, Output: []float64{4, 5}}})
	if want := SeriesColumns + "\n0,0,2,0.1,4\n0.5,1,3,0.2,5\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	WriteSeries(&b, nil) // of a plan that does not fit nothing was played
}
