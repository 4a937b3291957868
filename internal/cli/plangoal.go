package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/load"
	"github.com/memwall/memwall/plan"
	"github.com/memwall/memwall/unit"
	"github.com/memwall/memwall/workload"
)

// addGoal adds the flags of a plan's goal, beside the bounds of a workload.
func (f *planFlags) addGoal(flags *pflag.FlagSet) {
	for _, w := range []load.Word{
		word("attainment", "SHARE", "share of requests that must meet both bounds at once: 0.99, 95%", "0.99", nil, f.shareOf(func(g *memwall.Goal) *float64 { return &g.Attainment })),
		word("minimize", "WHAT", "what to minimise: cost, latency, devices or quality_loss", "", []string{"cost", "latency", "devices", "quality_loss"}, load.WordOf(&f.minimize)),
		word("quality-loss", "PERCENT", "most that formats may cost in perplexity, or in another score: default 1, 100 allows any", "1", nil, f.qualityLoss),
		word("own", "TIME,USD,X[,USD]", "cost of owning: lifetime, dollars per kWh, site watts per device watt (PUE), price per device", "3y,0.15,1.4", nil, load.WordOf(&f.own)),
		word("day", "RATES", "requests per second over equal parts of a day, comma-separated, for a fleet that scales up and down", "2,1,1,3,8,9,7,4", nil, f.day),
		word("start", "TIME", "with --day: how long a new replica takes to start serving", "5min", nil, f.start),
	} {
		group(flags.VarPF(workValue{&w}, w.Name, "", w.Doc), groupWorkload)
	}
	flags.BoolVar(&f.sure, "sure", false, "plan for the slow edge of the band: the bounds must hold even there")
	group(flags.Lookup("sure"), groupWorkload)
}

func (f *planFlags) shareOf(which func(*memwall.Goal) *float64) func(string) error {
	return func(s string) error {
		number, percent := strings.CutSuffix(s, "%")
		x, err := unit.ParseNumber(number)
		if percent {
			x /= 100
		}
		*which(f.Wanted()) = x
		return err
	}
}

func (f *planFlags) qualityLoss(s string) error {
	x, err := unit.ParseNumber(strings.TrimSuffix(s, "%"))
	f.Wanted().QualityLoss = &x
	return err
}

func (f *planFlags) day(s string) error {
	var rates []float64
	for _, word := range strings.Split(s, ",") {
		x, err := unit.ParseNumber(strings.TrimSpace(word))
		if err != nil {
			return err
		}
		rates = append(rates, x)
	}
	f.ofDay().Rates = rates
	return nil
}

func (f *planFlags) start(s string) error { return load.SecondsOf(&f.ofDay().Start)(s) }

func (f *planFlags) ofDay() *memwall.Day {
	if f.request.Day == nil {
		f.request.Day = &memwall.Day{}
	}
	return f.request.Day
}

// owned parses the terms of an owner.
func (f *planFlags) owned() error {
	if f.own == "" {
		return nil
	}
	words := strings.Split(f.own, ",")
	o := &memwall.Ownership{Overhead: 1}
	if len(words) < 2 || len(words) > 4 {
		return usage("own", f.own, "--own "+f.own+" is not lifetime, price of energy and what comes after them", "--own 3y,0.15,1.4")
	}
	var err error
	o.LifetimeHours, err = lifetime(words[0])
	for i, at := range []*float64{&o.PerKWh, &o.Overhead, &o.Purchase}[:len(words)-1] {
		if err == nil {
			*at, err = unit.ParseNumber(words[i+1])
		}
	}
	if err != nil {
		return usage("own", f.own, "--own: "+err.Error(), "--own 3y,0.15,1.4")
	}
	f.Wanted().Own = o
	return nil
}

// lifetime parses a duration in hours, which may be given in years or days.
func lifetime(s string) (float64, error) {
	for suffix, hours := range map[string]float64{"y": 365 * 24, "d": 24} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			x, err := unit.ParseNumber(number)
			return x * hours, err
		}
	}
	t, err := load.Seconds(s)
	return t / 3600, err
}

// aim sets the request's load and bounds. Without bounds, users and lengths are those of a single plan to fit.
func (f *planFlags) aim(r *memwall.Request) error {
	if err := f.owned(); err != nil {
		return err
	}
	if f.minimize != "" {
		f.Wanted().Minimize = f.minimize
	}
	if f.sure {
		f.Wanted().Sure = true
	}
	r.Goal = f.Goal
	if f.Disaggregated != nil {
		r.Disaggregated = f.Disaggregated
	}
	w := f.Spec
	g := f.Goal
	bounded := g != nil && (len(g.TTFT) > 0 || len(g.TPOT) > 0 || g.Attainment > 0 || g.Sure || g.Own != nil || g.QualityLoss != nil || g.MostUsers) || r.Day != nil || w.Rate > 0 || w.Trace != "" || w.Arrivals != ""
	if bounded && r.For != "train" {
		r.Workload = &w
		return nil
	}
	return f.takeNumbers(r, &w)
}

// takeNumbers moves plain numbers of users and lengths into the plan.
func (f *planFlags) takeNumbers(r *memwall.Request, w *workload.Spec) error {
	for _, x := range []struct {
		flag string
		law  workload.Law
		at   *plan.Int
	}{{"prompt", w.Prompt, &r.PromptTokens}, {"output", w.Output, &r.OutputTokens}} {
		if x.law.Law != "" && x.law.Law != "fixed" {
			return usage(x.flag, x.law.Law, "--"+x.flag+": lengths that vary belong to a load, and there is no goal for one", "--ttft 2s or --tpot 50ms beside it, or a number of tokens")
		}
		if x.law.Mean > 0 {
			*x.at = plan.Int(x.law.Mean)
		}
	}
	if w.Concurrency > 0 {
		r.Sequences = w.Concurrency
	}
	return nil
}
