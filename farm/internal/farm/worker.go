package farm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/study"
)

// Worker answers tasks, as many at a time as it has slots.
type Worker struct {
	// Name is what others call it.
	Name string
	// Tables are those that it answers by.
	Tables string
	// Slots are the tasks that it takes at a time.
	Slots int
	// By signs its answers; nil makes an identity of its name.
	By *Identity
	// Ask answers a request in place of the catalog's asker; for tests.
	Ask Ask

	farm   *Farm
	cache  *cache
	askers *askers
	mu     sync.Mutex
	jobs   map[string]*job
	told   map[string]bool // studies that it has refused
	done   atomic.Int64
	stop   context.CancelCauseFunc
}

// job is a study that a worker has tasks of.
type job struct {
	id    string
	study *study.Study
	ctx   context.Context //nolint:containedctx // it ends when the study is cancelled
	stop  context.CancelFunc
}

// workersOf is the name of the queue's reader for all workers of some tables.
func workersOf(tables string) string { return "workers-" + tables }

// workers gives that reader, which all workers share.
func (f *Farm) workers(ctx context.Context, tables string) (c jetstream.Consumer, err error) {
	err = f.persist(ctx, "the queue cannot be read", func(ctx context.Context) error {
		c, err = f.tasks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: workersOf(tables), FilterSubject: taskSubject + tables + ".>", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: f.set.AckWait, MaxDeliver: f.set.MaxDeliver, MaxAckPending: f.set.InFlight, MaxWaiting: 20_000,
		})
		return err
	})
	return c, err
}

// Work takes tasks until the context ends.
func (f *Farm) Work(ctx context.Context, w *Worker) error {
	folder, err := os.MkdirTemp("", "memwall-farm-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // traces, which are on the servers
	if w.By == nil {
		if w.By, err = NewIdentity(w.Name); err != nil {
			return err
		}
	}
	w.farm, w.jobs, w.told = f, map[string]*job{}, map[string]bool{}
	w.cache = &cache{farm: f, ctx: ctx, folder: folder, have: map[string]*fetched{}}
	w.askers = newAskers(w.Slots, w.cache, w.Ask)
	queue, err := f.workers(ctx, w.Tables)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	watch, err := f.studies.WatchFiltered(ctx, []string{"*" + stateKey, "*" + refusedKey + w.By.ID()})
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }()
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	var wg sync.WaitGroup
	wg.Go(func() { w.follow(ctx, watch.Updates()) })
	for range w.Slots {
		wg.Go(func() { w.slot(ctx, queue) })
	}
	wg.Wait()
	_ = f.conn.FlushTimeout(time.Second) // what is given back is taken by others at once
	if cause, ok := errors.AsType[*memwall.Error](context.Cause(ctx)); ok {
		return cause
	}
	return nil
}

// idle is how long a slot waits for a task before it asks again.
const idle = 5 * time.Second

// slot takes one task after the other; what follows the last answer is done beside the next.
func (w *Worker) slot(ctx context.Context, queue jetstream.Consumer) {
	var last sync.WaitGroup
	defer last.Wait()
	for ctx.Err() == nil {
		wait, stop := context.WithTimeout(ctx, idle)
		msg, err := queue.Next(jetstream.FetchContext(wait))
		stop()
		switch {
		case err == nil:
			finish := w.do(ctx, msg)
			last.Wait()
			last.Go(finish)
			w.done.Add(1)
		case ctx.Err() != nil:
		case errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerNotFound),
			errors.Is(err, nats.ErrNoResponders):
			if again, err := w.farm.workers(ctx, w.Tables); err == nil {
				queue = again
			}
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded): // nothing to do
		default:
			pause(ctx, 200*time.Millisecond)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follow what becomes of studies: those that are cancelled end, those of other tables are refused.
func (w *Worker) follow(ctx context.Context, updates <-chan jetstream.KeyValueEntry) {
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-updates:
			if !ok {
				return
			}
			switch {
			case e == nil:
			case strings.HasSuffix(e.Key(), stateKey):
				w.became(ctx, strings.TrimSuffix(e.Key(), stateKey), string(e.Value()))
			case e.Operation() == jetstream.KeyValuePut:
				w.stop(w.distrusted(strings.TrimSuffix(e.Key(), refusedKey+w.By.ID())))
			}
		}
	}
}

func (w *Worker) became(ctx context.Context, id, state string) {
	if state == Running {
		if e, err := w.farm.entry(ctx, id); err == nil && e.Tables != w.Tables {
			w.refuse(ctx, id, e.Tables)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[id]; j != nil {
		j.stop()
		delete(w.jobs, id)
	}
}

// distrusted: a sweep has computed another answer than we gave. It asks us no more, and so does nobody.
func (w *Worker) distrusted(study string) error {
	return &memwall.Error{Code: memwall.Internal, Field: "worker", Value: w.Name,
		Message: fmt.Sprintf("%s gave another answer than the sweep of study %s computes: it is refused", w.By, printable(study)),
		Hint:    "the memory or the processor of one of the two machines computes wrongly: test them before either is believed"}
}

// refuse a study once: answers by other tables are other answers.
func (w *Worker) refuse(ctx context.Context, id, tables string) {
	w.mu.Lock()
	told := w.told[id]
	w.told[id] = true
	w.mu.Unlock()
	if told {
		return
	}
	w.say(fmt.Sprintf("study %s is of tables %s, and these are %s: it is left to others", id, tables, w.Tables))
	_ = w.farm.tell(ctx, id, &event{Kind: evRefused, Worker: w.Name, Tables: w.Tables})
}

// job of a study, read once.
func (w *Worker) job(ctx context.Context, id string) (*job, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.jobs[id]; j != nil {
		return j, nil
	}
	e, err := w.farm.entry(ctx, id)
	if gone(err) {
		return nil, errDropped
	}
	if err != nil {
		return nil, err
	}
	s, err := e.expansion()
	if err != nil {
		return nil, err
	}
	j := &job{id: id, study: s}
	j.ctx, j.stop = context.WithCancel(ctx)
	w.jobs[id] = j
	return j, nil
}

func (w *Worker) say(s string) { w.farm.say(w.Name + ": " + s) }

// Done is how many tasks it has taken.
func (w *Worker) Done() int64 { return w.done.Load() }
