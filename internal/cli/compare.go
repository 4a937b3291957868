package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/live"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/source/regular"
)

// compareFlags holds the flags of compare.
type compareFlags struct {
	request   memwall.Request
	notes     bool
	train     bool
	watch     time.Duration
	tokenFile string
	share     sharing
}

// compare returns the command that compares an engine's own figures with the prediction.
func (a *app) compare() *cobra.Command {
	f := &compareFlags{}
	c := &cobra.Command{
		Use: "compare [FILE|ADDRESS]", Short: "an engine's own figures (log, trace, server) against memwall's, line by line",
		Long: "FILE is the start-up log of vLLM, SGLang or llama.cpp, a trace of torch.profiler (.json, .json.gz), " +
			"or the output of torch.cuda.memory_summary() or memory_stats(); " +
			"without it, or with -, standard input is read. " +
			"ADDRESS is a running vLLM, SGLang, TensorRT-LLM, llama-server, TGI or Ollama. " +
			"The request is rebuilt from what they report; give the rest as flags, such as --on or --weights, and for a trace the run it is from.",
		Example: "memwall compare server.log\nmemwall compare http://localhost:8000 --for 10s\n" +
			"memwall compare vllm.log --on 2xh100 --model llama-3.1-70b\n" +
			"memwall compare server.log --share\nmemwall compare trace.json.gz --model llama-3.1-8b --train --seq 4k",
		RunE: func(_ *cobra.Command, args []string) error {
			a.asking = "compare"
			if len(args) > 1 {
				return usage("argument", args[1], fmt.Sprintf("compare takes one FILE, and %q was given too", args[1]), "quote a name that has spaces")
			}
			if f.train {
				f.request.Ask = "train"
			}
			answer, err := a.compared(f, args)
			if err != nil {
				return err
			}
			if f.share.as != "" {
				return a.share(&f.share, f.request.Model, answer)
			}
			return a.show(answer, func(st term.Style) string { return render.Compare(answer, f.notes, st) })
		},
	}
	c.Flags().SortFlags = false
	requestFlags(c.Flags(), &f.request, "fit", "train")
	c.Flags().StringVar(&f.request.Model, "model", "", "the model, if the log or the server does not name a catalog model")
	c.Flags().BoolVar(&f.train, "train", false, "the trace or torch's counters are from a training run")
	c.Flags().DurationVar(&f.watch, "for", 0, "watch a running server for this long, and compare its speed at that load")
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file with a running server's token; or MEMWALL_SERVER_TOKEN")
	c.Flags().BoolVar(&f.notes, "notes", false, "all notes")
	complete(c)
	f.share.flags(c)
	return c
}

// compared queries a server or reads a file.
func (a *app) compared(f *compareFlags, args []string) (*memwall.Answer, error) {
	if len(args) == 1 && isAddress(args[0]) {
		return a.compareServer(f, args[0])
	}
	log, err := a.log(args)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return a.asker.Compare(log, f.request)
}

func isAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// compareServer queries a running server; one at a local address runs on this machine.
func (a *app) compareServer(f *compareFlags, address string) (*memwall.Answer, error) {
	if a.Server == nil {
		return nil, &memwall.Error{Code: memwall.Unsupported, Field: "server", Message: "no server is asked here", Hint: "give its start-up log"}
	}
	token, err := a.serverToken(f.tokenFile)
	if err != nil {
		return nil, err
	}
	ctx, stop := a.until()
	defer stop()
	log, err := a.Server(ctx, address, token, f.watch)
	if err != nil {
		return nil, serverError(err)
	}
	var notes []memwall.Note
	if f.request.Hardware == "local" || f.request.Hardware == "" && live.Local(address) {
		if notes, err = a.fillLocal(&f.request, true); err != nil {
			return nil, err
		}
	}
	answer, err := a.asker.CompareFound(log, f.request)
	if err == nil {
		answer.Notes = append(notes, answer.Notes...)
	}
	return answer, err
}

// serverToken returns the token from a file, else from the environment.
func (a *app) serverToken(file string) (string, error) {
	if file == "" {
		return strings.TrimSpace(a.Env("MEMWALL_SERVER_TOKEN")), nil
	}
	r, err := a.open(file)
	if err != nil {
		return "", &memwall.Error{Code: memwall.BadFile, Field: "token-file", Value: file, Message: fmt.Sprintf("%s cannot be read: %v", file, regular.Cause(err)), Hint: "a file that holds the token alone"}
	}
	defer r.Close()
	const longest = 16 << 10
	text, err := io.ReadAll(io.LimitReader(r, longest))
	token := strings.TrimSpace(string(text))
	if err != nil || token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", &memwall.Error{Code: memwall.BadFile, Field: "token-file", Value: file, Message: file + " does not hold a token", Hint: "a file that holds the token alone, on one line"}
	}
	return token, nil
}

func serverError(err error) error {
	e, ok := errors.AsType[*live.Error](err)
	if !ok {
		return err
	}
	return &memwall.Error{Code: e.Code(), Field: "server", Value: e.Address, Message: e.Error(), Hint: e.Fix}
}

// log opens the named file or standard input.
func (a *app) log(args []string) (io.ReadCloser, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	f, err := a.open(args[0])
	if err != nil {
		return nil, &memwall.Error{Code: memwall.BadFile, Field: "log", Value: args[0], Message: fmt.Sprintf("%s cannot be read: %v", args[0], regular.Cause(err)), Hint: "the file that the engine's start-up was written to, or - for standard input"}
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
