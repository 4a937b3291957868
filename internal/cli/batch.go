package cli

import (
	"bufio"
	"errors"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/batch"
)

func (a *app) batch() *cobra.Command {
	return &cobra.Command{
		Use: "batch", Short: "one JSON request per line in, one answer per line out",
		Long: "Answers come in the order of the requests. A bad line gets an answer with an error, and the rest go on. " +
			"A line may have 1 MiB. memwall schema says what a request may hold.",
		Example: `echo '{"ask":"fit","model":"llama-3.1-8b","hardware":"rtx-4090"}' | memwall batch`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := a.tune(""); err != nil {
				return err
			}
			return a.runBatch()
		},
	}
}

// job is a line on its way through the workers.
type job struct {
	line *batch.Line
	done chan *memwall.Answer
}

// runBatch answers lines in parallel and writes the answers in order. As many lines are under way as there
// are processors, and as many again wait to be written, whatever the input.
func (a *app) runBatch() error {
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
				j.done <- j.line.Answer(a.asker.Ask)
			}
		}()
	}
	var readErr error
	go func() {
		readErr = feed(batch.NewLines(a.Stdin), todo, order, stop)
		close(todo)
		close(order)
	}()
	err := a.drain(order)
	close(stop)
	for range order { // let the reader end
	}
	wg.Wait()
	return errors.Join(err, readErr)
}

// feed hands out lines until the input ends or nobody wants answers any more.
func feed(in *batch.Lines, todo, order chan<- *job, stop <-chan struct{}) error {
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
func (a *app) drain(order <-chan *job) error {
	out := bufio.NewWriterSize(a.Stdout, 1<<16)
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
		if err := writeJSON(out, answer, false); err != nil {
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
