package cli_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/card"
	"github.com/memwall/memwall/internal/cli"
	"github.com/memwall/memwall/internal/detect"
	"github.com/memwall/memwall/internal/heaptest"
	"github.com/memwall/memwall/internal/live"
	"github.com/memwall/memwall/internal/watch"
	"github.com/memwall/memwall/source"
	"github.com/memwall/memwall/source/remote"
	"github.com/memwall/memwall/unit"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"memwall": func() { os.Exit(run()) }, "llama-server": fakeEngine, "vllm": fakeEngine, "ollama": fakeOllama, "lms": fakeStudio})
}

// run is the program with a machine, a terminal and a reader of command lines that scripts choose by
// environment variables.
func run() int {
	c := cli.Config{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv, Models: source.New(source.Options{}), Within: within, Data: source.Lengths{}, Traces: &source.Traces{Stdin: os.Stdin}, Weights: source.OpenWeights, Statistics: source.OpenStatistics}
	if os.Getenv("TEST_REMOTE") != "" {
		kept := remote.CacheHere(os.Getenv)
		far := remote.Here(kept)
		c.Models, c.Download = source.New(source.Options{Remote: far}), far.Download
		if kept != nil {
			c.Cache = kept
		}
	}
	c.Terminal = os.Getenv("TEST_TERMINAL") != ""
	c.ErrTerminal = c.Terminal
	c.Columns, _ = strconv.Atoi(os.Getenv("TEST_TERMINAL"))
	if words := os.Getenv("TEST_MACHINE"); words != "" {
		c.Machine, c.Measure = machine(words), measured
	}
	switch os.Getenv("TEST_FROM") {
	case "":
	case "engines":
		c.FromCommand = memwall.FromCommand
	default:
		c.FromCommand = toyCommand
	}
	c.Server = func(ctx context.Context, address, token string, watch time.Duration) (*memwall.StartupLog, error) {
		return live.Ask(ctx, address, live.Options{Token: token, For: watch, Every: 10 * time.Millisecond})
	}
	if root := os.Getenv("TEST_ROOT"); root != "" {
		c.Watching, c.Now = func() watch.Ports { return watched(root) }, nil
	}
	if os.Getenv("TEST_FAULT") != "" {
		c.Models = broken{}
	}
	return cli.Run(c)
}

// within gives the models of a folder.
func within(root string) (memwall.ModelSource, error) {
	if _, err := os.Stat(root); err != nil {
		return nil, err
	}
	return source.New(source.Options{Root: root}), nil
}

type machine string

// Look gives words, and behind a bar what others hold of a device and how that is said.
func (m machine) Look() *card.Local {
	words, held, busy := strings.Cut(string(m), "|")
	if words == "unknown" {
		return &card.Local{Notes: []string{"nothing is seen"}}
	}
	_, host, _ := strings.Cut(words, ",host=")
	l := &card.Local{Words: words, Idle: words, Processor: &card.Processor{Name: "a processor"}}
	if host != "" {
		l.CPUWords, l.IdleCPU = "cpu,host="+host, "cpu,host="+host
	}
	if busy {
		size, text, _ := strings.Cut(held, " ")
		l.Reserved, _ = unit.ParseBytes(size)
		l.InUse = text
	}
	return l
}

// watched is a machine whose files lie under a folder, whose programs are those of PATH, and whose pages are files of
// www/HOST/PATH; with TEST_PAGES=http those of servers, by the clock.
func watched(root string) watch.Ports {
	m := detect.Here()
	m.OS, m.Files = "linux", os.DirFS(root)
	page := func(_ context.Context, address string, _ int64) ([]byte, error) {
		_, name, _ := strings.Cut(address, "://")
		text, err := os.ReadFile(filepath.Join(root, "www", strings.ReplaceAll(name, ":", "_")))
		if err != nil {
			return nil, errors.New("nobody answers")
		}
		return text, nil
	}
	if os.Getenv("TEST_PAGES") == "http" {
		return watch.Ports{Machine: m, Start: watch.Start, Page: watch.Fetch(os.Getenv)}
	}
	now := time.Unix(1_790_000_000, 0)
	return watch.Ports{Machine: m, Start: watch.Start, Page: page, Now: func() time.Time { now = now.Add(time.Second); return now }}
}

// measured stands in for a measurement.
func measured(context.Context, *card.Local) *card.Measured {
	return &card.Measured{Processor: "a processor", Threads: 4, Buffer: unit.GiB, Rounds: 5, Read: card.Best{Best: 73e9, Worst: 70e9}, Copy: card.Best{Best: 50e9, Worst: 44e9}, Triad: card.Best{Best: 60e9, Worst: 59e9}, FMA: card.Best{Best: 20e9, Worst: 19e9}, Took: 1.5}
}

// broken is a source with a fault.
type broken struct{}

func (broken) Model(string) (*memwall.Resolved, error) { panic("a fault of a test") }

// toyCommand reads "toy MODEL --len N --odd": a stand-in for the engines' readers.
func toyCommand(text string) (*memwall.Request, []string, error) {
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != "toy" {
		return nil, nil, &memwall.Error{Code: memwall.BadField, Field: "from", Value: text, Message: "no toy command", Hint: "toy MODEL"}
	}
	r := &memwall.Request{Model: words[1]}
	r.Context, r.Sequences = 4096, 2
	return r, words[2:], nil
}

// serve NAME [TOKEN] serves the pages of a fixture of package live until the script ends, and puts the server's address in
// SERVER. With a token, a request without it is refused.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	a, err := txtar.ParseFile(ts.MkAbs(args[0]))
	ts.Check(err)
	pages := map[string][]byte{}
	for _, f := range a.Files {
		pages["/"+f.Name] = f.Data
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		switch {
		case len(args) > 1 && r.Header.Get("Authorization") != "Bearer "+args[1]:
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			http.NotFound(w, r)
		default:
			_, _ = w.Write(body)
		}
	}))
	ts.Defer(s.Close)
	ts.Setenv("SERVER", s.URL)
	ts.Setenv("SERVER_PORT", s.URL[strings.LastIndex(s.URL, ":")+1:])
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"serve": serve, "hub": hub},
		Setup: func(e *testscript.Env) error {
			engines, err := filepath.Abs("../../engine")
			if err != nil {
				return err
			}
			e.Setenv("ENGINES", engines)
			sites, err := filepath.Abs("../live/testdata")
			if err != nil {
				return err
			}
			e.Setenv("SITES", sites)
			e.Setenv("PORT", freePort())
			e.Setenv("COLUMNS", "80")
			e.Setenv("GOGC", heaptest.Percent())
			e.Setenv("TERM", "xterm-256color")
			e.Setenv("NO_COLOR", "")
			r := &running{}
			e.Values[hubOf{}] = r
			e.Defer(r.close)
			if strings.HasPrefix(filepath.Base(e.WorkDir), "script-remote") || strings.HasPrefix(filepath.Base(e.WorkDir), "script-run-remote") {
				return remoteFiles(e.WorkDir)
			}
			if strings.HasPrefix(filepath.Base(e.WorkDir), "script-quant") {
				return quantFiles(e.WorkDir)
			}
			return nil
		},
	})
}
