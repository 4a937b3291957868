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

// grace is how long an answer may exceed its limit, since a search only checks the time occasionally.
const grace = time.Second

// Pool is a pool of child processes, started when a question finds none idle, so that there are as many as concurrent
// questions. It is safe for concurrent use.
type Pool struct {
	command func() *exec.Cmd
	mu      sync.Mutex
	idle    []*process
	closed  bool
}

// New returns a Pool. command must return a command that calls Answer on its standard input and output.
func New(command func() *exec.Cmd) *Pool { return &Pool{command: command} }

// Ask asks a child a question. report, if not nil, receives progress. The error is a *memwall.Error, that of a canceled
// context, or Internal if the child died.
func (p *Pool) Ask(ctx context.Context, r *memwall.Request, limit time.Duration, report func(memwall.Progress)) (*memwall.Answer, error) {
	answer := new(memwall.Answer)
	if err := p.do(ctx, &question{Limit: limit, Follow: report != nil}, r, answer, report); err != nil {
		return nil, err
	}
	return answer, nil
}

// Do runs a task in a child with input in and stores its result in out. Errors are as for Ask.
func (p *Pool) Do(ctx context.Context, task string, in any, limit time.Duration, out any) error {
	return p.do(ctx, &question{Task: task, Limit: limit}, in, out, nil)
}

// do sends a question to a child.
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

// take returns the most recently idle child, or a new one.
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

// give returns a child to the pool.
func (p *Pool) give(one *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		one.kill()
		return
	}
	p.idle = append(p.idle, one)
}

// Close ends the children, each after its current answer.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.idle {
		one.kill()
	}
	p.idle, p.closed = nil, true
}

// process is a child, which answers one question at a time.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	asks *json.Encoder
	says *json.Decoder
}

// start starts a child at the lowest priority.
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

// kill ends the child immediately. Further calls do nothing.
func (p *process) kill() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it may have exited
	_ = p.cmd.Wait()
}

// ask waits for the answer, until the context is canceled or the answer is late.
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
				left = nil // the child knows the deadline too, and has something to return
				continue
			}
			p.kill()
			<-done // report is no longer called
			return nil, ctx.Err()
		}
	}
}

// talk sends the question and reads messages until the outcome.
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

// fault returns the error for a child that could not be started, or that died.
func fault(err error) error {
	return &memwall.Error{Code: memwall.Internal, Message: "a process that answers long questions is gone: " + err.Error()}
}
