package cli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/render/svg"
	"github.com/memwall/memwall/model/catalog"
	"github.com/memwall/memwall/safe"
)

// trainFlags holds the flags of train.
type trainFlags struct {
	fitFlags
	config   bool
	pipeline string
}

func (a *app) train() *cobra.Command {
	f := &trainFlags{}
	c := &cobra.Command{
		Use: "train MODEL", Short: "does training fit, where is the peak, how long does it take",
		Long:    "The peak is the largest phase of a step, on the rank that holds most. Lengths use k = 1,024; --tokens uses decimal k, M, B and T.",
		Example: "memwall train llama-3.1-8b --method qlora --on rtx-4090 --seq 4k\nmemwall train llama-3.1-70b --on 64xh100 --tp 8 --pp 4 --sharding zero1\nmemwall train llama-3.1-8b --on 8xh100 --framework torchtitan --tokens 10B --config",
		RunE:    func(c *cobra.Command, args []string) error { return a.runTrain(c, f, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "train")
	flags.StringVar(&f.explain, "explain", "", "formula, inputs, source and band of every number, or of one item")
	flags.Lookup("explain").NoOptDefVal = render.All
	flags.BoolVar(&f.config, "config", false, "print only the configuration, ready for the framework")
	flags.BoolVar(&f.notes, "notes", false, "all notes, defaults included")
	flags.StringVar(&f.check, "check", "", "exit 3 if it does not fit, 1 if unknown; strict: 3 if tight")
	flags.Lookup("check").NoOptDefVal = "fits"
	flags.StringVar(&f.svg, "svg", "", "also draw the memory of each phase of a step")
	flags.StringVar(&f.pipeline, "pipeline", "", "also draw the pipeline schedule, with what each stage does and where it waits")
	flags.StringArrayVar(&f.files, "from", nil, "a configuration, script or command of a training framework; repeat it for each file; - for stdin")
	group(flags.Lookup("from"), groupWhat)
	grouped(flags, groupOutput, "explain", "config", "notes", "svg", "pipeline", "check")
	completeWith(c, map[string]func() []string{"on": hardwareNames, "weights": recipeNames})
	for i := range memwall.Fields() {
		if g := &memwall.Fields()[i]; g.Flag != "" && len(g.Enum) > 0 && flags.Lookup(g.Flag) != nil {
			offer(c, g.Flag, cobra.FixedCompletions(g.Enum, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	return c
}

func (a *app) runTrain(c *cobra.Command, f *trainFlags, args []string) error {
	a.asking = "train"
	r, notes, err := a.requestFor("train", c, &f.fitFlags, args)
	if err != nil {
		return err
	}
	r.Ask, r.Explain = "train", f.explain != "" || !a.json
	answer, err := a.asker.Ask(r)
	if err != nil {
		return err
	}
	a.linkTo(r)
	answer.Notes = append(notes, answer.Notes...)
	if err := a.trainPictures(f, answer); err != nil {
		return err
	}
	if f.config {
		return a.writeConfig(answer)
	}
	if f.explain != "" && f.explain != render.All {
		if err := explainable(answer, f.explain); err != nil {
			return err
		}
	}
	if a.json {
		return writeJSON(a.Stdout, answer, true)
	}
	if err := a.print(render.Train(answer, render.FitOptions{Explain: f.explain, Notes: f.notes}, a.style())); err != nil {
		return err
	}
	return checked(f.check, answer.Verdict)
}

// trainPictures writes the pictures of a step that flags name.
func (a *app) trainPictures(f *trainFlags, answer *memwall.Answer) error {
	if err := a.picture("svg", f.svg, func() ([]byte, error) { return svg.Phases(answer), nil }); err != nil {
		return err
	}
	return a.picture("pipeline", f.pipeline, func() ([]byte, error) {
		svg := svg.Schedule(answer)
		if svg == nil {
			return nil, usage("pipeline", f.pipeline, "--pipeline: the plan has no pipeline, or its schedule is not laid out", "--pp 4 --schedule 1f1b; gpipe, interleaved, zb-h1 and zb-h2 are laid out too")
		}
		return svg, nil
	})
}

// writeConfig writes the files of a configuration, each after a line with its name if there are several.
func (a *app) writeConfig(answer *memwall.Answer) error {
	if len(answer.Config) == 0 {
		return &memwall.Error{Code: memwall.Unsupported, Field: "framework", Value: answer.Plan.Framework, Message: fmt.Sprintf("no configuration of %s is written for this plan", answer.Plan.Framework), Hint: "--notes says why"}
	}
	var names []string
	for name := range answer.Config {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if len(names) > 1 {
			fmt.Fprintf(a.Stdout, "# %s\n", name)
		}
		fmt.Fprintln(a.Stdout, safe.Text(strings.TrimRight(answer.Config[name], "\n"), "\n\t"))
	}
	return nil
}
