package cli

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/run"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/safe"
)

// runCommand returns the command that starts a plan's server on this machine.
func runCommand(a *app) *cobra.Command {
	f, p := &fitFlags{}, &run.Plan{}
	c := &cobra.Command{
		Use: "run MODEL", Short: "start an engine with a plan that fits this machine, and compare its memory use with the prediction",
		Long: "MODEL is as for fit. An installed engine is chosen unless --engine names one, and the engine downloads the model if needed; " +
			"with --download memwall does, and verifies it. The plan must fit. The server listens only on this machine. Once it answers, its start-up log is compared with the plan, line by line; if it dies before that, the log is diagnosed. " +
			"Ctrl-C stops the server and memwall.",
		Example: "memwall run unsloth/Qwen3-8B-GGUF:Q4_K_M\nmemwall run ./model.gguf --ctx 32k --port 9000\nmemwall run qwen3-8b --engine vllm --kv fp8 --dry-run",
		RunE: func(c *cobra.Command, args []string) error {
			a.asking = "fit"
			r, _, err := a.requestFor("run", c, f, args)
			if err != nil {
				return err
			}
			p.Request = *r
			return runPlan(a, p)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "fit")
	flags.SetNormalizeFunc(func(set *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "dry-run" { // not llama.cpp's, which is --llama-dry-run
			return "dry-run"
		}
		return fieldNames(set, name)
	})
	flags.StringVar(&f.from, "from", "", fromUsage)
	group(flags.Lookup("from"), groupWhat)
	flags.IntVar(&p.Port, "port", 0, "port to listen on; default: the engine's usual one")
	flags.StringVar(&p.Log, "log", "", "file for the server's output; default: a temporary file")
	flags.DurationVar(&p.Patience, "wait", time.Hour, "how long the model may take to load, or to download")
	flags.BoolVar(&p.Download, "download", false, "download the model first, into the hub's cache: verified by checksum, resumed after an interruption")
	flags.BoolVar(&p.Once, "once", false, "stop the server after the comparison")
	flags.BoolVar(&p.Anyway, "anyway", false, "start a plan that does not fit")
	flags.BoolVar(&p.Dry, "dry-run", false, "print the command and start nothing")
	grouped(flags, groupOutput, "port", "log", "wait", "download", "once", "anyway", "dry-run")
	complete(c)
	return c
}

func runPlan(a *app, p *run.Plan) error {
	p.Asker, p.Request.Ask, p.Say, p.Get, p.Terminal = &a.asker, "fit", a.Stderr, a.Download, a.ErrTerminal
	if path := a.rowsPath(); path != "" {
		p.Models = filepath.Join(filepath.Dir(path), "models")
	}
	p.Show = func(answer *memwall.Answer) error {
		return a.show(answer, func(st term.Style) string {
			if answer.Ask == "diagnose" {
				return render.Diagnose(answer, false, st)
			}
			return render.Compare(answer, false, st)
		})
	}
	ctx, stop := a.until()
	defer stop()
	s, err := p.Server(ctx)
	if err != nil {
		return err
	}
	if p.Dry {
		return a.print(safe.Text(s.Line(), "\n") + "\n")
	}
	if err = p.Serve(ctx, s); errors.Is(err, run.ErrDiagnosed) {
		return verdictError(unanswered)
	}
	return err
}
