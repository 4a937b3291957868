// Package run starts the server of a plan on this machine, waits until it answers, and ends it. What it printed is kept in a file,
// which says what it holds, or why it died.
//
// Open plan.go for the way from a request to a server that is compared, run.go for how a command line becomes a process and when it
// serves, engines.go for how each engine is told where to listen.
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
}

func fault(field, value, message, hint string) error {
	return &api.Error{Code: api.Unsupported, Field: field, Value: value, Message: message, Hint: hint}
}

// Read makes of an engine's command line, as plans print it, a server that listens on a port of this machine alone; 0 is the
// engine's usual port. Nothing is started, nor looked for: Here does that.
func Read(engine, line string, port int) (*Server, error) {
	how, ok := engines[engine]
	if !ok {
		return nil, fault("engine", engine, engine+" is not started by memwall", "start it by hand: "+line)
	}
	commands, err := argv.Parse(line)
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
	if port == 0 {
		port = how.port
	}
	s := &Server{Engine: engine, Program: words[0], Address: "http://127.0.0.1:" + strconv.Itoa(port)}
	s.Args = append(words[1:], how.host, "127.0.0.1", how.portFlag, strconv.Itoa(port))
	s.Env = commands[0].Env
	return s, nil
}

// Here finds the server's program on this machine. The error says what is missing: the program, the file of the model.
func (s *Server) Here() error {
	path, err := exec.LookPath(s.Program)
	if err != nil {
		return fault("engine", s.Engine, s.Program+" is not installed here, or not in PATH", "install it, or --engine says another")
	}
	if err := modelFile(s.Engine, s.Args); err != nil {
		return err
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
	name := words[at+1]
	if _, err := os.Stat(name); err != nil {
		return fault("model", name, name+" is not here", "the path of a GGUF, or org/name-GGUF:Q4_K_M, which llama-server downloads itself")
	}
	return nil
}

// Line is the command as a shell takes it.
func (s *Server) Line() string {
	var set strings.Builder
	for _, v := range s.Env {
		set.WriteString(v.Set() + " ")
	}
	return set.String() + argv.Line(append([]string{filepath.Base(s.Program)}, s.Args...))
}

// Running is a server that was started.
type Running struct {
	server *Server
	cmd    *exec.Cmd
	ended  chan struct{} // closed once the process has ended
	err    error         // how, once it has
}

// Start starts the server; all that it prints goes to out. An address where somebody listens already is refused.
func (s *Server) Start(out io.Writer) (*Running, error) {
	if c, err := net.DialTimeout("tcp", strings.TrimPrefix(s.Address, "http://"), time.Second); err == nil {
		_ = c.Close() // it only had to open
		return nil, fault("port", s.Address, "something listens on "+s.Address+" already", "another --port, or memwall compare "+s.Address)
	}
	cmd := exec.Command(s.Program, s.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = os.Environ(), out, out
	for _, v := range s.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
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

// PID of the process.
func (r *Running) PID() int { return r.cmd.Process.Pid }

// DiedError: the process ended before it answered.
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
		if r.well(ctx) {
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

// well asks the server's page of health, which vLLM, SGLang, llama-server and kin answer with 200 once the model is loaded.
func (r *Running) well(ctx context.Context) bool {
	const patience = 2 * time.Second
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.Address+"/health", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = answer.Body.Close() // its text says nothing
	return answer.StatusCode == http.StatusOK
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
	end(r.cmd)
	select {
	case <-r.ended:
	case <-time.After(patience):
		kill(r.cmd)
		<-r.ended
	}
}
