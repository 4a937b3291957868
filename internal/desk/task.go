package desk

import (
	"context"
	"encoding/json"

	"github.com/memwall/memwall"
)

// Task is work that asks several questions; its name identifies it to other processes.
type Task[In, Out any] struct {
	Name string
	Do   func(ctx context.Context, asker *memwall.Asker, in In) (Out, error)
}

// Steps returns a task that parses its input, answers it and renders the answer.
func Steps[Q, A, Out any](name string, read func([]byte) (Q, error), answer func(Q, context.Context, *memwall.Asker) (A, error),
	show func(A) (Out, error)) Task[[]byte, Out] {
	return Task[[]byte, Out]{name, func(ctx context.Context, asker *memwall.Asker, text []byte) (out Out, err error) {
		q, err := read(text)
		if err != nil {
			return out, err
		}
		a, err := answer(q, ctx, asker)
		if err != nil {
			return out, err
		}
		return show(a)
	}}
}

// Run runs a task for a client, in the turn of one question. The error is that of the task, a *Busy, or that of a
// context that ended before its turn.
func Run[In, Out any](ctx context.Context, d *Desk, client string, lane Lane, t Task[In, Out], in In) (out Out, err error) {
	err = d.serve(ctx, client, lane, nil, func(ctx context.Context, asker *memwall.Asker) (err error) {
		if lane == Quick || d.o.Aside == nil {
			out, err = t.Do(ctx, asker, in)
			return err
		}
		return d.o.Aside.Do(ctx, t.Name, in, left(ctx), &out)
	})
	return out, err
}

// JSON runs the task with input from another process.
func (t Task[In, Out]) JSON(ctx context.Context, asker *memwall.Asker, text json.RawMessage) (any, error) {
	var in In
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	return t.Do(ctx, asker, in)
}
