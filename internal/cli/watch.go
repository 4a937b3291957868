package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/watch"
)

// watchFlags holds the flags of watch that are not request fields.
type watchFlags struct {
	fitFlags
	once     bool
	interval time.Duration
	pid      int
	pages    []string
	count    int
	record   string
	report   string
	replay   string
}

// Bounds of --interval.
const (
	leastInterval = 100 * time.Millisecond
	mostInterval  = time.Hour
)

func (a *app) watch() *cobra.Command {
	f := &watchFlags{}
	c := &cobra.Command{
		Use: "watch [MODEL]", Short: "a running engine: what it holds, compared with the prediction",
		Long: "Finds vLLM, SGLang, TensorRT-LLM, llama-server, Ollama and TGI among the processes, reads their command lines into plans and their metrics from this machine, " +
			"and compares what devices and processes hold with the plan's ledger. Give what a command line does not say as MODEL and flags. Keys and tokens in command lines are redacted.",
		Example: "memwall watch\nmemwall watch --once --json\nmemwall watch llama-3.1-8b --on h100 --metrics http://10.0.0.7:8000/metrics\nmemwall watch --record day.jsonl\nmemwall watch --report day.jsonl",
		RunE:    func(c *cobra.Command, args []string) error { return a.runWatch(c, f, args) },
	}
	flags := c.Flags()
	flags.SortFlags = false
	requestFlags(flags, &f.request, "fit")
	flags.IntVar(&f.pid, "pid", 0, "the engine's process id, if several run or none is recognised")
	flags.StringArrayVar(&f.pages, "metrics", nil, "address of a metrics page, http or https; for Ollama its /api/ps")
	grouped(flags, groupWhat, "pid", "metrics")
	flags.BoolVar(&f.once, "once", false, "print one reading and exit")
	flags.DurationVar(&f.interval, "interval", time.Second, "time between two readings")
	flags.IntVar(&f.count, "count", 0, "stop after this many readings")
	flags.StringVar(&f.record, "record", "", "also append all readings to a JSON Lines file, new or from an earlier watch")
	flags.StringVar(&f.report, "report", "", "summarise a recording: peaks, means, drift, growth, predicted against measured")
	flags.StringVar(&f.replay, "replay", "", "replay a recording; with --once its last reading")
	flags.StringVar(&f.explain, "explain", "", "the predicted ledger, and the command line it was read from")
	flags.Lookup("explain").NoOptDefVal = render.All
	flags.BoolVar(&f.notes, "notes", false, "all notes")
	grouped(flags, groupOutput, "once", "interval", "count", "record", "report", "replay", "explain", "notes")
	complete(c)
	return c
}

func (a *app) runWatch(c *cobra.Command, f *watchFlags, args []string) error {
	a.asking = "watch"
	if err := f.check(args); err != nil {
		return err
	}
	switch {
	case f.report != "":
		return a.watchReport(f)
	case f.replay != "":
		return a.watchReplay(f)
	case a.Watching == nil:
		return usage("watch", "", "nothing can be watched here", "run it on the machine of the engine")
	}
	x := &watching{a: a, f: f}
	if err := x.record(f.record); err != nil {
		return err
	}
	ctx, stop := a.until()
	defer stop()
	x.w = watch.New(ctx, a.ports(), watch.Options{Interval: f.streamed(), PID: f.pid, Pages: f.pages, Settle: f.settle(c, args)})
	defer x.w.Close()
	return x.run(ctx)
}

// check rejects incompatible flags.
func (f *watchFlags) check(args []string) error {
	switch {
	case len(args) > 1:
		return usage("argument", args[1], fmt.Sprintf("watch takes one MODEL, and %q was given too", args[1]), "quote a name that has spaces")
	case f.interval < leastInterval || f.interval > mostInterval:
		return usage("interval", f.interval.String(), fmt.Sprintf("--interval %s is not between %s and %s", f.interval, leastInterval, mostInterval), "--interval 1s")
	case f.pid < 0 || f.count < 0:
		return usage("pid", "", "--pid and --count must not be negative", "--pid 4711")
	case f.report != "" && (f.record != "" || f.replay != "") || f.record != "" && f.replay != "":
		return usage("report", "", "--record, --report and --replay are one at a time", "memwall watch --report FILE")
	case len(f.pages) > 8:
		return usage("metrics", "", "more than 8 pages are not read", "one --metrics for each engine")
	}
	for _, p := range f.pages {
		if err := watch.Checked(p); err != nil {
			return usage("metrics", "", "--metrics: "+err.Error(), "--metrics http://127.0.0.1:8000/metrics")
		}
	}
	return nil
}

// streamed returns the interval for continuing programs; a single picture needs none.
func (f *watchFlags) streamed() time.Duration {
	if f.once {
		return 0
	}
	return f.interval
}

// settle returns a function that overlays what was given on what was read; nil if nothing was given.
func (f *watchFlags) settle(c *cobra.Command, args []string) func(*memwall.Request) *memwall.Request {
	given := len(args) > 0
	for _, field := range memwall.Fields() {
		given = given || field.Flag != "" && c.Flags().Changed(field.Flag)
	}
	if !given {
		return nil
	}
	return func(read *memwall.Request) *memwall.Request {
		r := &memwall.Request{}
		if read != nil {
			*r = *read
		}
		overlay(c.Flags(), &f.request, r)
		if len(args) > 0 {
			standsFor(r)
			r.Model = args[0]
		}
		return r
	}
}

func (a *app) ports() watch.Ports {
	p := a.Watching()
	if p.Read = a.FromCommand; p.Now == nil {
		p.Now = a.Now
	}
	asker := a.asker
	p.Ask = asker.Ask
	return p
}
