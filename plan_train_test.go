package memwall

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/planner/train"
	"github.com/memwall/memwall/internal/question"
	"github.com/memwall/memwall/internal/training"
	"github.com/memwall/memwall/plan"
)

// trainAsk is a question for plans that train.
func trainAsk(model, on string, more func(*Request)) *Request {
	r := &Request{Ask: api.AskPlan, For: api.AskTrain, Model: model, Hardware: on}
	r.SequenceLength, r.Tokens = 4096, 1e9
	if more != nil {
		more(r)
	}
	return r
}

// trainAsked are spaces small enough to go through by hand.
var trainAsked = []*Request{
	trainAsk("llama-3.1-8b", "8xh100", func(r *Request) { r.Framework = "megatron" }),
	trainAsk("llama-3.1-8b", "8xh100", func(r *Request) { r.Framework, r.GlobalBatch = "megatron", 32 }),
	trainAsk("llama-3.1-8b", "16xa100-sxm-80gb", func(r *Request) { r.Framework, r.TP = "torchtitan", 2 }),
	trainAsk("llama-3.1-8b", "4xh100", func(r *Request) { r.Framework = "deepspeed" }),
	trainAsk("llama-3.1-70b", "2xrtx-4090,host=256GiB", func(r *Request) { r.Method = "qlora" }),
	trainAsk("llama-3.1-8b", "rtx-4090", func(r *Request) { r.Method = "lora,qlora" }),
	trainAsk("llama-3.1-8b", "8xh100,8xa100-sxm-80gb", func(r *Request) { r.Framework, r.Goal = "megatron", &Goal{Minimize: "cost"} }),
	trainAsk("mixtral-8x7b", "16xh100", func(r *Request) { r.Framework, r.PP = "megatron", 1 }),
	trainAsk("llama-3.1-70b", "64xh100", func(r *Request) {
		r.Framework, r.Among = "megatron", map[string][]plan.Int{"tp": {2, 8}, "pp": {2, 4}, "vpp": {2, 4, 8}}
	}),
	trainAsk("llama-3.1-8b", "h100", func(r *Request) { r.Framework, r.MaxDevices, r.Goal = "megatron", 8, &Goal{Minimize: "devices"} }),
}

func planned1(t testing.TB, r *Request) *Answer {
	t.Helper()
	a, err := Ask(r)
	if err != nil {
		t.Fatalf("%s on %s: %v", r.Model, r.Hardware, err)
	}
	return a
}

// TestTrainPlansKeepTheirWord: every plan is one of training that fits as it says, takes as long, and keeps what was
// given; no plan is better than one of the front in all ways.
func TestTrainPlansKeepTheirWord(t *testing.T) {
	for _, r := range trainAsked {
		a := planned1(t, r)
		for i, c := range append(slices.Clone(a.Candidates), a.Surprises...) {
			again, err := Patch(r, c.Patch)
			if err != nil {
				t.Fatal(err)
			}
			again.Ask, again.For, again.Goal, again.MaxDevices, again.Among = api.AskTrain, "", nil, 0, nil
			b, err := training.Trained((&Asker{}).env(), again)
			if err != nil {
				t.Errorf("%s on %s, %s: %v", r.Model, r.Hardware, c.Change, err)
				continue
			}
			m, step, err := b.Step()
			if err != nil || c.Step == nil || *question.Rounded(step.Seconds.Mid) != c.Step.Seconds || m.Tokens() != c.Step.Tokens {
				t.Errorf("%s: a step of %v, promised %+v (%v)", c.Change, step.Seconds, c.Step, err)
			}
			if ranks := b.EngineRanks(b.Sizer.Size(nil)); b.Question.Verdict(ranks) != Fits || question.Headroom(&ranks[0]) != c.Headroom {
				t.Errorf("%s: %s with %d free, promised %d", c.Change, b.Question.Verdict(ranks), question.Headroom(&ranks[0]), c.Headroom)
			}
			if c.Why == "" || c.Plan == nil || c.Run == nil {
				t.Errorf("plan %d, %s, lacks a reason, a plan or a run", i, c.Change)
			}
			if r.TP > 0 && c.Plan.TP != r.TP || r.PP > 0 && c.Plan.PP != r.PP || r.GlobalBatch > 0 && c.Plan.GlobalBatch != r.GlobalBatch ||
				len(hardware.List(r.Hardware)) == 1 && c.Plan.Hardware != r.Hardware {
				t.Errorf("%s changes what was given", c.Change)
			}
		}
		inOrder(t, a)
	}
}

