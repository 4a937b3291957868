package cli

import (
	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/pack"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
)

// packCommand returns the command that places several models on a pool of devices.
func packCommand(a *app) *cobra.Command {
	pool, mig := "", false
	c := &cobra.Command{
		Use: pack.Use, Short: pack.Short, Long: pack.Long, Example: pack.Example,
		RunE: func(c *cobra.Command, args []string) error {
			plans, err := pack.Plans(args, func(text string) (*pack.Plan, error) {
				r, err := a.planOf(c, text)
				return &pack.Plan{Text: text, Request: r}, err
			})
			if err != nil {
				return err
			}
			ctx, stop := a.until()
			defer stop()
			packing, err := pack.Pack(ctx, a.asker.AskContext, pool, mig, plans)
			if err != nil {
				return err
			}
			if err := a.show(packing, func(st term.Style) string { return cards.Pack(packing, st) }); err != nil || len(packing.Unplaced) == 0 {
				return err
			}
			return verdictError(doesNotFit)
		},
	}
	c.Flags().StringVar(&pool, "on", "", "the pool: devices of one kind, such as 8xh100")
	c.Flags().BoolVar(&mig, "mig", false, "use MIG slices, each model on the smallest one that it fits")
	grouped(c.Flags(), groupWhat, "on", "mig")
	return c
}
