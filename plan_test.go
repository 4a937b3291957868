package memwall

import (
	"context"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/internal/planner"
	"github.com/memwall/memwall/internal/planner/plannertest"
	"github.com/memwall/memwall/plan"
)

func asked(t testing.TB, ask string, r Request) *Answer {
	t.Helper()
	r.Ask = ask
	a, err := Ask(&r)
	if err != nil {
		t.Fatalf("%s %s on %s: %v", ask, r.Model, r.Hardware, err)
	}
	return a
}

// TestCandidatesKeepTheirWord: every change of an answer is applied to the request, in JSON as others would, and asked
// again: same verdict, bytes and speed.
func TestCandidatesKeepTheirWord(t *testing.T) {
	tried := 0
	for _, r := range plannertest.Planned {
		a := asked(t, api.AskPlan, r)
		base := asked(t, "fit", r)
		for _, c := range slices.Concat(a.Ladder, a.Candidates) {
			tried++
			data, err := json.Marshal(c.Patch)
			if err != nil {
				t.Fatal(err)
			}
			var patch map[string]any
			if err := json.Unmarshal(data, &patch); err != nil {
				t.Fatal(err)
			}
			r.Ask = "fit"
			again, err := Patch(&r, patch)
			if err != nil {
				t.Fatalf("%s: %s: %v", r.Model, data, err)
			}
			b, err := Ask(again)
			if err != nil {
				t.Errorf("%s on %s, %s: %v", r.Model, r.Hardware, c.Change, err)
				continue
			}
			saves := base.Devices[0].Needed - b.Devices[0].Needed
			if b.Verdict != c.Verdict || saves != c.Saves || !reflect.DeepEqual(b.Plan, c.Plan) {
				t.Errorf("%s on %s, %s: %s and %d saved, promised %s and %d", r.Model, r.Hardware, c.Change, b.Verdict, saves, c.Verdict,
					c.Saves)
			}
			if x, y := planner.DecodeOf(b.Speed), planner.DecodeOf(c.Speed); x != y {
				t.Errorf("%s on %s, %s: %g tokens a second, promised %g", r.Model, r.Hardware, c.Change, x, y)
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// TestBestFits: what is recommended fits, keeps what was given unless nothing else fits, and is the cheapest.
func TestBestFits(t *testing.T) {
	for _, r := range plannertest.Planned {
		a := asked(t, api.AskPlan, r)
		for i := range a.Candidates {
			c := &a.Candidates[i]
			if c.Verdict != Fits {
				t.Errorf("%s on %s: %s is a candidate, and %s", r.Model, r.Hardware, c.Change, c.Verdict)
			}
			if a.NearestMiss == nil && len(c.Relaxes) > 0 {
				t.Errorf("%s on %s: %s changes %v, which was given, and others fit", r.Model, r.Hardware, c.Change, c.Relaxes)
			}
		}
		if m := a.NearestMiss; m != nil && (m.Verdict == Fits || len(m.Relaxes) > 0) {
			t.Errorf("%s on %s: the nearest miss, %s, %s", r.Model, r.Hardware, m.Change, m.Verdict)
		}
		if e := a.Evaluated; e.Decided < e.Full || e.Full == 0 {
			t.Errorf("%s on %s: %d decided, %d in full", r.Model, r.Hardware, e.Decided, e.Full)
		}
	}
}

// TestSameAnswerTwice: searches have one answer.
func TestSameAnswerTwice(t *testing.T) {
	for _, r := range plannertest.Planned[:3] {
		x, _ := json.Marshal(asked(t, api.AskPlan, r))
		y, _ := json.Marshal(asked(t, api.AskPlan, r))
		if string(x) != string(y) {
			t.Errorf("%s on %s has two answers", r.Model, r.Hardware)
		}
	}
}

// TestSearchEnds: a context that has ended stops a search.
func TestSearchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := plannertest.Planned[2]
	r.Ask = api.AskPlan
	if _, err := (&Asker{}).AskContext(ctx, &r); err == nil {
		t.Error("an answer after the end")
	}
	if _, err := (&Asker{}).AskContext(ctx, &Request{Ask: api.AskPick, Hardware: "h100"}); err == nil {
		t.Error("picks after the end")
	}
}

// TestDiff: lines of ledgers add up to what is needed, and a plan beside itself is refused or the same.
func TestDiff(t *testing.T) {
	a := asked(t, api.AskDiff, Request{Model: "llama-3.1-70b", Hardware: "2xh100", Change: map[string]any{"weights": "fp8"}})
	d := a.Diff
	var x, y int64
	for _, it := range d.Items {
		if it.ID != "pool_unused" {
			x, y = x+int64(it.A), y+int64(it.B)
		}
		if it.Change != it.B-it.A {
			t.Errorf("%+v", it)
		}
	}
	if x != int64(d.Needed.A) || y != int64(d.Needed.B) {
		t.Errorf("lines are %d and %d, needed %d and %d", x, y, d.Needed.A, d.Needed.B)
	}
	if len(d.Fields) != 1 || d.Fields[0].Field != "weights" || d.DecodeRatio == nil || *d.DecodeRatio <= 1 {
		t.Errorf("%+v", d)
	}
	if _, err := Ask(&Request{Ask: api.AskDiff, Model: "llama-3.1-8b", Hardware: "h100"}); err == nil {
		t.Error("a diff without a change is answered")
	}
}

// BenchmarkSearch is a search of plans for eight devices.
func BenchmarkSearch(b *testing.B) {
	for _, r := range []Request{plannertest.Planned[0], plannertest.Planned[2], {Model: "llama-3.1-405b", Hardware: "8xh100"},
		{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Sequences: 64}},
		{Model: "llama-3.1-405b", Hardware: "8xh100", Plan: plan.Plan{Engine: "vllm"}},
		{Model: "deepseek-v3", Hardware: "8xh200", Plan: plan.Plan{Engine: "vllm", Sequences: 64}}} {
		b.Run(strings.TrimSpace(r.Model+" "+r.Engine), func(b *testing.B) {
			decided, full := 0, 0
			for b.Loop() {
				a := asked(b, api.AskPlan, r)
				decided, full = decided+a.Evaluated.Decided, full+a.Evaluated.Full
			}
			b.ReportMetric(float64(decided)/b.Elapsed().Seconds(), "decided/s")
			b.ReportMetric(float64(full)/b.Elapsed().Seconds(), "sized/s")
		})
	}
}

// TestMeasuredErrors: errors of one's own weights decide what formats cost, and say so; what is none is refused.
func TestMeasuredErrors(t *testing.T) {
	ask := func(errors map[string]float64) (*Answer, error) {
		r := Request{Ask: "plan", Model: "llama-3.1-8b", Hardware: "rtx-4060", Measured: errors, All: true}
		r.Engine, r.Weights, r.Context = "llama.cpp", "bf16", plan.Int(4096)
		return (&Asker{Models: Catalog{}}).Ask(&r)
	}
	a, err := ask(map[string]float64{"q5_k_m": 0.03, "q4_k_m": 0.01})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*Quality{}
	for _, c := range a.Ladder {
		if len(c.Patch) == 1 && c.Patch["weights"] != nil {
			of[c.Patch["weights"].(string)] = c.Quality
		}
	}
	five, four := of["q5_k_m"], of["q4_k_m"]
	if five == nil || four == nil || math.Abs(five.Mid/four.Mid-9) > 1e-6 || five.MeasuredOn != "these weights" || five.Near != "weights" ||
		!strings.Contains(five.Source, "measured on these weights: an error of 3 %") {
		t.Errorf("%+v and %+v", five, four)
	}
	if q := of["q6_k"]; q == nil || q.Near == "weights" {
		t.Errorf("q6_k was not measured: %+v", q)
	}
	if !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "quality_measured" }) {
		t.Error("no note says where the figures are from")
	}
	for name, e := range map[string]float64{"q9_k": 0.1, "Q4_K_M": 0.1, "q4_k_m": 0, "q6_k": 11, "q8_0": math.NaN()} {
		if _, err := ask(map[string]float64{name: e}); err == nil || !strings.Contains(err.Error(), "measured_errors") {
			t.Errorf("%s %v: %v", name, e, err)
		}
	}
}
