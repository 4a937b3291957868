// Package desk answers the questions of many clients at once: short ones with caching askers, long ones a few at a
// time, and each client within its share. It knows nothing of HTTP or MCP.
//
// See desk.go for how a question is answered, and share.go for limits per client.
package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/memwall/memwall"
)

// Options configure a Desk. Zero values mean the defaults.
type Options struct {
	// Asker answers the questions; it must be safe for concurrent use.
	Asker memwall.Asker
	// Quick, Medium and Long are the numbers of questions of each kind answered concurrently. Default: the number of
	// processors for Quick, half as many for each of the others.
	Quick, Medium, Long int
	// Limit is the time limit of an answer; an unfinished search then returns what it has. Default: one minute.
	Limit time.Duration
	// Patience is how long a quick question waits for its turn; others wait ten times as long. Default: two seconds.
	Patience time.Duration
	// Aside runs medium and long questions in other processes; nil means in this one.
	Aside Aside
	// Faults receives internal errors; nil discards them.
	Faults io.Writer
}

// Aside answers questions in other processes. At the time limit it returns what is known so far, and on cancellation an
// error immediately. Its errors are those of an asker.
type Aside interface {
	Ask(ctx context.Context, r *memwall.Request, limit time.Duration, report Report) (*memwall.Answer, error)
	// Do runs a named task with input in and stores its result in out.
	Do(ctx context.Context, task string, in any, limit time.Duration, out any) error
}

// Desk answers the questions of many clients. It is safe for concurrent use.
type Desk struct {
	o       Options
	quick   chan *memory
	slow    [lanes]chan struct{} // the lanes other than quick
	clients clients
	forget  int // cache entries after which an asker is replaced
}

// memory is a caching asker.
type memory struct{ asker *memwall.Asker }

// forget is the maximum number of entries in an asker's cache, about 25 MiB.
const forget = 4096

// New returns a Desk.
func New(o Options) *Desk {
	processors := runtime.GOMAXPROCS(0)
	o.Quick = or(o.Quick, processors)
	o.Medium = or(o.Medium, max(1, processors/2))
	o.Long = or(o.Long, max(1, processors/2))
	o.Limit = or(o.Limit, time.Minute)
	o.Patience = or(o.Patience, 2*time.Second)
	d := &Desk{o: o, quick: make(chan *memory, o.Quick), forget: forget}
	d.slow[Medium], d.slow[Long] = make(chan struct{}, o.Medium), make(chan struct{}, o.Long)
	for range o.Quick {
		d.quick <- &memory{}
	}
	d.clients.share = share{inFlight: 256, long: 4, perSecond: float64(processors) / 2, most: 120}
	return d
}

// Threads returns how many questions are worked on concurrently. A process that does nothing else should set GOMAXPROCS
// to it, above the number of processors: Go's scheduler would delay a quick question behind a search by ten
// milliseconds, the operating system's does not.
func (d *Desk) Threads() int { return cap(d.quick) + cap(d.slow[Medium]) + cap(d.slow[Long]) }

func or[T int | time.Duration](x, otherwise T) T {
	if x > 0 {
		return x
	}
	return otherwise
}

// Busy is the error for a question that could not be accepted; After says when to retry.
type Busy struct {
	After time.Duration
	What  string
}

func (b *Busy) Error() string { return b.What }

// Report receives a question's progress, with phase "" when its turn comes.
type Report = func(memwall.Progress)

// Ask answers a client's question. The error is a *memwall.Error, a *Busy, or that of a context that ended before the
// question's turn. report, if not nil, is called when the question's turn comes and as it progresses.
func (d *Desk) Ask(ctx context.Context, client string, r *memwall.Request, report Report) (answer *memwall.Answer, err error) {
	lane := LaneOf(r)
	err = d.serve(ctx, client, lane, report, func(ctx context.Context, asker *memwall.Asker) (err error) {
		if lane == Quick || d.o.Aside == nil {
			answer, err = asker.AskContext(ctx, r)
			return err
		}
		answer, err = d.o.Aside.Ask(ctx, r, left(ctx), report)
		return err
	})
	if internal(err) {
		return nil, err
	}
	return answer, err
}

