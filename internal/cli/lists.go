package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/model/catalog"
)

// models returns the command that lists the catalog or shows a model's card. A word that names one model shows its card; any other
// word filters.
func (a *app) models() *cobra.Command {
	since := ""
	c := &cobra.Command{
		Use: "models [ID | FILTER]", Short: "the models in the catalog, or one of them in detail",
		Long:    "With an ID, shows the model's structure, the size of its cache, and the size of its weights in common formats. A file or a config.json works like an id.",
		Example: "memwall models\nmemwall models qwen3\nmemwall models --since 2026-06\nmemwall models deepseek-v3\nmemwall models add config.json --hub org/name",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalog.IDs(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			if words == "" || since != "" {
				return a.listModels(words, since)
			}
			switch m, several, err := card.Look(a.Models, words); {
			case err != nil:
				return err
			case several:
				return a.listModels(words, since)
			default:
				return a.show(m, func(st term.Style) string { return cards.Model(m, st) })
			}
		},
	}
	c.Flags().StringVar(&since, "since", "", "only models released in this month (2026-06) or year or later")
	c.AddCommand(a.addModel())
	return c
}

func (a *app) listModels(filter, since string) error {
	rows, err := card.ModelsSince(filter, since)
	if err != nil {
		return err
	}
	return a.show(rows, func(st term.Style) string { return cards.Models(rows, filter, st) })
}

// show writes a card as text or JSON.
func (a *app) show(v any, text func(term.Style) string) error {
	if a.json {
		return writeJSON(a.Stdout, v, true)
	}
	return a.print(text(a.style()))
}

func (a *app) listDevices(filter string) error {
	list := card.ListHardware(filter)
	return a.show(list, func(st term.Style) string { return cards.Devices(list.Devices, list.Nodes, filter, st) })
}

func (a *app) formats() *cobra.Command {
	methods, model := false, ""
	c := &cobra.Command{
		Use: "formats [NAME | FILTER]", Short: "number formats and quantisations, or one of them in detail",
		Long: "A format stores numbers (bf16, fp8_e4m3, q4_k). A recipe says which tensor of a model gets which format (q4_k_m, awq, fp8). " +
			"With a NAME, shows the published quality loss against 16 bits and when to use the format. Names that only publications use (aqlm-2bit-1x16) work too.",
		Example: "memwall formats\nmemwall formats bf16\nmemwall formats q4_k_m\nmemwall formats --for llama-3.1-8b\nmemwall formats --methods",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return recipeNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			switch {
			case methods && c.Flags().Changed("for"):
				return usage("for", model, "--for and --methods are two questions", "ask one at a time")
			case methods:
				return a.runMethods(words)
			case c.Flags().Changed("for"):
				return a.rankFormats(model, words)
			}
			return a.runFormats(words)
		},
	}
	c.Flags().StringVar(&model, "for", "", "what a model loses in each format, the least first")
	group(c.Flags().Lookup("for"), groupWhat)
	completeWith(c, map[string]func() []string{"for": catalog.IDs})
	c.Flags().BoolVar(&methods, "methods", false, "when to use which way of quantising: bits, data it needs, what computes in it")
	group(c.Flags().Lookup("methods"), groupOutput)
	return c
}

// rankFormats lists a model's formats by quality loss.
func (a *app) rankFormats(model, words string) error {
	if model == "" {
		return usage("for", "", "--for names no model", "--for llama-3.1-8b")
	}
	o, err := card.OrderOf(a.Models, model, words)
	if err != nil {
		return err
	}
	if len(o.Formats) == 0 {
		return usageError{card.NoFormat(words)}
	}
	return a.show(o, func(st term.Style) string { return cards.Order(o, words, st) })
}

// runMethods lists methods; a filter that matches one method shows it in full.
func (a *app) runMethods(words string) error {
	list := card.Methods(words)
	if len(list) == 0 {
		return usage("methods", words, fmt.Sprintf("no method matches %q", words), "memwall formats --methods lists them")
	}
	return a.show(list, func(st term.Style) string { return cards.Methods(list, words, st) })
}

// runFormats lists formats; a name that is both a format and a recipe, such as bf16, is the format.
func (a *app) runFormats(words string) error {
	if words != "" {
		if f := card.FormatOf(words); f != nil {
			return a.show(f, func(st term.Style) string { return cards.Format(f, st) })
		}
		if r := card.RecipeOf(words); r != nil {
			return a.show(r, func(st term.Style) string { return cards.Recipe(r, st) })
		}
		if m := card.PublishedOf(words); m != nil {
			return a.show(m, func(st term.Style) string { return cards.Published(m, st) })
		}
	}
	return a.listFormats(words)
}

func (a *app) listFormats(words string) error {
	list := card.ListFormats(words)
	if list.Empty() {
		return usageError{card.NoFormat(words)}
	}
	return a.show(list, func(st term.Style) string {
		return cards.Formats(list.Formats, list.Blocks, list.Recipes, list.Measured, words, st)
	})
}
