package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/load"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/model/catalog"
)

// simFlags holds the flags of sim.
type simFlags struct {
	fitFlags
	load.Load
	files simFiles
}

func (a *app) sim() *cobra.Command {
	f := &simFlags{}
	c := &cobra.Command{
		Use: "sim MODEL", Short: "does it hold the load: how long users wait, what runs out",
		Long: "Simulates requests from arrival to the last token: the engine's own rules batch them step by step, and those without room in the KV cache are preempted. " +
			"Describe the load (--rate or --users, or a recording with --trace) and its requests (--prompt, --output). Lengths use k = 1,024; --requests uses decimal k and M.",
		Example: "memwall sim llama-3.1-70b --on 4xh100 --rate 4 --versus static\nmemwall sim llama-3.1-8b --on rtx-4090 --users 32 --prompt lognormal:1500,1\nmemwall sim llama-3.1-8b --on h100 --users max --ttft 1s\nmemwall sim llama-3.1-70b --on 4xh100 --trace azure.csv --ttft 500ms --check\nmemwall sim qwen3-32b --on 2xh100 --rate 8 --shared-prefix 2k --replicas 2",
		RunE:    func(c *cobra.Command, args []string) error { return a.runSim(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	f.addWork(c, a.Data)
	requestFlags(flags, &f.request, "sim")
	flags.SetNormalizeFunc(simNames)
	flags.StringVar(&f.from, "from", "", fromUsage)
	flags.StringVar(&f.calibration, "calibration", "", "file from memwall calibrate, if not in its default place; none: ignore it")
	grouped(flags, groupWhat, "from", "calibration")
	slots := word("slots", "N", "slots of llama-server (-np); of other engines --max-num-seqs", "8", nil, load.CountOf(&f.request.Sequences))
	group(flags.VarPF(workValue{&slots}, slots.Name, "", slots.Doc), groupLlama)
	f.files.flags(flags)
	flags.BoolVar(&f.notes, "notes", false, "all notes, defaults included")
	flags.StringVar(&f.check, "check", "", "exit 3 if the load does not hold, the goal is missed or the plan does not fit; strict: 3 if tight")
	flags.Lookup("check").NoOptDefVal = "fits"
	grouped(flags, groupOutput, "notes", "check")
	complete(c)
	offer(c, "versus", cobra.FixedCompletions([]string{"static", "contiguous-kv", "no-prefix-cache", "no-speculation", "kv-tier="}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) runSim(c *cobra.Command, f *simFlags, args []string) error {
	a.asking = "sim"
	r, notes, err := a.requestFor("sim", c, &f.fitFlags, args)
	if err != nil {
		return err
	}
	if err := a.tune(f.calibration); err != nil {
		return err
	}
	r.Ask, r.Workload, r.Goal = "sim", &f.Spec, f.Goal
	if f.Disaggregated != nil {
		r.Disaggregated = f.Disaggregated
	}
	if err := f.asks(r); err != nil {
		return err
	}
	answer, err := a.simulated(f, r, notes)
	if err != nil {
		return err
	}
	if !a.json {
		err = a.print(render.Sim(answer, render.SimOptions{Notes: f.notes}, a.style()))
	}
	if err != nil {
		return err
	}
	return heldUp(f.check, answer)
}

// simulated runs a simulation with its observers, and writes the requested files.
func (a *app) simulated(f *simFlags, r *memwall.Request, notes []memwall.Note) (*memwall.Answer, error) {
	out, err := f.files.open(a)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	a.asker.Watch = &memwall.Watch{Request: out.request(), Step: out.step()}
	answer, err := a.timed(r, notes)
	if err != nil {
		return nil, err
	}
	return answer, out.finish(answer)
}

// asks rejects a workload without users or a rate.
func (f *simFlags) asks(r *memwall.Request) error {
	if w := &f.Spec; w.Rate == 0 && w.Concurrency == 0 && w.Trace == "" && w.Arrivals != "burst" && r.Sequences == 0 && (f.Goal == nil || !f.Goal.MostUsers) {
		return usage("workload.rate", "", "the load is missing: no --rate, no --users and no --trace", "--rate 4 for four requests a second, --users 64 for that many, each asking again when answered")
	}
	return nil
}

// heldUp converts an answer into the exit code of --check.
func heldUp(check string, a *memwall.Answer) error {
	s := a.Simulated
	switch {
	case check == "":
		return nil
	case s == nil:
		return checked(check, a.Verdict)
	case s.Stopped:
		return verdictError(unanswered)
	case !s.Holds, s.GoalMet != nil && !*s.GoalMet, check == strict && s.High != nil && !s.High.Holds:
		return verdictError(doesNotFit)
	}
	return checked(check, a.Verdict)
}

// until returns a context that an interrupt cancels.
func (a *app) until() (context.Context, context.CancelFunc) {
	if a.Interruptible == nil {
		return context.WithCancel(context.Background())
	}
	return a.Interruptible()
}

// Progress is drawn only if an answer takes longer than a moment, and no more often than the eye can follow.
const (
	silence  = 500 * time.Millisecond
	interval = 100 * time.Millisecond
)
