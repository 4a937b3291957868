package cli

import (
	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/hardware"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/model/catalog"
)

// planFlags holds the flags of plan.
type planFlags struct {
	simFlags
	minimize string
	sure     bool
	own      string
	all      bool
	what     bool
	train    bool
	config   bool
	beside   planFiles
}

func (a *app) plan() *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use: "plan MODEL", Short: "what to change so that it fits, or the best way to serve or train it",
		Long: "Without a goal, plan evaluates changes one by one, those that cost least quality and speed first, and then combined. " +
			"With a load and bounds (--users or --rate, --ttft, --tpot) it searches fleets: hardware and its amount, engine, formats, parallelism. " +
			"--users max asks how many users the hardware holds within the bounds. " +
			"Fleets are estimated in steady state, and the best are simulated at the load. A flag pins its field, a comma-separated list restricts it, and all others are searched. " +
			"--on any, or no --on, searches hardware that people rent or buy.",
		Example: "memwall plan qwen3-32b --weights q4_k_m --on rtx-4090 --ctx 32k\nmemwall plan llama-3.1-70b --users 50 --ttft 2s --tpot 50ms --on h100,a100,l40s\nmemwall plan llama-3.1-8b --on h100 --users max --ttft 1s\nmemwall plan qwen3-8b --rate 8 --tpot 30ms --on any --minimize cost\nmemwall plan gpt-oss-120b\nmemwall plan llama-3.1-70b --train --on 64xh100 --seq 8k\nmemwall plan llama-3.1-8b --train --tokens 50M --seq 2k --method any --framework any --on any --minimize cost",
		RunE:    func(c *cobra.Command, args []string) error { return a.runPlan(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	f.addWork(c, a.Data)
	requestFlags(flags, &f.request, "plan", "train")
	flags.SetNormalizeFunc(simNames)
	f.addGoal(flags)
	flags.BoolVar(&f.train, "train", false, "search training plans: parallelism, micro-batches, recomputation")
	group(flags.Lookup("train"), groupWhat)
	flags.StringVar(&f.from, "from", "", fromUsage)
	group(flags.Lookup("from"), groupWhat)
	flags.StringVar(&f.calibration, "calibration", "", "file from memwall calibrate, if not in its default place; none: ignore it")
	group(flags.Lookup("calibration"), groupWhat)
	f.qualityFlag(flags)
	flags.BoolVar(&f.all, "all", false, "every change tried and every plan found")
	flags.BoolVar(&f.what, "what-if", false, "effect of doubling the load, halving the formats or better hardware")
	flags.BoolVar(&f.config, "config", false, "print only the configuration of the best training plan, ready for the framework")
	flags.BoolVar(&f.notes, "notes", false, "all notes, defaults included")
	grouped(flags, groupOutput, "all", "what-if", "config", "notes")
	f.beside.flags(flags)
	complete(c)
	return c
}

func (a *app) runPlan(c *cobra.Command, f *planFlags, args []string) error {
	a.asking = "plan"
	local := f.request.Hardware == "local"
	r, unread, err := a.requestFor("plan", c, &f.fitFlags, args)
	if err != nil {
		return err
	}
	if err := a.tune(f.calibration); err != nil {
		return err
	}
	r.Ask, r.All = "plan", f.all
	if f.train {
		r.For = "train"
	}
	if err := f.aim(r); err != nil {
		return err
	}
	if _, _, counted := hardware.CountOf(r.Hardware); local && r.Workload != nil && !counted {
		r.Hardware = "1x" + r.Hardware // this machine only
	}
	out, err := f.beside.open(a)
	if err != nil {
		return err
	}
	defer out.abandon()
	a.asker.Parallel = parallel
	answer, err := a.timed(r, unread)
	if err == nil {
		err = out.finish(answer)
	}
	if err != nil || a.json {
		return err
	}
	if f.config {
		return a.writeConfig(answer)
	}
	return a.print(render.Plan(answer, render.PlanOptions{All: f.all, If: f.what, Notes: f.notes}, a.style()))
}

// timed answers the request, records how long that took, and prepends the command line's notes; with --json it writes the answer.
func (a *app) timed(r *memwall.Request, notes []memwall.Note) (*memwall.Answer, error) {
	ctx, stop := a.until()
	defer stop()
	start := a.Now()
	p := a.progress()
	if a.asker.Watch == nil {
		a.asker.Watch = &memwall.Watch{}
	}
	a.asker.Watch.Progress = p.report()
	answer, err := a.asker.AskContext(ctx, r)
	p.clear()
	if err != nil {
		return nil, err
	}
	a.linkTo(r)
	answer.Wall = a.Now().Sub(start).Seconds()
	answer.Notes = append(notes, answer.Notes...)
	if a.json {
		err = writeJSON(a.Stdout, answer, true)
	}
	return answer, err
}
