// Package farm answers the questions of studies on as many machines as there are: a queue on NATS JetStream, workers that
// come and go, results each kept once. The server may be one of its own, in the same process and without a port, or a
// cluster; the study, and the bytes that come out, are the same.
//
// What JetStream has is its own: tasks are a work queue with explicit acks, its redelivery is what brings back the task of
// a worker that died, a task or a result that is there already is refused by the server. No clock of one host is compared
// with another's: only servers and monotonic clocks tell how long something took.
//
// Open farm.go for the names, sweep.go for a study's way through, worker.go for who answers.
package farm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
)

// Names on the servers. Tasks go by memwall.task.TABLES.STUDY.KEY, so that a queue holds each once and workers take those
// of their own tables; events by memwall.event.STUDY.
const (
	tasksStream  = "MEMWALL_TASKS"
	eventsStream = "MEMWALL_EVENTS"
	results      = "memwall-results"
	studies      = "memwall-studies"
	traces       = "memwall-traces"

	taskSubject  = "memwall.task."
	eventSubject = "memwall.event."
	// advisories of tasks that were delivered as often as they may be.
	advisories = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + tasksStream + "."
)

// Settings of a farm. Zero values are the usual ones. The first who opens a farm decides for all.
type Settings struct {
	// Replicas of all that is kept: 3 on a cluster that has as many servers, else 1.
	Replicas int
	// AckWait is after what silence of its worker a task is given to another: 15 s.
	AckWait time.Duration
	// MaxDeliver is how often a task is given out before it counts as dead: 8.
	MaxDeliver int
	// InFlight is the most tasks that are with workers at a time: 20,000.
	InFlight int
	// Queued is the most tasks that wait: 100,000.
	Queued int64
	// MaxBytes bounds what is kept of results, on servers whose disk is small; 0 is no bound.
	MaxBytes int64
}

func (s Settings) filled(nc *nats.Conn) Settings {
	if s.Replicas == 0 {
		s.Replicas = 1
		if len(nc.Servers()) >= 3 {
			s.Replicas = 3
		}
	}
	s.AckWait = or(s.AckWait, 15*time.Second)
	s.MaxDeliver = or(s.MaxDeliver, 8)
	s.InFlight = or(s.InFlight, 20_000)
	s.Queued = or(s.Queued, 100_000)
	return s
}

func or[T int | int64 | time.Duration](x, otherwise T) T {
	if x > 0 {
		return x
	}
	return otherwise
}

// Farm is what a coordinator or a worker has of the servers.
type Farm struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	set     Settings
	tasks   jetstream.Stream
	events  jetstream.Stream
	results jetstream.KeyValue
	kept    jetstream.Stream // that results are of
	studies jetstream.KeyValue
	traces  jetstream.ObjectStore
	say     func(string)

	mu     sync.Mutex
	ails   string // what did not come to pass the last time that something was tried
	ailing time.Time
}

// Open finds what a farm keeps on the servers, or makes it. It goes on trying while a cluster finds its leaders, until the
// context ends, and then says what the servers lack. say, which may be nil, is told what is worth knowing meanwhile.
func Open(ctx context.Context, conn *nats.Conn, set Settings, say func(string)) (*Farm, error) {
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(asyncPending))
	if err != nil {
		return nil, err
	}
	f := &Farm{conn: conn, js: js, set: set.filled(conn), say: heard(say)}
	soon, stop := context.WithTimeout(ctx, attempt)
	err = f.persist(soon, "the servers have no JetStream ready", f.make)
	stop()
	twins := ""
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		if twins = f.twins(); twins != "" {
			f.say(twins)
		}
		err = f.persist(ctx, "the servers have no JetStream ready", f.make)
	}
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return nil, &memwall.Error{Code: memwall.Remote, Field: "nats", Value: conn.ConnectedUrlRedacted(),
			Message: "the NATS server keeps nothing: JetStream is not enabled",
			Hint:    "nats-server --jetstream, or jetstream {} in its configuration"}
	case errors.Is(err, context.DeadlineExceeded):
		message := or2(twins, "the servers have no JetStream ready: "+plain(err))
		return nil, &memwall.Error{Code: memwall.Remote, Field: "nats", Message: message,
			Hint: "room on the servers' disks, and more than half of a cluster's servers, each with a name of its own"}
	}
	return f, err
}

// twins says which servers of a cluster go by one name; "" where all differ. A cluster shuts such servers out, and never
// finds a leader.
func (f *Farm) twins() string {
	at := map[string]string{} // URLs by name and ID
	for _, url := range f.conn.Servers() {
		o := f.conn.Opts
		o.Url, o.Servers, o.AllowReconnect, o.IgnoreDiscoveredServers, o.Timeout = url, nil, false, true, time.Second
		o.DisconnectedErrCB, o.ReconnectedCB, o.ClosedCB = nil, nil, nil
		c, err := o.Connect()
		if err != nil {
			continue
		}
		name, id := c.ConnectedServerName(), c.ConnectedServerId()
		c.Close()
		for other, was := range at {
			if strings.HasPrefix(other, name+"\n") && other != name+"\n"+id {
				return fmt.Sprintf("two servers are called %s, at %s and at %s: a cluster needs a name for each", printable(name),
					printable(was), printable(c.Opts.Url))
			}
		}
		at[name+"\n"+id] = url
	}
	return ""
}

