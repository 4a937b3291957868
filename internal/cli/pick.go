package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/render"
)

func (a *app) pick() *cobra.Command {
	f := &planFlags{}
	var at, goal string
	c := &cobra.Command{
		Use: "pick", Short: "which models this hardware runs, and how well",
		Long:    "The best catalog models for a use, by published scores, that run fast enough on the devices and leave room for the context, each in the best of the commonly served formats.",
		Example: "memwall pick --on rtx-3060\nmemwall pick --on rtx-4090 --for coding\nmemwall pick --on h100 --at 32k --users 16\nmemwall pick --on m4-max --goal speed",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("argument", args[0], fmt.Sprintf("pick takes no MODEL, but %q was given", args[0]), "memwall plan "+args[0])
			}
			if err := f.picked(at, goal); err != nil {
				return err
			}
			return a.runPick(c, f)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "pick")
	flags.StringVar(&at, "at", "", "context to leave room for; default by use")
	flags.StringVar(&goal, "goal", "score", "what to rank by: score or speed")
	flags.BoolVar(&f.all, "all", false, "all models that fit, including those without published scores")
	grouped(flags, groupWhat, "at", "goal")
	group(flags.Lookup("all"), groupOutput)
	complete(c)
	return c
}

// picked parses flags that are not request fields.
func (f *planFlags) picked(at, goal string) error {
	if at != "" {
		if f.request.Set("context", at) != nil || f.request.Context <= 0 {
			return usage("at", at, fmt.Sprintf("--at: %q is not a length such as 8192 or 32k", at), "the context to leave room for")
		}
	}
	switch goal {
	case "score":
	case "speed":
		f.Wanted().Minimize = "latency"
	default:
		return usage("goal", goal, fmt.Sprintf("--goal %s is not known", goal), "score or speed")
	}
	return nil
}

func (a *app) runPick(c *cobra.Command, f *planFlags) error {
	a.asking = "pick"
	r := &f.request
	notes, err := a.fillLocal(r, c.Flags().Changed("reserve"))
	if err != nil {
		return err
	}
	r.Ask, r.All, r.Goal = "pick", f.all, f.Goal
	answer, err := a.timed(r, notes)
	if err != nil || a.json {
		return err
	}
	return a.print(render.Pick(answer, a.style()))
}