// inOrder checks that candidates come in the order of the goal, and that none is better than one of the front.
func inOrder(t *testing.T, a *Answer) {
	t.Helper()
	time := func(c *Candidate) float64 { return c.Step.Seconds / c.Step.Tokens }
	money := func(c *Candidate) float64 {
		if c.Cost == nil {
			return math.Inf(1)
		}
		return *c.Cost
	}
	want := cmp.Or(a.Plan.Goal, &Goal{}).Minimize
	for i := 1; i < len(a.Candidates); i++ {
		x, y := &a.Candidates[i-1], &a.Candidates[i]
		wrong := false
		switch want {
		case "cost":
			wrong = money(x) > money(y)
		case "devices":
			wrong = x.Plan.Devices > y.Plan.Devices
		default:
			wrong = time(x) > time(y)*(1+1e-3) // steps are rounded
		}
		if wrong {
			t.Errorf("%s stands before %s", x.Change, y.Change)
		}
	}
	for _, i := range a.Pareto {
		for j := range a.Candidates {
			x, y := &a.Candidates[j], &a.Candidates[i]
			if time(x) < time(y)*(1-1e-3) && money(x) < money(y) && x.Headroom >= y.Headroom &&
				(want != "devices" || x.Plan.Devices <= y.Plan.Devices) {
				t.Errorf("%s is on the front, and %s beats it", y.Change, x.Change)
			}
		}
	}
	if len(a.Candidates) > 0 && !slices.Contains(a.Pareto, 0) {
		t.Error("the best plan is not on the front")
	}
}

// TestMoreChoiceIsNoWorse: what is left open, or listed, has no worse best plan than what is pinned.
func TestMoreChoiceIsNoWorse(t *testing.T) {
	best := func(more func(*Request)) float64 {
		a := planned1(t, trainAsk("llama-3.1-8b", "16xh100", more))
		return a.Best.Step.Seconds / a.Best.Step.Tokens
	}
	open := best(nil)
	for name, pin := range map[string]func(*Request){
		"framework": func(r *Request) { r.Framework = "torchtitan" }, "tp": func(r *Request) { r.TP = 4 },
		"pp": func(r *Request) { r.PP = 2 }, "micro_batch": func(r *Request) { r.MicroBatch = 1 },
		"recompute": func(r *Request) { r.Recompute = "full" },
		"sharding":  func(r *Request) { r.Framework, r.Sharding = "deepspeed", "zero3" },
		"list":      func(r *Request) { r.Framework = "torchtitan,deepspeed" }, "optimizer": func(r *Request) { r.Optimizer = "adamw" },
	} {
		if pinned := best(pin); pinned < open*(1-1e-3) {
			t.Errorf("%s pinned takes %g a token, left open %g", name, pinned, open)
		}
	}
	one := best(func(r *Request) { r.Framework = "deepspeed" })
	if two := best(func(r *Request) { r.Framework = "deepspeed,torchtitan" }); two > one*(1+1e-3) {
		t.Errorf("a longer list is worse: %g after %g", two, one)
	}
	few := best(func(r *Request) { r.Hardware = "h100"; r.MaxDevices = 8 })
	if many := best(func(r *Request) { r.Hardware = "h100"; r.MaxDevices = 16 }); many > few {
		t.Errorf("more devices take longer: %g after %g", many, few)
	}
}