// eventsLast is how long a sweep may be away and still be told what it missed; after that it looks for itself.
const eventsLast = 7 * 24 * time.Hour

// asyncPending is how many tasks are on their way into the queue at a time.
const asyncPending = 1024

// make creates streams and buckets; those that are there already stay as they are.
func (f *Farm) make(ctx context.Context) (err error) {
	s := &f.set
	if f.tasks, err = f.stream(ctx, jetstream.StreamConfig{
		Name: tasksStream, Subjects: []string{taskSubject + ">"}, Retention: jetstream.WorkQueuePolicy, Replicas: s.Replicas,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1, MaxMsgs: 2 * s.Queued, MaxMsgSize: maxTold,
	}); err != nil {
		return err
	}
	// Kept for a week and dropped with their study: a stream that keeps what somebody waits for loses it where a server comes
	// back before it knows who waits.
	if f.events, err = f.stream(ctx, jetstream.StreamConfig{
		Name: eventsStream, Subjects: []string{eventSubject + ">", advisories + ">"}, MaxAge: eventsLast, Replicas: s.Replicas,
		MaxMsgSize: maxTold,
	}); err != nil {
		return err
	}
	if f.results, err = f.bucket(ctx, jetstream.KeyValueConfig{Bucket: results, Replicas: s.Replicas, MaxBytes: s.MaxBytes,
		MaxValueSize: maxRecord, Description: "answers by their keys"}); err != nil {
		return err
	}
	if f.kept, err = f.js.Stream(ctx, "KV_"+results); err != nil {
		return err
	}
	if f.studies, err = f.bucket(ctx, jetstream.KeyValueConfig{Bucket: studies, Replicas: s.Replicas,
		Description: "studies, and how far they are"}); err != nil {
		return err
	}
	f.traces, err = f.store(ctx, jetstream.ObjectStoreConfig{Bucket: traces, Replicas: s.Replicas, Description: "traces by their digests"})
	return err
}

func (f *Farm) stream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	return made(func() (jetstream.Stream, error) { return f.js.Stream(ctx, c.Name) },
		func() (jetstream.Stream, error) { return f.js.CreateStream(ctx, c) })
}

func (f *Farm) bucket(ctx context.Context, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	return made(func() (jetstream.KeyValue, error) { return f.js.KeyValue(ctx, c.Bucket) },
		func() (jetstream.KeyValue, error) { return f.js.CreateKeyValue(ctx, c) })
}

func (f *Farm) store(ctx context.Context, c jetstream.ObjectStoreConfig) (jetstream.ObjectStore, error) {
	return made(func() (jetstream.ObjectStore, error) { return f.js.ObjectStore(ctx, c.Bucket) },
		func() (jetstream.ObjectStore, error) { return f.js.CreateObjectStore(ctx, c) })
}

// made gives what is there, and makes what is not; somebody may be faster.
func made[T any](get, create func() (T, error)) (T, error) {
	found, err := get()
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
		found, err = create()
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) || errors.Is(err, jetstream.ErrBucketExists) {
		return get()
	}
	return found, err
}

// attempt is how long one try of something may take.
const attempt = 5 * time.Second

// persist does something that a server may be unable to do for a while, again and again with longer pauses between, until
// the context ends or trying again is of no use.
func (f *Farm) persist(ctx context.Context, what string, do func(context.Context) error) error {
	pause, said := 50*time.Millisecond, false
	for {
		try, stop := context.WithTimeout(ctx, attempt)
		err := do(try)
		stop()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return errors.Join(err, ctx.Err())
		}
		f.ail(what + ": " + plain(err))
		if pause > time.Second && !said {
			f.say(fmt.Sprintf("%s (%v): trying again", what, plain(err)))
			said = true
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// ail notes what goes wrong, for who may give up.
func (f *Farm) ail(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ails, f.ailing = why, time.Now()
}

// trouble of late; "" where all that is tried succeeds.
func (f *Farm) trouble() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.ailing) > recent {
		return ""
	}
	return f.ails
}

// recent: trouble of which nothing was heard for longer is over.
const recent = 20 * time.Second

// transient: an error that may be none the next time. What the server refuses for good is not; a full store may have room
// again, once somebody makes some.
func transient(err error) bool {
	var refused *jetstream.APIError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders),
		errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, nats.ErrNoServers):
		return true
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return false
	case errors.As(err, &refused):
		return refused.Code >= 500
	}
	return false
}

// full: a store that takes no more.
func full(err error) bool {
	text := fmt.Sprint(err)
	return err != nil && !inQueue(err) && (strings.Contains(text, "maximum bytes exceeded") ||
		strings.Contains(text, "maximum messages exceeded") || strings.Contains(text, "insufficient") ||
		strings.Contains(text, "no space left"))
}

// inQueue: the task waits already, or is with a worker.
func inQueue(err error) bool {
	return err != nil && strings.Contains(err.Error(), "maximum messages per subject exceeded")
}

// plain is an error without what wraps it.
func plain(err error) string {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Description
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(text, "nats: ")
}
