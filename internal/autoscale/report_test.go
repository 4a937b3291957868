package autoscale

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/workload"
)

func open(name string) (io.ReadCloser, error) { return os.Open(name) }

func request() *memwall.Request {
	return &memwall.Request{Ask: "sim", Model: "llama-3.1-8b", Hardware: "h100", Goal: &memwall.Goal{TTFT: map[string]float64{"p99": 1000}},
		Workload: &workload.Spec{Prompt: workload.Law{Law: "fixed", Mean: 1500}, Output: workload.Law{Law: "fixed", Mean: 300}}}
}

func run(t *testing.T, change func(*memwall.Request, *Asked)) (*ScalingReport, error) {
	t.Helper()
	r, asked := request(), Usual()
	asked.Load = "2,2,9,30,20,9"
	change(r, asked)
	return Run(context.Background(), &memwall.Asker{}, r, asked, open)
}

func TestRun(t *testing.T) {
	r, err := run(t, func(_ *memwall.Request, a *Asked) {
		a.Policies = []string{"keda", "dynamo", "fixed:3", "ceil(rate / holds * 1.2)", "1 / (ready - 1)"}
		a.Target, a.Attainment = "running=60", 0.9
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Oracle == nil || !r.Oracle.Met || r.Load.Requests != 72*14400 || r.Replica.Holds <= 5 || r.Start.Low >= r.Start.High {
		t.Errorf("%+v, %+v, %+v", r.Load, r.Replica, r.Start)
	}
	for _, p := range r.Policies {
		if p.Regret != nil && *p.Regret < -1e-9 {
			t.Errorf("%s pays less than the oracle: %v", p.Name, *p.Regret)
		}
	}
	if fixed := r.Policies[2]; !fixed.Met || fixed.Hours != 72 || fixed.Changes != 1 || r.Best == "" {
		t.Errorf("%+v", fixed)
	}
	if failed := r.Policies[4].Error; !strings.Contains(failed, "divides by zero") {
		t.Errorf("1 / (ready - 1): %q", failed)
	}
	for form, has := range map[string]string{"keda": "kind: ScaledObject", "dynamo": "--ttft=1000"} {
		if text, err := r.Emit(form); err != nil || !strings.Contains(text, has) {
			t.Errorf("%s: %v\n%s", form, err, text)
		}
	}
	if _, err := r.Emit("hpa"); err == nil {
		t.Error("an HPA is written that nobody played")
	}
}

func TestUnansweredAsks(t *testing.T) {
	for says, change := range map[string]func(*memwall.Request, *Asked){
		"whose load is not said":          func(_ *memwall.Request, a *Asked) { a.Load = "" },
		"no bound says":                   func(r *memwall.Request, _ *Asked) { r.Goal = nil },
		"is negative":                     func(_ *memwall.Request, a *Asked) { a.Load = "1,-3,1" },
		`"hp" is not a policy`:            func(_ *memwall.Request, a *Asked) { a.Policies = []string{"hp"} },
		"fixed takes a number":            func(_ *memwall.Request, a *Asked) { a.Policies = []string{"fixed:0"} },
		`"while" is neither a number nor`: func(_ *memwall.Request, a *Asked) { a.Policies = []string{"while(1)"} },
		"is not a metric":                 func(_ *memwall.Request, a *Asked) { a.Target = "cpu=1" },
		"--max 1 is below --min 2":        func(_ *memwall.Request, a *Asked) { a.Least, a.Most = 2, 1 },
		"rate, users, trace, duration":    func(r *memwall.Request, _ *Asked) { r.Workload.Rate = 3 },
		"no such file":                    func(_ *memwall.Request, a *Asked) { a.Load = "/nowhere/day.csv" },
		"add up to 0.5":                   func(r *memwall.Request, _ *Asked) { r.Workload.Priorities = []float64{0.5} },
	} {
		_, err := run(t, change)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, where %q was expected", err, says)
		}
		if e, ok := errors.AsType[*memwall.Error](err); ok && e.Hint == "" {
			t.Errorf("%v says no fix", err)
		}
	}
	if r, err := run(t, func(_ *memwall.Request, a *Asked) { a.Load = "2" }); err != nil || r.Load.Requests != 172_800 {
		t.Errorf("a steady day of 2 requests a second: %+v, %v", r, err)
	}
	if r, err := run(t, func(r *memwall.Request, _ *Asked) { r.Model = "llama-3.1-70b" }); err != nil || r.Verdict != memwall.DoesNotFit || r.Policies != nil {
		t.Errorf("a replica that does not fit: %+v, %v", r, err)
	}
	if r, err := run(t, func(r *memwall.Request, _ *Asked) { r.Goal.TTFT["p99"] = 1 }); err != nil || r.Best != "" || r.Oracle != nil {
		t.Errorf("a goal that nothing keeps: %+v, %v", r, err)
	}
}
