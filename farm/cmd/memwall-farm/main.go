// Command memwall-farm answers studies, many questions at once, on one machine or on as many as there are. It is a program
// of its own, so that memwall does not carry what only studies need (docs/decisions/0022-studies-on-many-machines.md).
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/farm"
	"github.com/memwall/memwall/internal/render"
	"github.com/memwall/memwall/internal/study"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/internal/tty"
	"github.com/memwall/memwall/safe"
)

func main() { os.Exit(run()) }

// Exit codes, as those of memwall.
const (
	answered   = 0
	unanswered = 1
	badUsage   = 2
)

// app is a run of the program.
type app struct {
	out, err io.Writer
	env      func(string) string
	// live: stderr is a terminal.
	live bool
	json bool
	mu   sync.Mutex // of err
	line bool       // a line of progress stands on it
}

// run the command that the arguments name.
func run() int {
	a := &app{out: os.Stdout, err: os.Stderr, env: os.Getenv, live: tty.Is(os.Stderr)}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second interrupt ends the program as usual
	root := a.root()
	root.SetArgs(os.Args[1:])
	root.SetOut(a.out)
	root.SetErr(a.err)
	return a.exit(root.ExecuteContext(ctx))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "memwall-farm", Short: "many questions of memwall at once, on as many machines as there are", SilenceErrors: true,
		SilenceUsage: true,
		Long: "A study lists models, hardware, fields of a plan, workloads, goals and seeds; each way of taking one of every list is a " +
			"question.\nWithout --nats a sweep has a server of its own in its process, and needs nothing else.",
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().BoolVar(&a.json, "json", false, "JSON on stdout")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return bad("flag", "", err.Error(), c.CommandPath()+" --help")
	})
	root.AddCommand(a.sweep(), a.work(), a.report(), a.serve(), a.status(), a.cancel(), a.store(), a.schema(), a.version())
	return root
}

func bad(field, value, message, hint string) error {
	return &memwall.Error{Code: memwall.BadField, Field: field, Value: value, Message: message, Hint: hint}
}

// exit says what went wrong and gives the exit code.
func (a *app) exit(err error) int {
	if err == nil {
		return answered
	}
	e := &memwall.Error{Code: memwall.Internal, Message: err.Error()}
	var known *memwall.Error
	if errors.As(err, &known) {
		e = known
	} else if message := err.Error(); len(message) > 7 && message[:7] == "unknown" || errors.Is(err, errUsage) {
		e = &memwall.Error{Code: memwall.BadField, Message: message, Hint: "memwall-farm --help"}
	}
	if a.json {
		_ = a.print(map[string]any{"error": e})
	} else {
		a.clear()
		var f *study.Fault
		io.WriteString(a.err, render.Error(e, a.style()))
		if errors.As(err, &f) {
			io.WriteString(a.err, f.Excerpt())
		}
	}
	if e.Code == memwall.BadField {
		return badUsage
	}
	return unanswered
}

var errUsage = errors.New("usage")

// one argument of a command.
func one(what, example string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return bad("argument", "", fmt.Sprintf("%s takes %s, and %d arguments were given", c.CommandPath(), what, len(args)), example)
		}
		return nil
	}
}

func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return bad("argument", args[0], fmt.Sprintf("%s takes no argument, and %q was given", c.CommandPath(), args[0]),
			c.CommandPath()+" --help")
	}
	return nil
}

// print JSON. Letters that a terminal obeys stand in texts alone, where they are escaped.
func (a *app) print(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(safe.JSON(b.Bytes()))
	return err
}

// tell a line of the answer, with whatever names others gave in it.
func (a *app) tell(format string, args ...any) {
	fmt.Fprintln(a.out, term.Printable(fmt.Sprintf(format, args...), a.style()))
}

func (a *app) style() term.Style {
	width, err := strconv.Atoi(a.env("COLUMNS"))
	if err != nil {
		width = 80
	}
	return term.Style{Width: width, ASCII: a.env("TERM") == "dumb"}
}

// say something on stderr, where no line of progress is in its way.
func (a *app) say(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clearLine()
	fmt.Fprintln(a.err, term.Printable(s, a.style()))
}

// show a line of progress in place of the last.
func (a *app) show(s string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprint(a.err, "\r\x1b[K"+term.Printable(s, a.style()))
	a.line = true
}

func (a *app) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clearLine()
}

func (a *app) clearLine() {
	if a.line {
		fmt.Fprint(a.err, "\r\x1b[K")
	}
	a.line = false
}

// places are the flags of where servers are.
type places struct {
	servers farm.Servers
	set     farm.Settings
}

func (p *places) flags(c *cobra.Command, a *app) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&p.servers.URLs, "nats", "", "servers of a cluster: nats://a,b,c")
	f.StringVar(&p.servers.Creds, "creds", "", "file of NATS credentials")
	f.StringVar(&p.servers.CA, "tls-ca", "", "file of the authority that the servers' certificates are of")
	f.StringVar(&p.servers.Cert, "tls-cert", "", "file of our own certificate")
	f.StringVar(&p.servers.Key, "tls-key", "", "file of its key")
	f.DurationVar(&p.servers.Patience, "patience", 30*time.Second, "how long servers that cannot be reached are tried again")
	p.servers.Token = a.env("MEMWALL_FARM_TOKEN")
}

// settings are what the first who opens a farm decides.
func (p *places) settings(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&p.set.Replicas, "replicas", 0, "servers that keep a copy of everything: 3 on a cluster, where nothing is said")
	f.DurationVar(&p.set.AckWait, "silence", 15*time.Second, "after what silence of its worker a task is given to another")
	f.IntVar(&p.set.MaxDeliver, "deliveries", 8, "how often a task is given out before it counts as dead")
	f.Int64Var(&p.set.Queued, "queued", 100_000, "most tasks that wait at a time")
	f.Int64Var(&p.set.MaxBytes, "max-bytes", 0, "bytes of results that the servers keep; 0: as many as there is room for")
}

// join a farm of somebody else's servers.
func (p *places) join(ctx context.Context, a *app) (*farm.Farm, func(), error) {
	if p.servers.URLs == "" {
		return nil, nil, bad("nats", "", "--nats is missing", "--nats nats://HOST:4222 of the servers, or of a sweep with --listen")
	}
	conn, err := farm.Connect(ctx, &p.servers, a.say)
	if err != nil {
		return nil, nil, err
	}
	ready, stop := context.WithTimeout(ctx, p.servers.Patience)
	defer stop()
	f, err := farm.Open(ready, conn, p.set, a.say)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return f, conn.Close, nil
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "the versions of program and tables", Args: none,
		RunE: func(*cobra.Command, []string) error {
			tables, err := farm.Tables()
			if err != nil {
				return err
			}
			if !a.json {
				fmt.Fprintf(a.out, "memwall-farm %s, tables %s, %s %s/%s\n", memwall.Version, tables, runtime.Version(), runtime.GOOS,
					runtime.GOARCH)
				return nil
			}
			return a.print(map[string]string{"version": memwall.Version, "tables": tables, "go": runtime.Version(),
				"system": runtime.GOOS + "/" + runtime.GOARCH})
		}}
}
