package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

func (a *app) diff() *cobra.Command {
	c := &cobra.Command{
		Use: "diff A B", Short: "what one plan gains over another, line by line",
		Long:               "A is a model with fit flags, in quotes; B is another one, or only the flags that change.",
		Example:            "memwall diff \"llama-3.1-70b --on 2xh100\" \"--weights fp8\"\nmemwall diff \"llama-3.1-8b --on rtx-4090\" \"qwen3-8b\"\nmemwall diff \"gpt-oss-120b --on h100 --engine vllm@0.14\" \"--engine vllm@0.24\"",
		DisableFlagParsing: true, // a plan may begin with a flag
		RunE: func(c *cobra.Command, args []string) error {
			plans, help := a.plans(args)
			if help {
				return c.Help()
			}
			return a.runDiff(c, plans)
		},
	}
	return c
}

// plans separates global flags from the arguments.
func (a *app) plans(args []string) (plans []string, help bool) {
	for _, arg := range args {
		switch arg {
		case "--json":
			a.json = true
		case "--ascii":
			a.ascii = true
		case "-h", "--help":
			help = true
		default:
			plans = append(plans, arg)
		}
	}
	return plans, help
}

func (a *app) runDiff(c *cobra.Command, args []string) error {
	a.asking = "diff"
	if len(args) != 2 || strings.TrimSpace(args[1]) == "" {
		return usage("plans", strings.Join(args, " "), "diff takes two plans, each in quotes", `memwall diff "llama-3.1-70b --on 2xh100" "--weights fp8"`)
	}
	first, err := a.planOf(c, args[0])
	if err != nil {
		return err
	}
	if first.Model == "" {
		return usage("model", args[0], "A names no model", `memwall diff "llama-3.1-70b --on 2xh100" "--weights fp8"`)
	}
	second, err := a.planOf(c, args[1])
	if err != nil {
		return err
	}
	notes, err := a.fillLocal(first, first.Reserved > 0)
	if err != nil {
		return err
	}
	first.Ask, first.Change = "diff", memwall.Change(second)
	answer, err := a.asker.Ask(first)
	if err != nil {
		return err
	}
	answer.Notes = append(notes, answer.Notes...)
	if a.json {
		return writeJSON(a.Stdout, answer, true)
	}
	return a.print(render.Diff(answer, a.style()))
}

// planOf parses a model and flags from one argument.
func (a *app) planOf(c *cobra.Command, text string) (*memwall.Request, error) {
	r := &memwall.Request{}
	flags := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	requestFlags(flags, r, "fit")
	if err := flags.Parse(strings.Fields(text)); err != nil {
		return nil, flagError(c, err)
	}
	switch rest := flags.Args(); len(rest) {
	case 0:
	case 1:
		r.Model = rest[0]
	default:
		return nil, usage("plan", text, fmt.Sprintf("a plan has one MODEL, and %q was given too", rest[1]), "quote the plan as a whole; names without spaces")
	}
	return r, nil
}
