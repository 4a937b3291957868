package cli

import (
	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/desk"
	"github.com/memwall/memwall/internal/mcp"
)

func (a *app) mcp() *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use: "mcp", Short: "tools for AI agents (MCP), over stdin and stdout",
		Long: "A Model Context Protocol server that an agent starts for itself: tools fit, plan, pick, train, simulate, diagnose, models and hardware, with short answers and links to full ones. " +
			"memwall serve has the same at /mcp, for remote agents. Models come from the catalog, and from what --root and --allow permit.",
		Example: "memwall mcp\nmemwall mcp --root ./models",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			asker, err := a.served(f)
			if err != nil {
				return err
			}
			s, err := mcp.New(desk.New(desk.Options{Asker: asker, Limit: f.limit, Faults: a.Stderr}), asker.Models)
			if err != nil {
				return err
			}
			ctx, stop := a.until()
			defer stop()
			return s.Run(ctx, a.Stdin, a.Stdout)
		},
	}
	c.Flags().SortFlags = false
	f.reach(c)
	return c
}
