package batch

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/memwall/memwall"
)

// Ask answers a request, and Write writes an answer on a line.
type (
	Ask   func(*memwall.Request) (*memwall.Answer, error)
	Write func(io.Writer, *memwall.Answer) error
)

// job is a line on its way through the workers.
type job struct {
	line *Line
	done chan *memwall.Answer
}

// Run answers lines in parallel and writes the answers in order. As many lines are under way as there
// are processors, and as many again wait to be written, whatever the input.
func Run(input io.Reader, output io.Writer, ask Ask, write Write) error {
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *job, workers)
	order := make(chan *job, 2*workers)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range todo {
				j.done <- j.line.Answer(ask)
			}
		}()
	}
	var readErr error
	go func() {
		readErr = feed(NewLines(input), todo, order, stop)
		close(todo)
		close(order)
	}()
	err := drain(order, output, write)
	close(stop)
	for range order { // let the reader end
	}
	wg.Wait()
	return errors.Join(err, readErr)
}

// feed hands out lines until the input ends or nobody wants answers any more.
func feed(in *Lines, todo, order chan<- *job, stop <-chan struct{}) error {
	for {
		line, more, err := in.Next()
		if !more {
			return err
		}
		j := &job{line: line, done: make(chan *memwall.Answer, 1)}
		select {
		case order <- j:
			todo <- j
		case <-stop:
			return nil
		}
	}
}

// drain writes answers in order, and flushes whenever the next one is not ready.
func drain(order <-chan *job, output io.Writer, write Write) error {
	out := bufio.NewWriterSize(output, 1<<16)
	for {
		var j *job
		var ok bool
		select {
		case j, ok = <-order:
		default:
			if err := out.Flush(); err != nil {
				return err
			}
			j, ok = <-order
		}
		if !ok {
			return out.Flush()
		}
		answer := ready(j, out)
		if err := write(out, answer); err != nil {
			return err
		}
	}
}

// ready waits for an answer; what is written already does not wait with it.
func ready(j *job, out *bufio.Writer) *memwall.Answer {
	select {
	case answer := <-j.done:
		return answer
	default:
		_ = out.Flush() // the next write gives its error again
		return <-j.done
	}
}
