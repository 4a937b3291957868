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

// Config is what a command works with.
type Config struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
	// Terminal and ErrTerminal: stdout and stderr are terminals. Columns is the terminal's width, 0 when
	// unknown.
	Terminal, ErrTerminal bool
	// Keyboard: stdin is a terminal.
	Keyboard bool
	Columns  int
	Models   memwall.ModelSource
	// Within gives the models of a folder and of the catalog, and no others; nil: no folder is opened to clients.
	Within      func(root string) (memwall.ModelSource, error)
	Data        memwall.LengthSource // nil: files of sample lengths are refused
	Machine     Machine              // nil: this machine is not known
	Measure     Measure              // nil: it is not measured
	FromCommand FromCommand          // nil: --from is refused
	Cache       Cache                // nil: nothing is kept
	WriteFile   func(name string, data []byte) error
	OpenFile    func(name string) (io.ReadCloser, error)
	CreateFile  func(name string) (File, error)
	MakeFolder  func(name string) error
	Traces      memwall.TraceSource // nil: recordings are refused
	// Download brings the files of a model to this machine and gives its path; nil: nothing is downloaded.
	Download func(ctx context.Context, ref string, d remote.Downloading) (string, error)
	// Server asks a running inference server what it publishes; nil: none is asked.
	Server Server
	// Now is the time; nil is the clock's.
	Now func() time.Time
	// Weights opens the tensors of a file or a folder; nil: weights are not read.
	Weights func(name string) (*quant.Model, io.Closer, error)
	// Statistics reads what an importance matrix and a file of activations tell of inputs.
	Statistics func(importance, activations string) (*quant.Statistics, io.Closer, error)
	// Watching gives the ports of a watch; nil: there is nothing to watch.
	Watching func() watch.Ports
	// Self runs this program once more; nil: a server answers long questions in its own process.
	Self func(args ...string) *exec.Cmd
	// Farm hands over to memwall-farm; the error says where it may be had.
	Farm func(args ...string) error
	// Interruptible gives a context that the user may end; nil: no answer ends early.
	Interruptible func() (context.Context, context.CancelFunc)
}

// Machine looks at what the program runs on: in words that --on takes, with what others hold of it.
type Machine interface {
	Look() *card.Local
}

// Measure finds how fast the processors of a machine read memory and compute.
type Measure func(context.Context, *card.Local) *card.Measured

// Server asks the inference server at an address, with a token where one is given, and watches it for a while.
type Server func(ctx context.Context, address, token string, watch time.Duration) (*memwall.StartupLog, error)

// Exit codes.
const (
	answered   = 0
	unanswered = 1
	badUsage   = 2
	doesNotFit = 3
)

// app is a run of the program.
type app struct {
	Config
	asker memwall.Asker
	// asking is the question that is being answered, when it is one.
	asking string
	json   bool
	ascii  bool
	link   bool
}

// Run runs one command and gives its exit code.
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

// Commands is the tree of commands, for manuals and completions that are made of it; it runs nothing.
func Commands() *cobra.Command { return (&app{Config: Config{}.filled()}).root() }

// spelt are the arguments, --version as the command that it is here.
func spelt(args []string) []string {
	if len(args) > 0 && (args[0] == "--version" || args[0] == "-V" || args[0] == "-v") {
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// filled gives a Config whose parts are all there.
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

// broken is the end of a run that met a fault of the program itself.
func (a *app) broken(fault any) int {
	fmt.Fprintf(a.Stderr, "error: memwall itself failed: %v\n  fix: this is a bug; report it with the command that you gave\n", fault)
	if a.Env("MEMWALL_TRACE") != "" {
		fmt.Fprintf(a.Stderr, "%s", debug.Stack())
	}
	return unanswered
}

// root is the tree of commands.
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

// writeJSON writes a value on one line, or indented for people.
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

// style is how stdout is drawn.
func (a *app) style() term.Style { return a.styleOf(a.Terminal) }
