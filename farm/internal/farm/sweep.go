package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
	"github.com/memwall/memwall/internal/study"
)

// Results is where a sweep keeps what comes: internal/studyfile has them in tables.
type Results interface {
	// Reader tells this place from others, so that two that hold the same study both get all of it.
	Reader() string
	// Done is how many points have a row, and how many of these are dead.
	Done(context.Context) (done, dead int64, err error)
	// Missing are the points from one on up to another that have none.
	Missing(ctx context.Context, from, to int64) ([]int64, error)
	// Put keeps rows, all or none. Points that have one keep it; fresh tells which rows are of others.
	Put(context.Context, []studyfile.Row) (fresh []bool, err error)
	// Row of a point; nil where there is none.
	Row(ctx context.Context, point int64) (*studyfile.Row, error)
	// Replace the row of a point.
	Replace(context.Context, studyfile.Row) error
	// Drop the rows of a worker by its ID, and give their points.
	Drop(ctx context.Context, id string) ([]int64, error)
}

// Sweep is a study on its way.
type Sweep struct {
	Farm *Farm
	// Study with its traces by their digests, the text that it was read from, and the traces' files.
	Study   *study.Study
	Text    string
	Digests map[string]string
	Files   Files
	Tables  string
	Results Results
	// By signs what is computed here, and what workers of this process that sign with it answer: that needs no check.
	By *Identity
	// Check is the share of others' answers that are computed here as well; 0 is none at all.
	Check float64
	// Ask answers a request in place of the catalog's asker; for tests.
	Ask Ask
	// Patience is how long nothing may come of a farm that is in trouble: 2 min.
	Patience time.Duration
	// Report is told of progress, not at once from several goroutines; nil is nobody.
	Report func(Progress)

	id      string
	run     string // of this run, so that what was dropped may be asked again at once
	trust   *trust
	askers  *askers
	mu      sync.Mutex
	at      Progress
	workers map[string]bool
	moved   time.Time // by the monotonic clock of this process: when something last came
	ailing  time.Time // and when somebody last said that something is wrong
	room    chan struct{}
	// again is how often points were asked again, unbelieved the IDs of those whose rows are still among the results.
	again      map[int64]int
	unbelieved []string
	complaints map[string]int
	renewed    bool // the queue's reader was made anew
}

// patience is a sweep's where nothing is said.
const patience = 2 * time.Minute

// errCancelled: somebody cancelled the study.
var errCancelled = errors.New("cancelled")

// Run brings the tasks, and what comes of them into the results, until all points have one. What is there already is not
// asked again. On an interrupt, and on all errors, what has come stays, and the same sweep goes on later.
func (s *Sweep) Run(ctx context.Context) (Progress, error) {
	if err := s.begin(); err != nil {
		return s.at, err
	}
	var err error
	if s.at.Done, s.at.Dead, err = s.Results.Done(ctx); err != nil || s.at.Done == s.at.Points {
		return s.at, err
	}
	s.room = make(chan struct{}, s.Farm.set.Queued)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	side := func(do func(context.Context) error) {
		wg.Go(func() {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				stop(err)
			}
		})
	}
	side(s.tick)
	events, err := s.prepare(ctx)
	if err == nil {
		side(s.publish)
		side(s.watch)
		err = s.collect(ctx, events)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	stop(nil)
	wg.Wait()
	s.complained()
	if err == nil {
		s.finish(context.WithoutCancel(ctx))
	}
	return s.snapshot(), s.explained(err)
}

// begin a run.
func (s *Sweep) begin() (err error) {
	s.id, s.run = s.Study.ID(s.Tables), nuid.Next()+"."
	s.at = Progress{Points: s.Study.Points()}
	s.moved, s.ailing = time.Now(), time.Time{}
	s.renewed = false
	s.workers, s.again, s.complaints = map[string]bool{}, map[int64]int{}, map[string]int{}
	if s.By == nil {
		s.By, err = NewIdentity("the sweep")
	}
	if err == nil {
		s.trust = newTrust(s.By.ID(), s.Check)
		s.askers = newAskers(runtime.NumCPU(), s.Files, s.Ask)
	}
	return err
}

