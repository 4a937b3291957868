package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/diagnose"
	"github.com/memwall/memwall/safe"
	"github.com/memwall/memwall/source/remote"
)

// Plan is a fit request whose server is started on this machine.
type Plan struct {
	Asker    *memwall.Asker
	Request  memwall.Request // Engine "": one that is installed
	Port     int             // 0: the engine's usual one
	Log      string          // file for what the server prints; "": a temporary one
	Patience time.Duration   // for loading, and downloading; 0 is an hour
	Anyway   bool            // start what does not fit
	Once     bool            // end the server after the comparison
	Dry      bool            // the command alone is wanted, of an engine that need not be here
	Download bool            // the model is brought here first; without it engines fetch what they need
	// Get brings to this machine the model that a reference leads to, of services without a folder of their own into Models, and
	// gives its path; nil: nothing is downloaded. On a Terminal it is said how far it is.
	Get      func(ctx context.Context, ref string, d remote.Downloading) (string, error)
	Models   string
	Terminal bool
	// Say takes lines for who waits, Show an answer: the start-up compared, or why the server died.
	Say  io.Writer
	Show func(*memwall.Answer) error
}

// ErrDiagnosed means that the server died and Show has received the reason.
var ErrDiagnosed = errors.New("the server died of what was shown")

// Server of the request: of its engine, else of the first installed one that takes it. Nothing is started.
func (p *Plan) Server(ctx context.Context) (*Server, error) {
	if p.Port < 0 || p.Port >= 1<<16 {
		return nil, fault("port", fmt.Sprint(p.Port), fmt.Sprintf("--port %d is not a port", p.Port), "--port 8080")
	}
	tries := []string{p.Request.Engine}
	if p.Request.Engine == "" {
		tries = append(tries, Installed()...)
	}
	var first error
	for _, engine := range tries {
		r := p.Request
		r.Engine = engine
		s, err := p.server(&r)
		if err == nil && p.Download && !p.Dry {
			s, err = p.fetched(ctx, &r, s)
		}
		if err == nil {
			err = s.Here()
		}
		if err == nil {
			p.Request = r
			return s, nil
		}
		if first == nil {
			first = err
		}
	}
	if p.Dry {
		return p.elsewhere(first)
	}
	return nil, first
}

// elsewhere is the server of a plan whose engine or model is not here: its command holds, and what is missing is said.
func (p *Plan) elsewhere(missing error) (*Server, error) {
	s, err := p.server(&p.Request)
	if err == nil {
		p.say("info: %s\n", missing.Error())
	}
	return s, err
}

func (p *Plan) server(r *memwall.Request) (*Server, error) {
	answer, err := p.Asker.Ask(r)
	if err != nil {
		return nil, err
	}
	if answer.Verdict == memwall.DoesNotFit && !p.Anyway {
		return nil, doesNotFit(r, answer)
	}
	for engine, line := range answer.Flags {
		if isStudio(r.Engine) {
			return readStudio(answer, line, p.Port)
		}
		return Read(engine, line, p.Port)
	}
	return nil, fault("engine", r.Engine, "the plan has no command", "a model that has files, and an engine that runs it")
}

// doesNotFit says so, with the first change that would make it fit.
func doesNotFit(r *memwall.Request, answer *memwall.Answer) error {
	hint := "memwall fit says what would; --anyway starts it all the same"
	for _, s := range answer.Suggestions {
		if s.Verdict == memwall.Fits {
			hint = "it fits with " + s.Change + "; --anyway starts it all the same"
			break
		}
	}
	return fault("model", r.Model, fmt.Sprintf("%s does not fit on %s", r.Model, r.Hardware), hint)
}

