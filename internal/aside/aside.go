// Package aside answers long questions in low-priority child processes. Their computation and garbage do not slow down
// the server, an abandoned question is stopped at once, and a crash or lack of memory fails one question rather than
// the server.
//
// See pool.go for the parent side, and this file for the child side.
package aside

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/memwall/memwall"
)

// Tasks are the named tasks of a child besides answering questions, with input and output as JSON.
type Tasks map[string]func(ctx context.Context, asker *memwall.Asker, in json.RawMessage) (out any, err error)

// question is a message to a child.
type question struct {
	// Task is the name of a task; "" for a question, with a Request as input and an Answer as output.
	Task string          `json:"task,omitempty"`
	In   json.RawMessage `json:"in"`
	// Limit is when the answer is due, with what is known by then.
	Limit time.Duration `json:"limit"`
	// Follow requests progress messages.
	Follow bool `json:"follow,omitempty"`
}

// told is a message from a child: progress, any number of times, then the outcome, possibly an error.
type told struct {
	Progress *memwall.Progress `json:"progress,omitempty"`
	Out      json.RawMessage   `json:"out,omitempty"`
	Error    *memwall.Error    `json:"error,omitempty"`
	// Late reports that the limit was reached with nothing to return.
	Late bool `json:"late,omitempty"`
}

// Answer answers questions one by one until the input ends, which also cancels the question in progress, since the
// parent has exited. It returns errors of the input or output.
func Answer(in io.Reader, out io.Writer, asker memwall.Asker, tasks Tasks) error {
	ctx, gone := context.WithCancel(context.Background())
	questions := make(chan question)
	var broken error
	go func() {
		defer close(questions)
		defer gone()
		broken = read(in, questions)
	}()
	w := json.NewEncoder(out)
	for q := range questions {
		if err := q.answer(ctx, w, asker, tasks); err != nil {
			return err
		}
		debug.FreeOSMemory() // it may be long until the next question
	}
	return broken
}

// read reads questions until the input ends.
func read(in io.Reader, questions chan<- question) error {
	for d := json.NewDecoder(in); ; {
		var q question
		switch err := d.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		questions <- q
	}
}

// answer answers one question.
func (q *question) answer(ctx context.Context, w *json.Encoder, asker memwall.Asker, tasks Tasks) error {
	ctx, stop := context.WithTimeout(ctx, q.Limit)
	defer stop()
	if q.Follow {
		asker.Watch = &memwall.Watch{Progress: func(p memwall.Progress) {
			_ = w.Encode(told{Progress: &p}) // if this fails, so does the answer
		}}
	}
	out, err := q.do(ctx, &asker, tasks)
	return w.Encode(outcome(out, err))
}

// do runs the question or task.
func (q *question) do(ctx context.Context, asker *memwall.Asker, tasks Tasks) (any, error) {
	if q.Task != "" {
		return tasks[q.Task](ctx, asker, q.In)
	}
	var r memwall.Request
	if err := json.Unmarshal(q.In, &r); err != nil {
		return nil, err
	}
	return asker.AskContext(ctx, &r)
}

// outcome returns the message for an outcome.
func outcome(out any, err error) told {
	if err == nil {
		var t told
		if t.Out, err = json.Marshal(out); err == nil {
			return t
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return told{Late: true}
	}
	if e, ok := errors.AsType[*memwall.Error](err); ok {
		return told{Error: e}
	}
	return told{Error: &memwall.Error{Code: memwall.Internal, Message: err.Error()}}
}

// Environment returns the environment of a child: the server's, without the token it does not need, and with a memory
// limit unless the user sets one.
func Environment(of []string, heap int64) []string {
	out := []string{"GOMEMLIMIT=" + strconv.FormatInt(heap, 10)}
	for _, v := range of { // the last value of a name counts
		if !strings.HasPrefix(v, "MEMWALL_TOKEN=") {
			out = append(out, v)
		}
	}
	return out
}
