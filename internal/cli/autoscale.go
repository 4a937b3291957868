package cli

import (
	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/autoscale"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
)

// autoscaleCommand returns the command that replays a day on replicas started and stopped by policies.
func autoscaleCommand(a *app) *cobra.Command {
	f, asked, emit := &simFlags{}, autoscale.Usual(), ""
	c := &cobra.Command{
		Use: autoscale.Use, Short: autoscale.Short, Long: autoscale.Long, Example: autoscale.Example,
		RunE: func(c *cobra.Command, args []string) error {
			a.asking = "sim"
			r, notes, err := a.requestFor("sim", c, &f.fitFlags, args)
			if err != nil {
				return err
			}
			r.Ask, r.Workload, r.Goal = "sim", &f.Spec, f.Goal
			asked.For(emit)
			ctx, stop := a.until()
			defer stop()
			report, err := autoscale.Run(ctx, &a.asker, r, asked, a.open)
			if err != nil {
				return err
			}
			report.Notes = append(notes, report.Notes...)
			if emit != "" {
				text, err := report.Emit(emit)
				if err != nil {
					return err
				}
				return a.print(text)
			}
			return a.show(report, func(st term.Style) string { return cards.Autoscale(report, st) })
		},
	}
	c.Flags().SortFlags = false
	addWords(c, asked.Words(), groupWorkload)
	f.addWork(c, a.Data)
	requestFlags(c.Flags(), &f.request, "sim")
	c.Flags().StringVar(&emit, "emit", "", "print the best policy as a file instead: "+autoscale.FormWords())
	c.Flags().BoolVar(&asked.Play, "play", false, "also simulate the best policy's day request by request")
	grouped(c.Flags(), groupOutput, "emit", "play")
	complete(c)
	return c
}
