// Package cli is the command line: it parses arguments, asks questions and renders answers. All access to the outside
// comes in a Config, so that tests run whole commands in-process.
//
// See fit.go for the main command; flags.go derives its flags from the table of request fields, help.go renders help,
// and errors.go chooses the exit code: 0 answered, 1 could not answer, 2 bad usage.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/term"
	"github.com/memwall/memwall/internal/watch"
	"github.com/memwall/memwall/quant"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/source/remote"
)

// Config is the environment of a command.
type Config struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
	// Terminal and ErrTerminal report whether stdout and stderr are terminals. Columns is the terminal's width; 0 if unknown.
	Terminal, ErrTerminal bool
	// Keyboard reports whether stdin is a terminal.
	Keyboard bool
	Columns  int
	Models   memwall.ModelSource
	// Within returns a source of only the models in a folder and the catalog; nil opens no folder to clients.
	Within      func(root string) (memwall.ModelSource, error)
	Data        memwall.LengthSource // nil rejects files of sample lengths
	Machine     Machine              // nil if this machine is unknown
	Measure     Measure              // nil if it cannot be measured
	FromCommand FromCommand          // nil rejects --from
	Cache       Cache                // nil if nothing is cached
	WriteFile   func(name string, data []byte) error
	OpenFile    func(name string) (io.ReadCloser, error)
	CreateFile  func(name string) (File, error)
	MakeFolder  func(name string) error
	Traces      memwall.TraceSource // nil rejects recordings
	// Download downloads the files of a model and returns their path; nil disables downloads.
	Download func(ctx context.Context, ref string, d remote.Downloading) (string, error)
	// Server queries what a running inference server publishes; nil disables it.
	Server Server
	// Now returns the time; nil uses the clock.
	Now func() time.Time
	// Weights opens the tensors of a file or a folder; nil disables it.
	Weights func(name string) (*quant.Model, io.Closer, error)
	// Statistics reads the input statistics of an importance matrix and an activations file.
	Statistics func(importance, activations string) (*quant.Statistics, io.Closer, error)
	// Watching returns the ports of a watch; nil if there is nothing to watch.
	Watching func() watch.Ports
	// Self returns a command that runs this program again; if nil, a server answers long questions in its own process.
	Self func(args ...string) *exec.Cmd
	// Farm runs memwall-farm; the error says where to get it.
	Farm func(args ...string) error
	// Interruptible returns a context that the user can cancel; if nil, no answer ends early.
	Interruptible func() (context.Context, context.CancelFunc)
}

// Machine detects the machine that the program runs on, in words that --on accepts, with the memory held by other processes.
type Machine interface {
	Look() *card.Local
}

// Measure measures the memory bandwidth and compute rates of a machine's processors.
type Measure func(context.Context, *card.Local) *card.Measured

// Server queries the inference server at an address, with a token if given, and watches it for a while.
type Server func(ctx context.Context, address, token string, watch time.Duration) (*memwall.StartupLog, error)

// Exit codes.
const (
	answered   = 0
	unanswered = 1
	badUsage   = 2
	doesNotFit = 3
)

// app is one run of the program.
type app struct {
	Config
	asker memwall.Asker
	// asking is the question being answered, if any.
	asking string
	json   bool
	ascii  bool
	link   bool
}

// Run runs one command and returns its exit code.
func Run(c Config) (code int) {
	a := &app{Config: c.filled(), asker: memwall.Asker{Models: c.Models, Data: c.Data, Traces: c.Traces}}
	defer func() {
		if r := recover(); r != nil {
			code = a.broken(r)
		}
	}()
	root := a.root()
	root.SetArgs(spelt(a.Args))
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	return a.exit(root.Execute())
}

// Commands returns the command tree for generating manuals and completions; it runs nothing.
func Commands() *cobra.Command { return (&app{Config: Config{}.filled()}).root() }

// spelt returns the arguments with --version replaced by the version command.
func spelt(args []string) []string {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-V" || args[0] == "-v") {
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// filled returns a Config with defaults for missing parts.
func (c Config) filled() Config {
	if c.Models == nil {
		c.Models = memwall.Catalog{}
	}
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	if c.WriteFile == nil {
		c.WriteFile = writeFile
	}
	if c.OpenFile == nil {
		c.OpenFile = func(name string) (io.ReadCloser, error) { return os.Open(name) }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.CreateFile == nil {
		c.CreateFile = createFile
	}
	if c.MakeFolder == nil {
		c.MakeFolder = makeFolder
	}
	if c.Args == nil {
		c.Args = []string{}
	}
	return c
}

// broken ends a run that hit an internal fault.
func (a *app) broken(fault any) int {
	fmt.Fprintf(a.Stderr, "error: memwall itself failed: %v\n  fix: this is a bug; report it with the command that you gave\n", fault)
	if a.Env("MEMWALL_TRACE") != "" {
		fmt.Fprintf(a.Stderr, "%s", debug.Stack())
	}
	return unanswered
}

// root returns the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use: "memwall", Short: "whether an LLM fits, where every byte goes, how fast it runs and what to change",
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "the answer as JSON")
	root.PersistentFlags().BoolVar(&a.ascii, "ascii", false, "ASCII characters only")
	root.PersistentFlags().BoolVar(&a.link, "link", false, "also print the address of the answer's page, on memwall serve or the site in MEMWALL_SITE")
	grouped(root.PersistentFlags(), groupOutput, "json", "ascii", "link")
	version := root.Flags().Bool("version", false, "print the versions of memwall and its JSON schema")
	group(root.Flags().Lookup("version"), groupOutput)
	root.RunE = func(c *cobra.Command, args []string) error {
		if *version {
			return a.version().RunE(c, args)
		}
		return a.welcome(c, args)
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(a.help)
	root.SetUsageFunc(func(c *cobra.Command) error { a.help(c, nil); return nil })
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(a.fit(), a.plan(), a.pick(), packCommand(a), a.train(), a.sim(), autoscaleCommand(a), a.diff(), a.models(), a.hardware(), a.formats(), a.compare(), runCommand(a), benchCommand(a), rowsCommand(a), storeCommand(a), snapshotCommand(a), checkCommand(a), a.diagnose(), a.watch(), a.learn(), a.calibrate(), a.quant(), a.validate(), a.batch(), a.serve(), admitCommand(a), a.mcp(), a.cache(), a.schema(), a.version())
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(&cobra.Command{Use: "help [COMMAND]", Short: "help about a command", Hidden: true, RunE: func(c *cobra.Command, args []string) error {
		of, _, err := root.Find(args)
		if err != nil || of == root && len(args) > 0 {
			return a.unknownCommand(root, args[0])
		}
		a.help(of, nil)
		return nil
	}})
	return root
}

// writeJSON writes a value on one line, or indented.
func writeJSON(w io.Writer, v any, indent bool) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(safe.JSON(b.Bytes()))
	return err
}

func (a *app) print(s string) error {
	_, err := io.WriteString(a.Stdout, s)
	return err
}

// style returns the style of stdout.
func (a *app) style() term.Style { return a.styleOf(a.Terminal) }