// Serve starts the server, shows its start-up beside the plan once it answers, and waits until it or ctx ends. It is ended then.
func (p *Plan) Serve(ctx context.Context, s *Server) error {
	log, err := logFile(p.Log)
	if err != nil {
		return &memwall.Error{Code: memwall.BadFile, Field: "log", Value: p.Log,
			Message: fmt.Sprintf("the log cannot be written: %v", plain(err)), Hint: "--log FILE in a folder that exists"}
	}
	defer func() { _ = log.Close() }() // the server writes it, by a handle of its own
	server, err := s.Start(log)
	if err != nil {
		return err
	}
	const goodbye = 10 * time.Second
	defer server.Stop(goodbye)
	for line := range strings.Lines(s.Line()) {
		p.say("%s\n", strings.TrimSuffix(line, "\n"))
	}
	p.say("  %s, what it prints is in %s\n", server.About(), log.Name())
	if err := p.wait(ctx, server, log); err != nil {
		return p.died(ctx, s, log.Name(), err)
	}
	if err := p.compare(s, log.Name()); err != nil || p.Once {
		return err
	}
	p.say("serving at %s · Ctrl-C ends it · memwall bench %s measures it\n", s.Address, s.Address)
	select {
	case <-ctx.Done():
		return nil
	case <-server.Ended():
		return p.died(ctx, s, log.Name(), &DiedError{how: server.Err()})
	}
}

// say writes a line; what stands for %s may come from elsewhere.
func (p *Plan) say(format string, args ...any) {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = safe.Text(text, "")
		}
	}
	_, _ = fmt.Fprintf(p.Say, format, args...) // nobody reads it any more
}

// logFile is the file that a server prints to, its owner's alone.
func logFile(name string) (*os.File, error) {
	if name == "" {
		return os.CreateTemp("", "memwall-run-*.log")
	}
	const ownersAlone = 0o600
	return os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, ownersAlone)
}

// plain leaves out the path that an error of a file repeats.
func plain(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// wait waits until the server answers and has its model. out takes what the programs print that bring it there.
func (p *Plan) wait(ctx context.Context, server *Running, out io.Writer) error {
	patience := cmp.Or(p.Patience, time.Hour)
	ctx, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer after %v", patience))
	defer stop()
	if err := server.Serves(ctx); err != nil || server.server.Model == nil {
		return err
	}
	err := server.server.load(ctx, out)
	if err != nil {
		_, _ = fmt.Fprintln(out, err) // what the server said of it is diagnosed with its log
	}
	return err
}

// about is what is known of the run beside its log.
func (p *Plan) about() memwall.Request {
	return memwall.Request{Ask: "fit", Hardware: p.Request.Hardware, Model: p.Request.Model}
}

// compare sets what the server printed beside the plan. A log that says nothing of memory is a line, and no failure.
func (p *Plan) compare(s *Server, name string) error {
	if s.Engine == studio {
		p.say("%s holds it; LM Studio publishes no figures of memory: memwall watch shows what the devices hold\n", s.Address)
		return nil
	}
	log, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // it was only read
	answer, err := p.Asker.Compare(log, p.about())
	if err != nil {
		p.say("it serves; its log is not compared: %s\n", err.Error())
		return nil
	}
	return p.Show(answer)
}

// died says why a server ended: what its log tells of memory, or its last lines.
func (p *Plan) died(ctx context.Context, s *Server, name string, how error) error {
	if ctx.Err() != nil {
		return nil // who asked for it knows
	}
	failed := fault("engine", s.Engine, fmt.Sprintf("%s does not serve: %v", s.Engine, how), "its log: "+name)
	log, err := os.Open(name)
	if err != nil {
		return failed
	}
	defer func() { _ = log.Close() }() // it was only read
	started := p.Request               // its log may be one line, which names no engine and no load
	started.Ask, started.Engine = "fit", cmp.Or(started.Engine, s.Engine)
	answer, err := p.Asker.Diagnose(log, started)
	if err == nil && answer.Diagnosed != nil && answer.Diagnosed.Kind != diagnose.None {
		return errors.Join(p.Show(answer), ErrDiagnosed)
	}
	for _, l := range lastLines(log) {
		p.say("  %s\n", l)
	}
	return failed
}

// lastLines of a log.
func lastLines(log io.ReadSeeker) []string {
	const bytes, lines = 2 << 10, 6
	if size, err := log.Seek(0, io.SeekEnd); err == nil {
		_, _ = log.Seek(max(0, size-bytes), io.SeekStart) // else from where it stands
	}
	text, _ := io.ReadAll(io.LimitReader(log, bytes)) // what can be read of it
	all := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")), "\n")
	return all[max(0, len(all)-lines):]
}
