package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/spf13/cobra"

	"github.com/memwall/memwall"
)

// maxLine bounds a line of batch input.
const maxLine = 1 << 20

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
	line []byte
	err  *memwall.Error // the line could not be read
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
				j.done <- a.answerLine(j)
			}
		}()
	}
	var readErr error
	go func() {
		readErr = feed(bufio.NewReaderSize(a.Stdin, 1<<16), todo, order, stop)
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
func feed(in *bufio.Reader, todo, order chan<- *job, stop <-chan struct{}) error {
	for n := 1; ; n++ {
		line, tooLong, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return &memwall.Error{Code: memwall.BadFile, Field: "stdin", Message: fmt.Sprintf("stdin, line %d: %v", n, err)}
		}
		if errors.Is(err, io.EOF) && len(line) == 0 && !tooLong {
			return nil
		}
		j := &job{line: line, done: make(chan *memwall.Answer, 1)}
		if tooLong {
			j.err = &memwall.Error{Code: memwall.Limit, Message: fmt.Sprintf("line %d is longer than 1 MiB", n), Hint: "one request a line"}
		}
		select {
		case order <- j:
			todo <- j
		case <-stop:
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// readLine reads a line without its end. Of a line that is too long the rest is read and dropped.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine+1 {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
		}
		return line, tooLong, err
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

// answerLine answers one line; a fault in one does not end the rest.
func (a *app) answerLine(j *job) (answer *memwall.Answer) {
	defer func() {
		if fault := recover(); fault != nil {
			answer = failed(&memwall.Error{Code: memwall.Internal, Message: fmt.Sprintf("memwall itself failed: %v", fault), Hint: "this is a bug; report it with the request"})
		}
	}()
	if j.err != nil {
		return failed(j.err)
	}
	r, err := memwall.Decode(j.line)
	if err != nil {
		var e *memwall.Error
		errors.As(err, &e)
		return failed(e)
	}
	answer, _ = a.asker.Ask(r)
	return answer
}

func failed(e *memwall.Error) *memwall.Answer {
	return &memwall.Answer{Schema: memwall.Schema, Version: memwall.Version, Error: e}
}