// TestTrainPlanGoals: what is wanted least of comes first, and machines without a price come after those with one.
func TestTrainPlanGoals(t *testing.T) {
	with := func(on, least string) *Answer {
		return planned1(t, trainAsk("llama-3.1-8b", on, func(r *Request) { r.Goal = &Goal{Minimize: least}; r.MaxDevices = 8 }))
	}
	fast, cheap, few := with(api.AnyHardware, "latency"), with(api.AnyHardware, "cost"), with(api.AnyHardware, "devices")
	if *cheap.Best.Run.USD > *fast.Best.Run.USD || fast.Best.Run.Seconds > cheap.Best.Run.Seconds ||
		few.Best.Plan.Devices > cheap.Best.Plan.Devices {
		t.Errorf("fastest %+v, cheapest %+v, fewest %+v", fast.Best.Run, cheap.Best.Run, few.Best.Run)
	}
	a := with("name=x,memory=192GiB,bandwidth=8TB/s,bf16=2000TFLOPS,8xh100", "cost")
	priced, unpriced := false, false
	for _, c := range a.Candidates {
		priced, unpriced = priced || c.Cost != nil, unpriced || c.Cost == nil
		if c.Cost != nil && unpriced {
			t.Errorf("%s has a price and stands behind one without", c.Change)
		}
	}
	if !priced || !unpriced || !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "unpriced" }) {
		t.Errorf("priced %v, unpriced %v: %v", priced, unpriced, a.Notes)
	}
}

// TestSurprises: a surprise is worse than the best plan by more than little, and says why.
func TestSurprises(t *testing.T) {
	a := planned1(t, trainAsk("llama-3.1-70b", "64xh100", nil))
	if len(a.Surprises) != train.MostSurprises {
		t.Fatalf("%d surprises", len(a.Surprises))
	}
	for _, c := range a.Surprises {
		if c.Step.Seconds < a.Best.Step.Seconds*(1+train.WorthSurprise) || !strings.Contains(c.Why, ", but ") ||
			!strings.Contains(c.Why, "%") {
			t.Errorf("%s: %s", c.Change, c.Why)
		}
	}
}

// TestTrainPlanErrors: what contradicts itself is named, and what to do about it.
func TestTrainPlanErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		more  func(*Request)
		field string
		says  string
	}{
		{"no hardware", func(r *Request) { r.Hardware = "" }, "hardware", "is missing"},
		{"processors", func(r *Request) { r.Hardware = "cpu" }, "hardware", "processors alone"},
		{"local", func(r *Request) { r.Hardware = "local" }, "hardware", "command line"},
		{"one of a list is unknown", func(r *Request) { r.Hardware = "8xh100,8xh1000" }, "hardware", "h1000"},
		{"two groups", func(r *Request) { r.TP, r.PP = 8, 4 }, "pp", "tp = 8 and pp = 4 contradict: groups of 32 devices"},
		{"three groups", func(r *Request) { r.TP, r.PP, r.DP = 4, 2, 4 }, "dp", "tp = 4 and pp = 2 and dp = 4 contradict"},
		{"one group", func(r *Request) { r.TP = 16 }, "tp", "does not divide the 8 devices"},
		{"does not divide", func(r *Request) { r.PP = 3 }, "pp", "does not divide"},
		{"batch", func(r *Request) { r.TP, r.PP, r.MicroBatch, r.GlobalBatch = 1, 1, 4, 40 }, "global_batch",
			"contradict: 8 replicas take 32"},
		{"word of a list", func(r *Request) { r.Framework = "megatron,megatrom" }, "framework", "megatrom"},
		{"method of a list", func(r *Request) { r.Method = "full,lorra" }, "method", "lorra"},
		{"word", func(r *Request) { r.Framework = "megatrom" }, "framework", "megatrom"},
		{"refused", func(r *Request) { r.Framework, r.Method = "torchtitan", "lora" }, "method", "no adapters"},
		{"heads", func(r *Request) { r.Hardware, r.TP, r.Framework = "6xh100", 6, "megatron" }, "tp", "heads"},
		{"goal", func(r *Request) { r.Goal = &Goal{Minimize: "quality_loss"} }, "goal.minimize", "not ranked by it"},
		{"goal of serving", func(r *Request) { r.Goal = &Goal{TTFT: map[string]float64{"p99": 500}} }, "goal", "goals of serving"},
		{"unknown goal", func(r *Request) { r.Goal = &Goal{Minimize: "money"} }, "goal.minimize", "money"},
		{"most devices", func(r *Request) { r.MaxDevices = 4 }, "max_devices", "has 8 devices"},
		{"fewer than none", func(r *Request) { r.MaxDevices = -1 }, "max_devices", "not a number"},
		{"too many machines", func(r *Request) { r.Hardware, r.MaxDevices = strings.Repeat("h100,", 20)+"h100", 1<<19 }, "hardware",
			"more than 256"},
	} {
		r := trainAsk("llama-3.1-8b", "8xh100", c.more)
		_, err := Ask(r)
		var e *Error
		if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Message+e.Value, c.says) || e.Hint == "" {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
}

