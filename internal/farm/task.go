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

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/batch"
	"github.com/memwall/memwall/internal/study"
)

// task is a question on its way: where it stands in which study, and whose tables it is for.
type task struct {
	Tables string `json:"tables"`
	Study  string `json:"study"`
	Index  int64  `json:"index"`
	key    study.Key
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

// event is what a worker tells the coordinators of a study.
type event struct {
	Kind   string `json:"kind"`
	Worker string `json:"worker"`
	// Of a task that is done.
	Index int64   `json:"index,omitempty"`
	Key   string  `json:"key,omitempty"`
	Took  float64 `json:"took_s,omitempty"`
	Kept  kept    `json:"kept,omitempty"`
	Again bool    `json:"again,omitempty"` // the answer was there before anybody was asked
	// Why, in words; Tables of a worker that takes no part.
	Why    string `json:"why,omitempty"`
	Tables string `json:"tables,omitempty"`
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
	quiet := w.beat(msg)
	t, err := readTask(msg.Subject(), msg.Data())
	then := func() error { return err }
	if err == nil {
		then, err = w.answer(ctx, t)
	}
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
		if t != nil {
			_ = w.farm.tell(ctx, t.Study, &event{Kind: evTrouble, Worker: w.Name, Index: t.Index, Why: plain(err)})
		}
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
	e := &event{Kind: evDone, Worker: w.Name, Index: t.Index, Key: t.key.String()}
	var answer []byte
	err = w.farm.persist(ctx, "results cannot be read", func(ctx context.Context) error {
		_, err := w.farm.results.Get(ctx, t.key.String())
		return err
	})
	switch {
	case err == nil:
		e.Again = true
	case gone(err):
		if answer, err = w.compute(job, p, e); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	return func() error {
		if err := w.keep(job, p, answer, e); err != nil {
			return err
		}
		return w.farm.tell(ctx, t.Study, e)
	}, nil
}

// compute asks.
func (w *Worker) compute(job *job, p *study.Point, e *event) ([]byte, error) {
	if err := w.ready(p); err != nil {
		return nil, err
	}
	began := time.Now()
	answer, err := Answer(p.Request, func(r *memwall.Request) (*memwall.Answer, error) { return w.ask(job.ctx, r) })
	if job.ctx.Err() != nil { // an answer that was cut short is none
		return nil, errDropped
	}
	e.Took = time.Since(began).Seconds()
	return answer, err
}

// keep an answer, where there is a new one.
func (w *Worker) keep(job *job, p *study.Point, answer []byte, e *event) (err error) {
	if e.Again {
		return nil
	}
	e.Kept, err = w.farm.keep(job.ctx, p.Key, answer, func(err error) {
		_ = w.farm.tell(job.ctx, job.id, &event{Kind: evTrouble, Worker: w.Name, Index: p.Index, Why: "results cannot be kept: " + plain(err)})
	})
	if job.ctx.Err() != nil {
		return errDropped
	}
	return err
}

// Answer is the JSON of what a request in its normal form is answered with: a line of memwall batch.
func Answer(request []byte, ask func(*memwall.Request) (*memwall.Answer, error)) ([]byte, error) {
	return json.Marshal((&batch.Line{Text: request}).Answer(ask))
}

// ready fetches the trace of a question, so that one that cannot be had is no answer.
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
