// Package run starts the server of a plan on this machine, waits until it responds, and stops it. Its output is kept in
// a file, which shows what it holds, or why it died.
//
// See plan.go for the way from a request to a server and its comparison, run.go for starting the process and detecting
// when it serves, engines.go for how each engine is told where to listen, ollama.go and studio.go for the two that load
// a model after starting, and fetch.go for downloads beforehand.
package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall/api"
	"github.com/memwall/memwall/engine/argv"
)

// Server is an engine that is to be started.
type Server struct {
	Engine  string // as plans name it
	Program string // the path of what runs
	Args    []string
	Env     []argv.Variable // beside the variables of this process
	Address string          // "http://127.0.0.1:8080"
	// Model is what the server is told to load once it answers; nil: it was told as it was started.
	Model *Loading
}

func fault(field, value, message, hint string) error {
	return &api.Error{Code: api.Unsupported, Field: field, Value: value, Message: message, Hint: hint}
}

// Read converts an engine's command line, as plans print it, to a server listening on a local port; 0 is the engine's default port.
// It neither starts nor looks for anything: Here does that.
func Read(engine, line string, port int) (*Server, error) {
	how, ok := engines[engine]
	if !ok {
		return nil, fault("engine", engine, engine+" is not started by memwall", "start it by hand: "+line)
	}
	if port == 0 {
		port = how.port
	}
	commands, err := argv.Parse(line)
	if err == nil && engine == ollama {
		return readOllama(commands, line, port)
	}
	if err != nil || len(commands) != 1 {
		return nil, fault("engine", engine, "the plan is not one command: "+line, "start it by hand")
	}
	words := argv.Words(line)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil, fault("engine", engine, "the plan has no command", "start it by hand")
	}
	s := &Server{Engine: engine, Program: words[0], Address: here(port)}
	s.Args = append(words[1:], how.host, "127.0.0.1", how.portFlag, strconv.Itoa(port))
	s.Env = append(slices.Clip(commands[0].Env), how.env...)
	return s, nil
}

// here is the address of a port of this machine.
func here(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// Here finds the server's program on this machine. The error says what is missing: the program, the file of the model.
func (s *Server) Here() error {
	path, err := exec.LookPath(s.Program)
	if err != nil {
		return fault("engine", s.Engine, s.Program+" is not installed here, or not in PATH", "install it, or choose another with --engine")
	}
	if err := modelFile(s.Engine, s.Args); err != nil {
		return err
	}
	if s.Model != nil {
		if err := present(s.Model.File); err != nil {
			return err
		}
	}
	s.Program = path
	return nil
}

// modelFile refuses a command whose model file is not there: plans of a catalog's model name a file that somebody may have.
func modelFile(engine string, words []string) error {
	at := slices.Index(words, "-m")
	if !strings.HasPrefix(engine, "llama") || at < 0 || at+1 == len(words) {
		return nil
	}
	return present(words[at+1])
}

// present refuses a file that is not here; "" is none.
func present(name string) error {
	if _, err := os.Stat(name); name != "" && err != nil {
		return fault("model", name, name+" is not here", "the path of a GGUF, or org/name-GGUF:Q4_K_M, which is downloaded")
	}
	return nil
}

// Line is the command as a shell takes it, and below it those that load the model where they stand by themselves.
func (s *Server) Line() string {
	var set strings.Builder
	for _, v := range s.Env {
		set.WriteString(argv.Assigned(v.Name, v.Value) + " ")
	}
	line := set.String() + argv.Line(append([]string{filepath.Base(s.Program)}, s.Args...))
	if s.Model == nil {
		return line
	}
	return s.Model.lines(line)
}

// Running is a server that was started.
type Running struct {
	server *Server
	cmd    *exec.Cmd
	ended  chan struct{} // closed once the process has ended
	err    error         // how, once it has
	// leave is for a server that is not a process of ours; nil for those that are.
	leave func()
	out   io.Writer
}

// Start starts the server; all that it prints goes to out. An address where somebody listens already is refused.
func (s *Server) Start(out io.Writer) (*Running, error) {
	if s.Engine == studio {
		return s.startStudio(out)
	}
	if s.taken() {
		hint := "another --port, or memwall compare " + s.Address
		if s.Engine == ollama {
			hint = "another --port: an Ollama beside it has the same models; or memwall compare " + s.Address
		}
		return nil, fault("port", s.Address, "something listens on "+s.Address+" already", hint)
	}
	cmd := s.command(s.Args, out)
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fault("engine", s.Engine, fmt.Sprintf("%s cannot be started: %v", s.Program, err), "start it by hand: "+s.Line())
	}
	r := &Running{server: s, cmd: cmd, ended: make(chan struct{})}
	go func() {
		r.err = cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// taken: somebody listens where the server would.
func (s *Server) taken() bool {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(s.Address, "http://"), time.Second)
	if err == nil {
		_ = c.Close() // it only had to open
	}
	return err == nil
}

// command is the server's program with arguments, whose output goes to out.
func (s *Server) command(args []string, out io.Writer) *exec.Cmd {
	cmd := exec.Command(s.Program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = os.Environ(), out, out
	for _, v := range s.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	return cmd
}

// About says what runs.
func (r *Running) About() string {
	if r.cmd == nil {
		return "LM Studio"
	}
	return fmt.Sprintf("process %d", r.cmd.Process.Pid)
}

// DiedError is the error of a process that ended before it answered.
type DiedError struct{ how error }

func (e *DiedError) Error() string {
	if e.how == nil {
		return "it ended by itself"
	}
	return "it ended: " + e.how.Error()
}

// Serves waits until the server answers that it is well, which loading a model may delay by minutes. It gives a *DiedError
// when the process ended before, and ctx's error when that ended.
func (r *Running) Serves(ctx context.Context) error {
	const every = 200 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if r.server.well(ctx) {
			return nil
		}
		select {
		case <-r.ended:
			return &DiedError{how: r.err}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// well asks the page that the engine answers with 200 once it is well.
func (s *Server) well(ctx context.Context) bool {
	const patience = 2 * time.Second
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	status, _, err := s.ask(ctx, http.MethodGet, engines[s.Engine].well, nil)
	return err == nil && status == http.StatusOK
}

// ask asks a page of the server, and gives the first of what it says.
func (s *Server) ask(ctx context.Context, method, page string, body io.Reader) (status int, said []byte, err error) {
	const most = 1 << 20
	req, err := http.NewRequestWithContext(ctx, method, s.Address+page, body)
	if err != nil {
		return 0, nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	said, err = io.ReadAll(io.LimitReader(answer.Body, most))
	return answer.StatusCode, said, err
}

// Ended is closed once the process has ended; Err says how then.
func (r *Running) Ended() <-chan struct{} { return r.ended }

// Err is how the process ended; nil while it runs, and where it ended well.
func (r *Running) Err() error {
	select {
	case <-r.ended:
		return r.err
	default:
		return nil
	}
}

// Stop asks the server to end, and ends it when it does not within the patience.
func (r *Running) Stop(patience time.Duration) {
	if r.leave != nil {
		r.leaveStudio(r.out)
		return
	}
	end(r.cmd)
	select {
	case <-r.ended:
	case <-time.After(patience):
		kill(r.cmd)
		<-r.ended
	}
}
