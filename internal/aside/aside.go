// Package aside answers long questions in processes of their own that give way to all others: what they compute and the garbage that
// they make stand in nobody's way, a question that nobody waits for any more is ended at once, and a fault, or a host without memory,
// ends one question and no server.
//
// Open pool.go for the side that asks, and this file for the side that answers.
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

// Tasks are what such a process does beside answering questions, by their names: what a task is asked and what it gives are JSON.
type Tasks map[string]func(ctx context.Context, asker *memwall.Asker, in json.RawMessage) (out any, err error)

// question is what such a process is asked.
type question struct {
	// Task is the name of one; "" is a question, whose input is a Request, and whose output an Answer.
	Task string          `json:"task,omitempty"`
	In   json.RawMessage `json:"in"`
	// Limit is when the answer has to be there, with what is known by then.
	Limit time.Duration `json:"limit"`
	// Follow: progress is told.
	Follow bool `json:"follow,omitempty"`
}

// told is what it says: how far it is, any number of times, and what came of it, which may be an error.
type told struct {
	Progress *memwall.Progress `json:"progress,omitempty"`
	Out      json.RawMessage   `json:"out,omitempty"`
	Error    *memwall.Error    `json:"error,omitempty"`
	// Late: the limit was reached, and there is nothing to say.
	Late bool `json:"late,omitempty"`
}

// Answer answers questions one by one until there are no more. When the input ends, so does the question that is being answered: who
// asked is gone. The error is of the input or of the output.
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
		debug.FreeOSMemory() // it may be long until the next one
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

// answer answers one.
func (q *question) answer(ctx context.Context, w *json.Encoder, asker memwall.Asker, tasks Tasks) error {
	ctx, stop := context.WithTimeout(ctx, q.Limit)
	defer stop()
	if q.Follow {
		asker.Watch = &memwall.Watch{Progress: func(p memwall.Progress) {
			_ = w.Encode(told{Progress: &p}) // the answer fails where this does
		}}
	}
	out, err := q.do(ctx, &asker, tasks)
	return w.Encode(outcome(out, err))
}

// do what is asked.
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

// outcome is what is told of what came of it.
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

// Environment of such a process: the server's, without the token that it has no use for, and with a bound of memory of its own where the
// user sets none.
func Environment(of []string, heap int64) []string {
	out := []string{"GOMEMLIMIT=" + strconv.FormatInt(heap, 10)}
	for _, v := range of { // the last of a name counts
		if !strings.HasPrefix(v, "MEMWALL_TOKEN=") {
			out = append(out, v)
		}
	}
	return out
}
