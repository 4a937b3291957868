package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/model/catalog"
)

// planFlags are the flags of plan.
type planFlags struct {
	fitFlags
	goal  memwall.Goal
	all   bool
	what  bool
	train bool
	files planFiles
}

func (a *app) plan() *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use: "plan MODEL", Short: "what to change so that it fits, cheapest first",
		Long:    "Changes are asked again one by one, the cheapest in quality and speed first, and then together. What a flag gives is kept; what none gives is searched. Without --on, the answer is the smallest hardware.",
		Example: "memwall plan qwen3-32b --weights q4_k_m --on rtx-4090 --ctx 32k\nmemwall plan llama-3.1-70b --on 2xh100 --users 32\nmemwall plan gpt-oss-120b\nmemwall plan llama-3.1-70b --train --on 64xh100 --seq 8k",
		RunE:    func(c *cobra.Command, args []string) error { return a.runPlan(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "plan", "train")
	flags.BoolVar(&f.train, "train", false, "plans that train the model: groups of devices, micro-batches, recomputation")
	group(flags.Lookup("train"), groupWhat)
	flags.StringVar(&f.from, "from", "", fromUsage)
	group(flags.Lookup("from"), groupWhat)
	flags.StringVar(&f.calibration, "calibration", "", "what memwall calibrate wrote, where it is not in its place; none: do without")
	group(flags.Lookup("calibration"), groupWhat)
	flags.StringVar(&f.goal.Minimize, "minimize", "", "latency, quality_loss, cost or devices: what to have least of")
	group(flags.Lookup("minimize"), groupWhat)
	flags.BoolVar(&f.all, "all", false, "every change that was tried, and every plan that was found")
	flags.BoolVar(&f.what, "what-if", false, "what doubling the load, halving the formats or better hardware would do")
	flags.BoolVar(&f.notes, "notes", false, "all notes, defaults included")
	for _, name := range []string{"all", "what-if", "notes"} {
		group(flags.Lookup(name), groupOutput)
	}
	f.files.flags(flags)
	complete(c)
	return c
}

func (a *app) runPlan(c *cobra.Command, f *planFlags, args []string) error {
	a.asking = "plan"
	r, unread, err := a.requestFor("plan", c, &f.fitFlags, args)
	if err != nil {
		return err
	}
	if err := a.tune(f.calibration); err != nil {
		return err
	}
	r.Ask = "plan"
	if f.train {
		r.For = "train"
	}
	if f.goal.Minimize != "" {
		r.Goal = &f.goal
	}
	out, err := f.files.open(a)
	if err != nil {
		return err
	}
	defer out.abandon()
	answer, err := a.timed(r, unread)
	if err == nil {
		err = out.finish(answer)
	}
	if err != nil || a.json {
		return err
	}
	return a.print(render.Plan(answer, render.PlanOptions{All: f.all, If: f.what, Notes: f.notes}, a.style()))
}

// timed asks and says how long that took, with notes of the command line in front; as JSON it writes the answer.
func (a *app) timed(r *memwall.Request, notes []memwall.Note) (*memwall.Answer, error) {
	ctx, stop := a.until()
	defer stop()
	start := time.Now()
	answer, err := a.asker.AskContext(ctx, r)
	if err != nil {
		return nil, err
	}
	answer.Wall = time.Since(start).Seconds()
	answer.Notes = append(notes, answer.Notes...)
	if a.json {
		err = writeJSON(a.Stdout, answer, true)
	}
	return answer, err
}
