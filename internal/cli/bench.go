package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/bench"
	"github.com/memwall/memwall/internal/live"
	"github.com/memwall/memwall/internal/render/cards"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/source/regular"
)

// benchCommand returns the command that measures a running server and compares it with the prediction.
func benchCommand(a *app) *cobra.Command {
	f, asked, out := &compareFlags{}, &bench.Asked{}, ""
	c := &cobra.Command{
		Use: "bench ADDRESS", Short: "measure a running server: TTFT, TPOT and tokens a second by users, compared with the prediction",
		Long: "ADDRESS is a server with the OpenAI completions API: vLLM, SGLang, TensorRT-LLM, llama-server, TGI, Ollama. " +
			"Each user sends a request as soon as the last is answered; prompts are random words, so that no prefix cache helps. " +
			"The plan comes from the server; give what it does not report as flags, such as --on. --out saves the measurements for memwall calibrate.",
		Example: "memwall bench http://localhost:8000\nmemwall bench http://localhost:8000 --users 1,8,64 --prompt 2k --output 256\nmemwall bench http://localhost:8080 --on rtx-4090 --out bench.json && memwall calibrate bench.json",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !isAddress(args[0]) {
				return usage("address", strings.Join(args, " "), "bench takes the ADDRESS of one server", "memwall bench http://localhost:8000")
			}
			return runBench(a, f, asked, args[0], out)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.request.Model, "model", "", "the model, if the server does not report a catalog model")
	flags.StringVar(&f.request.Hardware, "on", "", "the server's devices; default: what it reports, or this machine")
	flags.StringVar(&f.request.Weights, "weights", "", "format of the weights, if the server does not report it")
	flags.StringVar(&f.request.Engine, "engine", "", "the engine, if memwall does not recognise the server")
	grouped(flags, groupWhat, "model", "on", "weights", "engine")
	flags.StringVar(&asked.Users, "users", "1,2,4,8,16", "numbers of concurrent users to measure")
	flags.StringVar(&asked.Prompt, "prompt", "512", "tokens per prompt")
	flags.StringVar(&asked.Output, "output", "128", "tokens per answer")
	flags.IntVar(&asked.Requests, "requests", 4, "requests per user at each number of users")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the server's token; or MEMWALL_SERVER_TOKEN")
	flags.StringVar(&out, "out", "", "file for the measurements, which memwall calibrate reads")
	group(flags.Lookup("out"), groupOutput)
	return c
}

// runBench asks the server what it runs, measures level by level, and shows what was measured even after an interrupt.
func runBench(a *app, f *compareFlags, asked *bench.Asked, address, out string) error {
	levels, load, err := asked.Read()
	if err != nil {
		return err
	}
	base, err := live.Base(address)
	if err != nil {
		return serverError(err)
	}
	answer, err := a.compareServer(f, base)
	if err != nil && memwall.AsError(err).Code == memwall.Unsupported {
		answer, err = bench.PlanOfFlags(&f.request, a.asker.Ask)
	}
	if err != nil {
		return err
	}
	token, err := a.serverToken(f.tokenFile)
	if err != nil {
		return err
	}
	ctx, stop := a.until()
	defer stop()
	r := bench.NewReport(base, load, answer)
	if err := r.Measure(ctx, &bench.Server{Address: base, Token: token}, levels, func(users int64, took time.Duration) {
		if a.ErrTerminal {
			fmt.Fprintf(a.Stderr, "%s: %s\n", term.Users(users), took.Round(time.Second))
		}
	}); err != nil {
		return err
	}
	r.Predict(answer, a.asker.Ask)
	if r.Written = out; out != "" {
		if err := r.Write(out, a.WriteFile); err != nil {
			return &memwall.Error{Code: memwall.BadFile, Field: "out", Value: out, Message: fmt.Sprintf("%s cannot be written: %v", out, regular.Cause(err)), Hint: "--out FILE in a folder that exists"}
		}
	}
	return a.show(r, func(st term.Style) string { return cards.Bench(r, st) })
}
