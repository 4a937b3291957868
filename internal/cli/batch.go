package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/batch"
	"github.com/memwall/memwall/internal/render/svg"
)

func (a *app) batch() *cobra.Command {
	pictures := false
	c := &cobra.Command{
		Use: "batch", Short: "one JSON request per line in, one answer per line out",
		Long: "Answers are in the order of the requests. A bad line gets an answer with an error, and the rest are processed. " +
			"A line can be up to 1 MiB. memwall schema describes the requests.",
		Example: `echo '{"ask":"fit","model":"llama-3.1-8b","hardware":"rtx-4090"}' | memwall batch`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := a.tune(""); err != nil {
				return err
			}
			return batch.Run(a.Stdin, a.Stdout, a.asker.Ask, func(w io.Writer, answer *memwall.Answer) error {
				return writeJSON(w, batch.Shown(answer, pictures, svg.Answer), false)
			})
		},
	}
	c.Flags().BoolVar(&pictures, "svg", false, "the picture of each answer instead, as a string: {\"svg\": …}")
	return c
}