// left returns the time until a context's deadline; contexts here have one.
func left(ctx context.Context) time.Duration {
	by, _ := ctx.Deadline()
	return time.Until(by)
}

// serve runs do when it is the client's turn.
func (d *Desk) serve(ctx context.Context, client string, lane Lane, report Report, do func(context.Context, *memwall.Asker) error) error {
	done, err := d.clients.admit(client, lane != Quick, time.Now())
	if err != nil {
		return err
	}
	var took time.Duration
	defer func() { done(time.Now(), took) }()
	ctx, stop := context.WithTimeout(ctx, d.o.Limit)
	defer stop()
	if lane != Quick {
		return d.askSlow(ctx, d.slow[lane], report, &took, do)
	}
	return d.askQuick(ctx, report, &took, do)
}

// askQuick runs do on a caching asker.
func (d *Desk) askQuick(ctx context.Context, report Report, took *time.Duration, do func(context.Context, *memwall.Asker) error) error {
	m, err := turn(ctx, d.quick, d.o.Patience)
	if err != nil {
		return err
	}
	if m.asker == nil || m.asker.Remembered() >= d.forget {
		m.asker = d.o.Asker.Remembering()
	}
	if report != nil {
		report(memwall.Progress{})
	}
	asker := m.asker
	m.asker = nil // an asker that failed is not reused
	defer func() { d.quick <- m }()
	err = d.answer(ctx, asker, took, do)
	if !internal(err) {
		m.asker = asker
	}
	return err
}

// askSlow runs do in a turn of its lane, with a context that ends the search.
func (d *Desk) askSlow(ctx context.Context, turns chan struct{}, report Report, took *time.Duration,
	do func(context.Context, *memwall.Asker) error) error {
	if err := enter(ctx, turns, 10*d.o.Patience); err != nil {
		return err
	}
	defer func() { <-turns }()
	asker := d.o.Asker
	asker.Parallel = nil // one processor per turn; the rest are for quick questions
	if report != nil {
		report(memwall.Progress{})
		asker.Watch = &memwall.Watch{Progress: report}
	}
	return d.answer(ctx, &asker, took, do)
}

// answer runs do; a panic fails one question only.
func (d *Desk) answer(ctx context.Context, asker *memwall.Asker, took *time.Duration,
	do func(context.Context, *memwall.Asker) error) (err error) {
	start := time.Now()
	defer func() {
		*took = time.Since(start)
		if fault := recover(); fault != nil {
			err = d.fault(fault)
		}
	}()
	if err = do(ctx, asker); internal(err) {
		return d.fault(err)
	}
	return err
}

// fault reports an internal error to the operator, and its occurrence to the client.
func (d *Desk) fault(what any) error {
	if d.o.Faults != nil {
		fmt.Fprintf(d.o.Faults, "memwall itself failed: %v\n", what)
	}
	return &memwall.Error{Code: memwall.Internal, Message: "memwall itself failed", Hint: "this is a bug; report it with the request"}
}

func internal(err error) bool {
	var e *memwall.Error
	return errors.As(err, &e) && e.Code == memwall.Internal
}

// turn waits for a free resource.
func turn[T any](ctx context.Context, free chan T, patience time.Duration) (one T, err error) {
	select {
	case one = <-free:
		return one, nil
	default:
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case one = <-free:
		return one, nil
	case <-ctx.Done():
		return one, ctx.Err()
	case <-wait.C:
		return one, crowded(patience)
	}
}

// enter waits for one of a limited number of places.
func enter(ctx context.Context, places chan struct{}, patience time.Duration) error {
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return crowded(patience)
	}
}

func crowded(after time.Duration) error {
	return &Busy{after, "others are being answered"}
}

// Limit returns the time limit of an answer.
func (d *Desk) Limit() time.Duration { return d.o.Limit }
