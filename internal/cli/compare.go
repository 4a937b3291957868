package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
)

// compare reads an engine's start-up log and sets its figures beside memwall's.
func (a *app) compare() *cobra.Command {
	var r memwall.Request
	var notes bool
	c := &cobra.Command{
		Use: "compare [LOG]", Short: "an engine's start-up log, line by line against memwall",
		Long: "LOG is the start-up log of vLLM, SGLang or llama.cpp; without it, or with -, standard input is read. " +
			"The request is rebuilt from the log; flags say what the log does not, such as --on or --weights.",
		Example: "memwall compare server.log\nllama-server … 2>&1 | memwall compare\nmemwall compare vllm.log --on 2xh100 --model llama-3.1-70b",
		RunE: func(c *cobra.Command, args []string) error {
			a.asking = "compare"
			if len(args) > 1 {
				return usage("argument", args[1], fmt.Sprintf("compare takes one LOG, and %q was given beside it", args[1]), "quote a name that has spaces")
			}
			log, err := a.log(args)
			if err != nil {
				return err
			}
			defer log.Close()
			answer, err := a.asker.Compare(log, r)
			if err != nil {
				return err
			}
			return a.show(answer, func(st render.Style) string { return render.Compare(answer, notes, st) })
		},
	}
	c.Flags().SortFlags = false
	requestFlags(c.Flags(), &r, "fit")
	c.Flags().StringVar(&r.Model, "model", "", "the model, when the log does not name one of the catalog")
	c.Flags().BoolVar(&notes, "notes", false, "all notes")
	complete(c)
	return c
}

// log opens the file that is named, or standard input.
func (a *app) log(args []string) (io.ReadCloser, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	f, err := a.open(args[0])
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "log", Value: args[0], Message: fmt.Sprintf("%s cannot be read: %v", args[0], plainError(err)), Hint: "the file that the engine's start-up was written to, or - for standard input"}
	}
	return f, nil
}

// open opens a file, or standard input for -.
func (a *app) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.Stdin), nil
	}
	return a.OpenFile(name)
}

// plainError leaves out the path that an error of a file repeats.
func plainError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