// TestTrainPlanMiss: where nothing fits, the plan that lacks least says by how much, and of what.
func TestTrainPlanMiss(t *testing.T) {
	a := planned1(t, trainAsk("llama-3.1-405b", "2xrtx-4090,host=64GiB", func(r *Request) { r.Method = "full" }))
	c := a.NearestMiss
	if a.Best != nil || c == nil || c.Headroom >= 0 && (c.HostHeadroom == nil || *c.HostHeadroom >= 0) || c.Why == "" {
		t.Fatalf("%+v", c)
	}
}

// TestTrainPlanLists: a list of words is a set to search, and one that nothing takes is said.
func TestTrainPlanLists(t *testing.T) {
	r, err := Decode([]byte(`{"ask":"plan","for":"train","model":"llama-3.1-8b","hardware":["8xh100","8xa100-sxm-80gb"],"framework":["megatron","torchtitan"],"method":["full","lora"],"recompute":["none","every:2","full"],"goal":{"minimize":"cost"}}`))
	if err != nil {
		t.Fatal(err)
	}
	a := planned1(t, r)
	found := map[string]bool{}
	for _, c := range a.Candidates {
		found[c.Plan.Hardware+" "+c.Plan.Framework+" "+c.Plan.Method] = true
		if !slices.Contains([]string{"none", "every:2", "full"}, c.Plan.Recompute) {
			t.Errorf("recompute %s is not of the list", c.Plan.Recompute)
		}
	}
	for _, want := range []string{"8xh100 megatron full", "8xh100 megatron lora", "8xa100-sxm-80gb torchtitan full"} {
		if !found[want] {
			t.Errorf("no plan of %s: %v", want, found)
		}
	}
	if !slices.ContainsFunc(a.Notes, func(n Note) bool { return n.Code == "methods_differ" }) {
		t.Error("nothing is said of methods")
	}
	if _, err := Decode([]byte(`{"ask":"plan","model":"x","method":["full","lorra"]}`)); err == nil {
		t.Error("a word of a list that is not known is taken")
	}
}

