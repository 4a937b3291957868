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

// question is what such a process is asked.
type question struct {
	Request *memwall.Request `json:"request"`
	// Limit is when the answer has to be there, with what is known by then.
	Limit time.Duration `json:"limit"`
	// Follow: progress is told.
	Follow bool `json:"follow,omitempty"`
}

// told is what it says: how far it is, any number of times, and the answer, which may be an error.
type told struct {
	Progress *memwall.Progress `json:"progress,omitempty"`
	Answer   *memwall.Answer   `json:"answer,omitempty"`
}

// Answer answers questions one by one until there are no more. When the input ends, so does the question that is being answered: who
// asked is gone. The error is of the input or of the output.
func Answer(in io.Reader, out io.Writer, asker memwall.Asker) error {
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
		if err := q.answer(ctx, w, asker); err != nil {
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
func (q *question) answer(ctx context.Context, w *json.Encoder, asker memwall.Asker) error {
	ctx, stop := context.WithTimeout(ctx, q.Limit)
	defer stop()
	if q.Follow {
		asker.Watch = &memwall.Watch{Progress: func(p memwall.Progress) {
			_ = w.Encode(told{Progress: &p}) // the answer fails where this does
		}}
	}
	answer, _ := asker.AskContext(ctx, q.Request) // the error stands in the answer
	return w.Encode(told{Answer: answer})
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