// prepare registers the study, with what workers need of it, and the readers of the queue and of the events.
func (s *Sweep) prepare(ctx context.Context) (jetstream.Consumer, error) {
	f := s.Farm
	if err := f.bring(ctx, s.Files); err != nil {
		return nil, err
	}
	if _, err := f.workers(ctx, s.Tables); err != nil {
		return nil, err
	}
	var events jetstream.Consumer
	err := f.persist(ctx, "events cannot be read", func(ctx context.Context) (err error) {
		events, err = f.events.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: s.reader(), FilterSubjects: []string{eventSubject + s.id, advisories + workersOf(s.Tables)},
			AckPolicy: jetstream.AckExplicitPolicy,
			AckWait:   time.Minute, MaxAckPending: 10_000, InactiveThreshold: eventsLast,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return events, f.register(ctx, &Entry{ID: s.id, Name: s.Study.Name, Text: s.Text, Tables: s.Tables, Traces: s.Digests,
		Points: s.at.Points})
}

func (s *Sweep) reader() string { return "sweep-" + s.id + "-" + s.Results.Reader() }

// window is how many points are looked through at a time.
const window = 4096

// publish puts the tasks of all points without a result into the queue. Those that wait there, or are with a worker, the
// server knows and takes no second time.
func (s *Sweep) publish(ctx context.Context) error {
	for from := int64(0); from < s.at.Points; from += window {
		missing, err := s.Results.Missing(ctx, from, min(from+window, s.at.Points))
		if err != nil {
			return err
		}
		for part := range slices.Chunk(missing, asyncPending/2) {
			if err := s.bring(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// bring tasks to the queue, all at once, and wait until they are there.
func (s *Sweep) bring(ctx context.Context, points []int64) error {
	futures := make([]jetstream.PubAckFuture, len(points))
	for i, p := range points {
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		m, err := s.task(p).message()
		if err != nil {
			return err
		}
		if futures[i], err = s.Farm.js.PublishMsgAsync(m, jetstream.WithMsgID(s.run+m.Subject)); err != nil {
			futures[i] = nil
		}
	}
	for i, f := range futures {
		if err := s.arrived(ctx, f, points[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sweep) task(index int64) *task {
	s.mu.Lock()
	fresh := s.again[index] > 0
	s.mu.Unlock()
	return &task{Tables: s.Tables, Study: s.id, Index: index, Fresh: fresh, key: s.Study.At(index, s.Tables).Key}
}

// arrived waits until the server has a task, and sends it again where it was not taken.
func (s *Sweep) arrived(ctx context.Context, f jetstream.PubAckFuture, index int64) error {
	if f != nil {
		select {
		case <-f.Ok():
			return nil
		case err := <-f.Err():
			if inQueue(err) {
				return nil
			}
		case <-time.After(attempt):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.queue(ctx, index)
}

// queue puts one task into the queue.
func (s *Sweep) queue(ctx context.Context, index int64) error {
	m, err := s.task(index).message()
	if err != nil {
		return err
	}
	return s.Farm.persist(ctx, "tasks cannot be queued", func(ctx context.Context) error {
		_, err := s.Farm.js.PublishMsg(ctx, m)
		if full(err) {
			s.trouble("the queue is full: " + plain(err))
		}
		if inQueue(err) {
			return nil
		}
		return err
	})
}

// watch for who cancels the study.
func (s *Sweep) watch(ctx context.Context) error {
	w, err := s.Farm.studies.Watch(ctx, s.id+stateKey)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			if !ok {
				return nil
			}
			if e != nil && string(e.Value()) == Cancelled {
				return errCancelled
			}
		}
	}
}

// finish leaves on the servers what is of use to other studies: the answers. All results are here by now: servers that
// cannot be tidied at the moment forget the rest by themselves.
func (s *Sweep) finish(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, 2*attempt)
	defer stop()
	f := s.Farm
	s.publishProgress(ctx)
	err := f.setState(ctx, s.id, Finished)
	if err == nil {
		err = f.drop(ctx, s.Tables, s.id)
	}
	if err == nil {
		err = f.persist(ctx, "events cannot be dropped", func(ctx context.Context) error {
			if err := f.events.DeleteConsumer(ctx, s.reader()); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
				return err
			}
			return f.events.Purge(ctx, jetstream.WithPurgeSubject(eventSubject+s.id))
		})
	}
	if err != nil {
		f.say(fmt.Sprintf("all is answered; the servers keep the study for now: %v", plain(err)))
	}
}

// tick reports, here and on the servers, and gives up on a farm in which nothing moves and somebody says why.
func (s *Sweep) tick(ctx context.Context) error {
	const often, rarely = 200 * time.Millisecond, 10
	t := time.NewTicker(often)
	defer t.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		at := s.snapshot()
		if s.Report != nil {
			s.Report(at)
		}
		if n%rarely == 0 {
			s.publishProgress(ctx)
		}
		if why, since := s.stuck(); why != "" && since > or(s.Patience, patience) {
			return &memwall.Error{Code: memwall.Remote, Field: "nats",
				Message: fmt.Sprintf("nothing has come for %.0f s: %s", since.Seconds(), why),
				Hint: "make room on the servers or see to the workers, then give the same command: what has come is kept. A store " +
					"that is damaged (RESULTS.farm, or --store) can be removed"}
		}
	}
}

func (s *Sweep) publishProgress(ctx context.Context) {
	data, err := json.Marshal(s.snapshot())
	if err != nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if _, err := s.Farm.studies.Put(ctx, s.id+progressKey, data); err != nil && ctx.Err() != context.Canceled { // the next one tells more
		s.Farm.ail("the servers keep nothing: " + plain(err))
	}
}

func (s *Sweep) snapshot() Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.at
	at.Workers, at.Refused, at.Liars = len(s.workers), slices.Clone(at.Refused), slices.Clone(at.Liars)
	return at
}

func (s *Sweep) trouble(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at.Trouble, s.ailing = why, time.Now()
}

// stuck is why nothing comes, and for how long; "" where all goes its way, slowly perhaps. Who has trouble says so again
// and again.
func (s *Sweep) stuck() (why string, since time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why = s.at.Trouble; why == "" || time.Since(s.ailing) > recent {
		why = s.Farm.trouble()
	}
	if !s.Farm.conn.IsConnected() {
		why = "no server can be reached"
	}
	return why, time.Since(s.moved)
}

// explained says what an end means to who waits for it.
func (s *Sweep) explained(err error) error {
	if errors.Is(err, errCancelled) {
		return &memwall.Error{Code: memwall.Remote, Field: "study", Value: s.id,
			Message: fmt.Sprintf("the study was cancelled: %d of %d are answered, and kept", s.at.Done, s.at.Points),
			Hint:    "the same command goes on with it"}
	}
	return err
}
