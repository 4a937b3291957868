package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/source/regular"
)

// addModel returns the command that prints the rows a model would add to the repository.
func (a *app) addModel() *cobra.Command {
	hub := ""
	c := &cobra.Command{
		Use: "add FILE", Short: "print the catalog row of a config.json",
		Long:    "Prints a row of the catalog with the fields that the model's family looks at, and the row that checks it against the publisher's count. Nothing is written.",
		Example: "memwall models add config.json --hub mistralai/Ministral-8B-Instruct-2410",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := a.config(args)
			if err != nil {
				return err
			}
			if err := checkHub(hub); err != nil {
				return err
			}
			n, err := card.NewModelOf(hub, config)
			if err != nil {
				return err
			}
			return a.show(n, func(st term.Style) string { return cards.NewModel(n, st) })
		},
	}
	c.Flags().StringVar(&hub, "hub", "", "the model's repository: names and source follow from it")
	group(c.Flags().Lookup("hub"), groupWhat)
	return c
}

// config reads the named file or standard input.
func (a *app) config(args []string) ([]byte, error) {
	if len(args) != 1 {
		return nil, usage("file", strings.Join(args, " "), "models add takes one FILE", "memwall models add config.json, or - for standard input")
	}
	const most = 8 << 20 // the largest config.json; a longer one is rejected by its reader
	data, err := a.readUpTo(args[0], most+1)
	if err != nil {
		return nil, unreadable(args[0], "the config.json of the model's repository, or - for standard input", err)
	}
	return data, nil
}

func unreadable(name, fix string, err error) error {
	return &memwall.Error{Code: memwall.BadFile, Field: "file", Value: name, Message: fmt.Sprintf("%s cannot be read: %v", name, regular.Cause(err)), Hint: fix}
}

func checkHub(hub string) error {
	org, name, ok := strings.Cut(hub, "/")
	if hub == "" || ok && org != "" && name != "" && !strings.ContainsAny(hub, " \"\\\t\n") && !strings.Contains(name, "/") {
		return nil
	}
	return usage("hub", hub, fmt.Sprintf("--hub %q is not a repository", hub), "--hub org/name")
}

// addDevice returns the command that prints the row a device would add to the catalog.
func (a *app) addDevice() *cobra.Command {
	return &cobra.Command{
		Use: "add name=…,memory=…", Short: "print the catalog row of a device of your own",
		Long:    "Prints a row of the catalog with the figures given and its sources empty, to be filled in. Nothing is written.",
		Example: "memwall hardware add 'name=x,memory=24GiB,bandwidth=1TB/s,bf16=80TFLOPS,pcie=5x16'",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"name="}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := card.NewDeviceOf(strings.Join(args, " "))
			if err != nil {
				return err
			}
			return a.show(n, func(st term.Style) string { return cards.NewDevice(n, st) })
		},
	}
}
