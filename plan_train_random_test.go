package memwall

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/plan"
)

// randomTrainPlan is a question for plans of training with fields of all kinds, some of them wrong.
func randomTrainPlan(r *rand.Rand, ids []string) *Request {
	out := &Request{Ask: api.AskPlan, For: api.AskTrain, Model: ids[r.IntN(len(ids))],
		Hardware: randomHardware[r.IntN(len(randomHardware))]}
	if r.IntN(3) == 0 {
		out.Hardware += "," + randomHardware[r.IntN(len(randomHardware))]
	}
	numbers := randomNumbers
	if r.IntN(3) > 0 {
		numbers = saneNumbers
	}
	for _, f := range Fields() {
		if !f.OfAsk(api.AskTrain) || slices.Contains([]string{"ask", "model", "hardware", "data", "text", "explain"}, f.Name) ||
			r.IntN(12) > 0 {
			continue
		}
		f.Value(out).Set(randomValue(r, &f, numbers))
	}
	if r.IntN(4) == 0 {
		out.MaxDevices = plan.Int(numbers[r.IntN(len(numbers))])
	}
	if r.IntN(4) == 0 {
		out.Among = map[string][]plan.Int{"tp": {1, 2}, "micro_batch": {1, 3}}
	}
	out.Goal = &Goal{Minimize: []string{"", "latency", "cost", "devices"}[r.IntN(4)]}
	return out
}

// TestRandomTrainPlans: no question breaks a search: an answer keeps its order, and an error says what to do.
func TestRandomTrainPlans(t *testing.T) {
	ids, answered := catalog.IDs(), 0
	for seed := range uint64(120) {
		r := randomTrainPlan(rand.New(rand.NewPCG(seed, 2)), ids)
		text, _ := json.Marshal(r)
		a, err := asker().Ask(r)
		if err != nil {
			checkErrorOf(t, string(text), err)
			continue
		}
		answered++
		if a.Best == nil && a.NearestMiss == nil {
			t.Errorf("%s: neither a plan nor one that comes near", text)
		}
		for _, c := range a.Candidates {
			if c.Verdict != Fits || c.Why == "" || c.Step != nil && (math.IsNaN(c.Step.Seconds) || c.Step.Seconds <= 0) {
				t.Errorf("%s: %s: %+v", text, c.Change, c)
			}
		}
		if _, err := json.Marshal(a); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if answered < 15 {
		t.Errorf("%d of 120 are answered", answered)
	}
}
