package cli

import (
	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/admit"
)

// admitCommand returns the command that serves a Kubernetes validating webhook, or writes its manifests.
func admitCommand(a *app) *cobra.Command {
	asked := admit.Usual()
	c := &cobra.Command{
		Use: admit.Use, Short: admit.Short, Long: admit.Long, Example: admit.Example, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asked.Manifests {
				text, err := asked.Write(a.open)
				if err != nil {
					return err
				}
				return a.print(text)
			}
			ctx, stop := a.until()
			defer stop()
			asker := memwall.Asker{Models: memwall.Catalog{}}
			return asked.Serve(ctx, asker.AskContext, a.Stderr)
		},
	}
	c.Flags().SortFlags = false
	addWords(c, asked.Words(), groupHow)
	c.Flags().BoolVar(&asked.Warn, "warn", false, "warn instead of rejecting")
	c.Flags().BoolVar(&asked.Manifests, "manifests", false, "print the manifests that install it in a cluster, and exit")
	grouped(c.Flags(), groupOutput, "warn", "manifests")
	return c
}
