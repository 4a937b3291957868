package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/validation"
)

// validate returns the command that compares every public measurement with the prediction.
func (a *app) validate() *cobra.Command {
	var show cards.Show
	c := &cobra.Command{
		Use: "validate", Short: "memwall against thousands of public measurements",
		Long:    "Every row is a public measurement and the question that asks memwall for the same figure. Exact measures must be equal to the last printed digit; the others have a target for the median error. Plans measured on the same hardware are also ranked: how close the order is to the measured one, and how much slower the first plan is than the best.",
		Example: "memwall validate\nmemwall validate --worst\nmemwall validate --by hardware",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if show.By != "" && !slices.Contains(validation.Groupings(), show.By) {
				return usage("by", show.By, "--by "+show.By+" groups by nothing", strings.Join(validation.Groupings(), ", "))
			}
			r, err := validation.Run(&memwall.Asker{}, show.By)
			if err != nil {
				return err
			}
			return a.show(r.Summary(), func(st term.Style) string { return cards.Validate(r, show, st) })
		},
	}
	c.Flags().BoolVar(&show.Worst, "worst", false, "the rows furthest off")
	c.Flags().BoolVar(&show.Refused, "refused", false, "why rows are refused")
	c.Flags().StringVar(&show.By, "by", "", "group by "+strings.Join(validation.Groupings(), ", "))
	return c
}
