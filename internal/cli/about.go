package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/browse"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/run"
	"github.com/memwall/memwall/internal/schema"
	"github.com/memwall/memwall/internal/screen"
	"github.com/memwall/memwall/internal/term"
)

// welcome prints what memwall alone shows: what it is, three examples, and this machine if known.
func (a *app) welcome(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return a.unknownCommand(c, args[0])
	}
	if a.Terminal && a.Keyboard && !a.json && a.Env("TERM") != "dumb" {
		return a.browse()
	}
	w := cards.Welcome{Lines: []string{
		"memwall: whether an LLM fits, where every byte goes, how fast it runs and what to change.",
		"Every number carries its formula, its source and its error band (--explain).",
		"memwall --help lists the commands, memwall fit --help the flags.",
	}, Examples: []string{
		"memwall fit llama-3.1-8b --on rtx-4090",
		"memwall pick --on rtx-4090",
		"memwall plan llama-3.1-70b --on 2xh100 --users 4 --ctx 16k",
	}}
	if l := a.look(); l != nil {
		w.Machine = l.Idle
	}
	return a.show(w, w.Text)
}

// browse runs the terminal app until a key ends it.
func (a *app) browse() error {
	ctx, stop := a.until()
	defer stop()
	x := browse.New(a.asker.Ask, a.look(), func(columns int) term.Style {
		st := a.style()
		if a.Env("COLUMNS") == "" {
			st.Width = columns
		}
		return st
	})
	if err := screen.Run(ctx, a.Stdin, a.Stdout, a.screenEnv(), x.Show()); err != nil || x.Runs() == nil {
		return err
	}
	return runPlan(a, &run.Plan{Request: *x.Runs()})
}

func (a *app) schema() *cobra.Command {
	return &cobra.Command{
		Use: "schema [request | answer]", Short: "the JSON Schema of requests and answers",
		Long: "JSON Schema, draft 2020-12, made from the structs that decode requests and encode answers.", Example: "memwall schema request",
		ValidArgs: []string{"request", "answer"},
		RunE: func(_ *cobra.Command, args []string) error {
			which := ""
			if len(args) > 0 {
				which = args[0]
			}
			data, err := schema.Of(which)
			if err != nil || len(args) > 1 {
				return usage("schema", which, "schema of "+which+": there is none", "memwall schema, memwall schema request or memwall schema answer")
			}
			return a.print(string(data))
		},
	}
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "the version of program and JSON", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Schema  string `json:"schema"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{memwall.Version, memwall.Schema, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.show(v, func(term.Style) string {
				return "memwall " + v.Version + ", JSON " + v.Schema + ", " + v.Go + " " + v.System + "\n"
			})
		},
	}
}
