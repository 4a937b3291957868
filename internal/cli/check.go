package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall/internal/check"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/source/regular"
)

// checkFlags holds the flags of check.
type checkFlags struct{ base, format string }

// checkCommand returns the command that judges the plans listed in a repository.
func checkCommand(a *app) *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use: "check [FILE]", Short: "check the plans in a repository's memwall.yaml: which keep their bounds, and what changed",
		Long: "FILE lists plans: a command or a manifest (from), the files of a training run, or a model with fields (set), each with its requirements: " +
			"fits, headroom, needs, users, ttft, tpot, days, dollars. Without FILE it is memwall.yaml. --base is the JSON of an earlier run, or a git revision at which the same files are read. " +
			"Exit code 3: a requirement does not hold; 1: unknown, or no answer.",
		Example: "memwall check\nmemwall check deploy/memwall.yaml --base origin/main --format markdown\nmemwall check --json > before.json",
		RunE: func(_ *cobra.Command, args []string) error {
			a.asking = "check"
			if len(args) > 1 {
				return usage("argument", args[1], fmt.Sprintf("check takes one FILE, and %q was given too", args[1]), "memwall check memwall.yaml")
			}
			return runCheck(a, f, append(args, check.Name)[0])
		},
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&f.base, "base", "", "compare with the JSON of an earlier run, or with a git revision")
	c.Flags().StringVar(&f.format, "format", "text", "output format: "+strings.Join(check.Formats(), ", "))
	grouped(c.Flags(), groupOutput, "base", "format")
	completeWith(c, map[string]func() []string{"format": check.Formats})
	return c
}

func runCheck(a *app, f *checkFlags, name string) error {
	if err := oneOf(f.format, check.Formats()); err != nil {
		return usage("format", f.format, "--format: "+err.Error(), "--format markdown")
	}
	run, err := (&check.Checker{Asker: a.asker, File: func(n string) ([]byte, error) { return readOf(a, n) }}).Check(name)
	if err != nil {
		return check.Named(name, err)
	}
	if f.base != "" {
		base, err := check.Base(&a.asker, f.base, name, a.open)
		if err != nil {
			return err
		}
		run.Since(base, f.base)
	}
	if err := writeCheck(a, f.format, run); err != nil {
		return err
	}
	switch run.Outcome {
	case check.Holds:
		return nil
	case check.Fails:
		return verdictError(doesNotFit)
	}
	return verdictError(unanswered)
}

// writeCheck writes a run in a format.
func writeCheck(a *app, format string, run *check.Run) error {
	if a.json {
		format = "json"
	}
	var text []byte
	var err error
	switch format {
	case "json":
		return writeJSON(a.Stdout, run, true)
	case "markdown":
		text = run.Markdown()
	case "sarif":
		text, err = run.SARIF()
	case "junit":
		text, err = run.JUnit()
	default:
		text = []byte(render.Check(run, a.style()))
	}
	if err != nil {
		return err
	}
	return a.print(strings.TrimRight(string(text), "\n") + "\n")
}

// readOf reads a small file.
func readOf(a *app, name string) ([]byte, error) {
	text, err := a.readShort(name)
	return text, regular.Cause(err)
}
