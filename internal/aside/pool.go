package aside

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/memwall/memwall"
)

// grace is how long an answer may take beyond its limit: a search looks up from its work now and then.
const grace = time.Second

// Pool is processes, each started when a question finds none idle, and again when it has died: there are as many as questions that are
// asked at once. It is safe for concurrent use.
type Pool struct {
	command func() *exec.Cmd
	mu      sync.Mutex
	idle    []*process
	closed  bool
}

// New gives a pool; command is one that calls Answer on its standard input and output.
func New(command func() *exec.Cmd) *Pool { return &Pool{command: command} }

// Ask puts a question to a process. report, where it is not nil, is told how far the question is. The error is a *memwall.Error, that of
// a context which was cancelled, or Internal where the process died.
func (p *Pool) Ask(ctx context.Context, r *memwall.Request, limit time.Duration, report func(memwall.Progress)) (*memwall.Answer, error) {
	answer := new(memwall.Answer)
	if err := p.do(ctx, &question{Limit: limit, Follow: report != nil}, r, answer, report); err != nil {
		return nil, err
	}
	return answer, nil
}

// Do lets a process do a task: in is what it is asked, out points at what it gives. Errors are those of Ask.
func (p *Pool) Do(ctx context.Context, task string, in any, limit time.Duration, out any) error {
	return p.do(ctx, &question{Task: task, Limit: limit}, in, out, nil)
}

// do puts a question to a process.
func (p *Pool) do(ctx context.Context, q *question, in, out any, report func(memwall.Progress)) (err error) {
	if q.In, err = json.Marshal(in); err != nil {
		return err
	}
	one, err := p.take()
	if err != nil {
		return fault(err)
	}
	t, err := one.ask(ctx, q, report)
	if err != nil {
		one.kill()
		return err
	}
	p.give(one)
	switch {
	case t.Late:
		return context.DeadlineExceeded
	case t.Error != nil:
		return t.Error
	}
	return json.Unmarshal(t.Out, out)
}

// take gives the process that was idle last, or a new one.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		one := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return one, nil
	}
	return start(p.command())
}

// give puts it back.
func (p *Pool) give(one *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		one.kill()
		return
	}
	p.idle = append(p.idle, one)
}

// Close ends the processes, each when it has answered.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.idle {
		one.kill()
	}
	p.idle, p.closed = nil, true
}

// process answers one question at a time.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	asks *json.Encoder
	says *json.Decoder
}

// start starts one, at the lowest priority.
func start(cmd *exec.Cmd) (*process, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lower(cmd.Process)
	return &process{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// kill ends it, whatever it is at; a second time does nothing.
func (p *process) kill() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it may have died
	_ = p.cmd.Wait()
}

// ask waits for the answer; who leaves, and an answer that is late, end the wait.
func (p *process) ask(ctx context.Context, q *question, report func(memwall.Progress)) (*told, error) {
	type result struct {
		told *told
		err  error
	}
	done := make(chan result, 1)
	go func() {
		t, err := p.talk(q, report)
		done <- result{t, err}
	}()
	late := time.NewTimer(q.Limit + grace)
	defer late.Stop()
	left := ctx.Done()
	for {
		select {
		case r := <-done:
			return r.told, r.err
		case <-late.C:
			p.kill()
			<-done
			return nil, context.DeadlineExceeded
		case <-left:
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				left = nil // the process knows the limit as well, and has something to say
				continue
			}
			p.kill()
			<-done // report is not called any more
			return nil, ctx.Err()
		}
	}
}

// talk asks and listens until it is told what came of it.
func (p *process) talk(q *question, report func(memwall.Progress)) (*told, error) {
	if err := p.asks.Encode(q); err != nil {
		return nil, fault(err)
	}
	for {
		var t told
		if err := p.says.Decode(&t); err != nil {
			return nil, fault(err)
		}
		if t.Progress == nil {
			return &t, nil
		}
		if report != nil {
			report(*t.Progress)
		}
	}
}

// fault is a process that could not be started, or that died.
func fault(err error) error {
	return &memwall.Error{Code: memwall.Internal, Message: "a process that answers long questions is gone: " + err.Error()}
}