// TestTrainPlanNumbers: a list of numbers is a set to search, from JSON and from text.
func TestTrainPlanNumbers(t *testing.T) {
	r, err := Decode([]byte(`{"ask":"plan","for":"train","model":"llama-3.1-8b","hardware":"h100","devices":[16,8,8],"framework":"megatron","tp":[2,4],"among":{"pp":[1,2],"vpp":[2,4]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetAmong("micro_batch", "1,2"); err != nil {
		t.Fatal(err)
	}
	r.All = true
	a := planned1(t, r)
	found := map[string]bool{}
	for _, c := range a.Candidates {
		p := c.Plan
		found[fmt.Sprint("devices ", p.Devices)], found[fmt.Sprint("tp ", p.TP)], found[fmt.Sprint("pp ", p.PP)], found[fmt.Sprint("vpp ",
			max(1, p.VPP))], found[fmt.Sprint("micro ", p.MicroBatch)] = true, true, true, true, true
	}
	for _, want := range []string{"devices 8", "devices 16", "tp 2", "tp 4", "pp 1", "pp 2", "vpp 2", "vpp 4", "micro 1", "micro 2"} {
		if !found[want] {
			t.Errorf("no plan of %s", want)
		}
	}
	if len(found) != 11 { // and one chunk where there is no pipeline
		t.Errorf("plans of %v", found)
	}
	again, err := json.Marshal(a.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := Decode(again); err != nil || len(b.Among) != 5 {
		t.Errorf("%s: %v", again, err)
	}
	for _, bad := range []string{`"tp":[0,2]`, `"tp":["x"]`, `"sequence_length":[1,2]`, `"among":{"sequence_length":[1]}`, `"among":[1]`, `"tp":[1.5]`} {
		if _, err := Decode([]byte(`{"ask":"plan","for":"train","model":"llama-3.1-8b","hardware":"h100",` + bad + `}`)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	if _, err := Ask(&Request{Ask: api.AskPlan, Model: "llama-3.1-8b", Hardware: "h100",
		Among: map[string][]plan.Int{"tp": {1, 2}}}); err == nil {
		t.Error("plans that serve take a list of numbers")
	}
}

// TestTrainPlanTwice: a search has one answer, with all that it found, and without.
func TestTrainPlanTwice(t *testing.T) {
	for _, all := range []bool{false, true} {
		r := trainAsk("llama-3.1-8b", "16xh100,8xh200", func(r *Request) { r.All = all })
		x, _ := json.Marshal(planned1(t, r))
		y, _ := json.Marshal(planned1(t, r))
		if string(x) != string(y) {
			t.Errorf("all %v: two answers", all)
		}
		if a := planned1(t, r); all && len(a.Candidates) < 100 {
			t.Errorf("%d of all plans", len(a.Candidates))
		}
	}
}

// TestTrainPlanFiles: the best plan has files to run it, and so has every other of frameworks that memwall writes for.
func TestTrainPlanFiles(t *testing.T) {
	for _, c := range []struct{ model, on, method, framework string }{
		{"llama-3.1-8b", "8xh100", "", ""}, {"llama-3.1-70b", "64xh100", "", ""}, {"llama-3.1-8b", "rtx-4090", "qlora", ""},
		{"llama-3.1-70b", "2xl40s,host=256GiB", "qlora", ""},
		{"llama-3.1-70b", "8xh100", "lora", ""}, {"mixtral-8x7b", "16xh100", "", "megatron"}, {"llama-3.1-8b", "8xh100", "", "torchtitan"},
		{"llama-3.1-70b", "64xh100", "", "torchtitan"},
		{"mamba2-2.7b", "8xh100", "", ""}, {"qwen3-30b-a3b", "16xh100", "", ""}, {"llama-3.1-8b", "h100", "", "deepspeed"},
		{"llama-3.1-8b", "4xh100", "", "deepspeed"}, {"llama-3.1-70b", "32xh200", "", "deepspeed,transformers"},
	} {
		a := planned1(t, trainAsk(c.model, c.on, func(r *Request) { r.Method, r.Framework = c.method, c.framework }))
		if a.Best == nil || len(a.Best.Files) == 0 || len(a.Config) == 0 {
			t.Errorf("%s on %s: %+v without files: %v", c.model, c.on, a.Best, a.Notes)
			continue
		}
		for _, x := range a.Candidates {
			again := *x.Plan
			again.Ask = api.AskTrain
			b, err := training.Trained((&Asker{}).env(), &again)
			if err != nil || len(b.Config()) == 0 {
				t.Errorf("%s on %s, %s: no files: %v %v", c.model, c.on, x.Change, err, b.Notes())
			}
		}
	}
}

// TestTrainSearchEnds: a context that has ended stops a search.
func TestTrainSearchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (&Asker{}).AskContext(ctx, trainAsk("llama-3.1-8b", "8xh100", nil)); err == nil {
		t.Error("an answer after the end")
	}
}

// TestHardwareChoices: keys of a machine are not machines.
func TestHardwareChoices(t *testing.T) {
	if got := hardware.List("8xh100,link=nvlink:900GB/s,a100-sxm-80gb"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	r := trainAsk("llama-3.1-8b", "8xh100,link=nvlink:900GB/s", func(r *Request) { r.MicroBatch = plan.Int(1) })
	if a := planned1(t, r); a.Best == nil {
		t.Error("no plan with a link of one's own")
	}
}
