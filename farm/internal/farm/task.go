package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall/internal/study"
)

// task is a question on its way: where it stands in which study, and whose tables it is for.
type task struct {
	Tables string `json:"tables"`
	Study  string `json:"study"`
	Index  int64  `json:"index"`
	// Fresh: whatever answer there is was not believed, and another is wanted.
	Fresh bool `json:"fresh,omitempty"`
	key   study.Key
}

func (t *task) subject() string { return taskSubject + t.Tables + "." + t.Study + "." + t.key.String() }

func (t *task) message() (*nats.Msg, error) {
	data, err := json.Marshal(t)
	return &nats.Msg{Subject: t.subject(), Data: data}, err
}

// readTask reads a task from its message; the subject has its key.
func readTask(subject string, data []byte) (*task, error) {
	t := &task{}
	err := json.Unmarshal(data, t)
	if err == nil {
		t.key, err = study.ParseKey(subject[strings.LastIndex(subject, ".")+1:])
	}
	if err == nil && t.subject() != subject {
		err = fmt.Errorf("it says that it is %s", t.subject())
	}
	return t, err
}

// event is what a worker tells the coordinators of a study. Nothing in it is signed: it says where to look.
type event struct {
	Kind   string `json:"kind"`
	Worker string `json:"worker,omitempty"`
	// Of a task that is done: By is the ID of whose answer is to be looked at, Again that it was there already.
	Index int64  `json:"index,omitempty"`
	Key   string `json:"key,omitempty"`
	By    string `json:"by,omitempty"`
	Again bool   `json:"again,omitempty"`
	// Why, in words; Tables of a worker that takes no part.
	Why    string `json:"why,omitempty"`
	Tables string `json:"tables,omitempty"`
}

// maxTold bounds a task and an event, in bytes, on the servers too.
const maxTold = 4 << 10

// readEvent reads what workers tell, with words that are safe to show.
func readEvent(data []byte) (*event, error) {
	e := &event{}
	if len(data) > maxTold {
		return nil, fmt.Errorf("it has %d bytes", len(data))
	}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	e.Worker, e.Why, e.Tables = printable(e.Worker), bounded(e.Why, longWhy), printable(e.Tables)
	return e, nil
}

// Kinds of events.
const (
	evDone    = "done"
	evRefused = "refused"
	evTrouble = "trouble"
)

// tell the coordinators of a study.
func (f *Farm) tell(ctx context.Context, id string, e *event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return f.persist(ctx, "the coordinator cannot be told", func(ctx context.Context) error {
		_, err := f.js.Publish(ctx, eventSubject+id, data)
		return err
	})
}

// errDropped is a task that nobody wants any more.
var errDropped = errors.New("nobody wants it")

// do answers a task. What it gives keeps the result, tells the coordinators and then acknowledges the task, which may be
// done while the next one is answered. The order matters: whoever dies between two of these leaves a task that is given out
// again, and finds its answer there.
func (w *Worker) do(ctx context.Context, msg jetstream.Msg) (finish func()) {
	t, err := readTask(msg.Subject(), msg.Data())
	if err != nil {
		w.say("what is not a task is dropped: " + bounded(err.Error(), longWhy))
		return func() { _ = msg.Term() }
	}
	quiet := w.beat(msg)
	then, err := w.answer(ctx, t)
	return func() {
		defer quiet()
		if err == nil {
			err = then()
		}
		w.settle(ctx, msg, t, err)
	}
}

// settle acknowledges a task that is done, and gives back what is not.
func (w *Worker) settle(ctx context.Context, msg jetstream.Msg, t *task, err error) {
	switch {
	case err == nil:
		err = w.farm.persist(ctx, "a task cannot be acknowledged", msg.DoubleAck)
		if err != nil && ctx.Err() == nil {
			w.say(fmt.Sprintf("a task is done and cannot be acknowledged: %v", plain(err)))
		}
	case ctx.Err() != nil:
		_ = msg.Nak() // another takes it at once; if this is lost, after the silence
	case errors.Is(err, errDropped):
		_ = msg.Term()
	default:
		w.say(fmt.Sprintf("a task is put back: %v", plain(err)))
		_ = w.farm.tell(ctx, t.Study, &event{Kind: evTrouble, Worker: w.Name, Index: t.Index, Why: plain(err)})
		_ = msg.NakWithDelay(w.farm.set.AckWait / 3)
	}
}

// beat tells the server that the task is alive, until the function that it gives is called.
func (w *Worker) beat(msg jetstream.Msg) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(w.farm.set.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = msg.InProgress() // one that is lost is followed by another
			}
		}
	}()
	return func() { close(done) }
}

// answer a task, unless that was done before, and give what keeps the answer and tells of it.
func (w *Worker) answer(ctx context.Context, t *task) (then func() error, err error) {
	if t.Tables != w.Tables {
		w.refuse(ctx, t.Study, t.Tables)
		return nil, fmt.Errorf("the task is for tables %s, and these are %s", t.Tables, w.Tables)
	}
	job, err := w.job(ctx, t.Study)
	if err != nil {
		return nil, err
	}
	p := job.study.At(t.Index, t.Tables)
	if p.Key != t.key {
		return nil, fmt.Errorf("question %d of study %s has key %s here, not %s", t.Index, t.Study, p.Key, t.key)
	}
	e := &event{Kind: evDone, Index: t.Index, Key: t.key.String(), By: w.By.ID()}
	if by, there, err := w.answered(ctx, t); err != nil || there {
		e.By, e.Again = by, true
		return func() error { return w.farm.tell(ctx, t.Study, e) }, err
	}
	answer, took, err := w.compute(job, p)
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := w.keep(job, p, answer, took); err != nil {
			return err
		}
		return w.farm.tell(ctx, t.Study, e)
	}, nil
}

// answered: somebody's answer is on the servers. Whether it is to be believed is the sweep's to say: a task whose answer was
// not is fresh.
func (w *Worker) answered(ctx context.Context, t *task) (by string, ok bool, err error) {
	if t.Fresh {
		return "", false, nil
	}
	by, err = w.farm.answered(ctx, t.key, func(string) bool { return false })
	if gone(err) {
		return "", false, nil
	}
	return by, err == nil, err
}

// compute asks; took is in seconds.
func (w *Worker) compute(job *job, p *study.Point) (answer []byte, took float64, err error) {
	if err := w.ready(p); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	answer, err = w.askers.answer(job.ctx, p.Request)
	if job.ctx.Err() != nil { // an answer that was cut short is none
		return nil, 0, errDropped
	}
	return answer, time.Since(began).Seconds(), err
}

func (w *Worker) keep(job *job, p *study.Point, answer []byte, took float64) error {
	err := w.farm.keep(job.ctx, w.By, p.Key, answer, took, func(err error) {
		_ = w.farm.tell(job.ctx, job.id, &event{Kind: evTrouble, Worker: w.Name, Index: p.Index,
			Why: "results cannot be kept: " + plain(err)})
	})
	if job.ctx.Err() != nil {
		return errDropped
	}
	return err
}

// ready fetches the trace of a question, so that one that cannot be had is not an answer.
func (w *Worker) ready(p *study.Point) error {
	name := p.Trace()
	if name == "" {
		return nil
	}
	r, err := w.cache.Trace(name)
	if err != nil {
		return err
	}
	return r.Close()
}
