package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/farm/internal/studyfile"
)

// gather is how many events are taken together.
const gather = 256

// collect takes what workers tell into the results until all points have one.
func (s *Sweep) collect(ctx context.Context, events jetstream.Consumer) error {
	quiet := time.Now()
	long := min(s.Farm.set.AckWait, or(s.Patience, patience)/2)
	for s.snapshot().Done < s.at.Points {
		msgs, err := s.next(ctx, events)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(msgs) > 0 {
			quiet = time.Now()
			if err := s.take(ctx, msgs); err != nil {
				return err
			}
			continue
		}
		if time.Since(quiet) > long {
			quiet = time.Now()
			if err := s.reconcile(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// next waits for an event and takes those with it that are there too; none where it is quiet.
func (s *Sweep) next(ctx context.Context, events jetstream.Consumer) (out []jetstream.Msg, err error) {
	wait, stop := context.WithTimeout(ctx, min(time.Second, s.Farm.set.AckWait))
	defer stop()
	msg, err := events.Next(jetstream.FetchContext(wait))
	switch {
	case err == nil:
		out = append(out, msg)
	case errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrConsumerDeleted):
		return nil, err
	default:
		if !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) {
			pause(wait, 200*time.Millisecond) // a server that went away
		}
		return nil, nil
	}
	more, err := events.FetchNoWait(gather - 1)
	if err != nil {
		return out, nil
	}
	for msg := range more.Messages() {
		out = append(out, msg)
	}
	return out, nil
}

// take events into the results, and acknowledge them when they are there.
func (s *Sweep) take(ctx context.Context, msgs []jetstream.Msg) error {
	var all []*arrival
	for _, m := range msgs {
		a, err := s.understand(ctx, m)
		if err != nil {
			return err
		}
		if a != nil {
			all = append(all, a)
		}
	}
	if err := s.settle(ctx, all); err != nil {
		return err
	}
	for _, m := range msgs {
		_ = m.Ack() // one that is lost comes again, and changes nothing
	}
	return nil
}

// understand an event; nil for one that brings no answer.
func (s *Sweep) understand(ctx context.Context, m jetstream.Msg) (*arrival, error) {
	if strings.HasPrefix(m.Subject(), advisories) {
		return s.died(ctx, m.Data())
	}
	e, err := readEvent(m.Data())
	if err != nil {
		s.complain("events are not understood", "an event is not understood: "+bounded(err.Error(), longWhy))
		return nil, nil
	}
	switch e.Kind {
	case evRefused:
		s.stranger(e)
	case evTrouble:
		s.trouble(e.Worker + ": " + e.Why)
	case evDone:
		return s.said(e), nil
	}
	return nil, nil
}

// said to be done; nil of what was not asked.
func (s *Sweep) said(e *event) *arrival {
	if e.Index >= 0 && e.Index < s.at.Points && isID(e.By) {
		if p := s.Study.At(e.Index, s.Tables); p.Key.String() == e.Key {
			return &arrival{row: studyfile.Row{Index: e.Index, Key: e.Key}, point: p, by: e.By, again: e.Again}
		}
	}
	s.complain("events are of what was not asked", fmt.Sprintf("somebody says that what was not asked is done: question %d", e.Index))
	return nil
}

// mostStrangers of other tables that are named.
const mostStrangers = 100

// stranger is a worker of other tables.
func (s *Sweep) stranger(e *event) {
	s.mu.Lock()
	known := slices.Contains(s.at.Refused, e.Worker)
	if !known && len(s.at.Refused) < mostStrangers {
		s.at.Refused = append(s.at.Refused, e.Worker)
	}
	s.mu.Unlock()
	if !known {
		s.complain("workers take no part", fmt.Sprintf("%s takes no part: it has tables %s, and the study is of %s; give it the same "+
			"memwall-farm", e.Worker, e.Tables, s.Tables))
	}
}

// died is a task that was given out as often as it may be; nil where it is another study's, or was done after all.
func (s *Sweep) died(ctx context.Context, advisory []byte) (*arrival, error) {
	var a struct {
		Seq        uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
	}
	if err := json.Unmarshal(advisory, &a); err != nil {
		return nil, nil
	}
	var raw *jetstream.RawStreamMsg
	err := s.Farm.persist(ctx, "the queue cannot be read", func(ctx context.Context) (err error) {
		raw, err = s.Farm.tasks.GetMsg(ctx, a.Seq)
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := readTask(raw.Subject, raw.Data)
	if err != nil || t.Study != s.id {
		return nil, nil
	}
	return s.bury(ctx, t, a.Deliveries)
}

// bury a task: its result says that there is none.
func (s *Sweep) bury(ctx context.Context, t *task, deliveries int) (*arrival, error) {
	answer, err := json.Marshal(&memwall.Answer{Schema: memwall.Schema, Version: memwall.Version, Ask: s.Study.Ask, Error: &memwall.Error{
		Code: memwall.Internal, Field: "study", Value: t.key.String(),
		Message: fmt.Sprintf("the question was given out %d times, and no worker came back with an answer", deliveries),
		Hint:    "a worker that it kills, for want of memory perhaps: ask it alone with memwall batch; --again tries the dead once more",
	}})
	if err != nil {
		return nil, err
	}
	if err := s.Farm.purge(ctx, t.subject()); err != nil {
		return nil, err
	}
	return &arrival{row: studyfile.Row{Index: t.Index, Key: t.key.String(), Answer: answer, Dead: true}}, nil
}

func (f *Farm) purge(ctx context.Context, subject string) error {
	return f.persist(ctx, "tasks cannot be dropped", func(ctx context.Context) error {
		return f.tasks.Purge(ctx, jetstream.WithPurgeSubject(subject))
	})
}

// counted changes what is told of the sweep.
func (s *Sweep) counted(change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.at)
}

// count what came: fresh tells what is new.
func (s *Sweep) count(all []*arrival, fresh []bool) {
	n := int64(0)
	s.mu.Lock()
	for i, a := range all {
		if !fresh[i] {
			continue
		}
		n++
		switch {
		case a.row.Dead:
			s.at.Dead++
		case a.again:
			s.at.Reused++
		}
		if a.by != "" {
			s.workers[a.by] = true
		}
	}
	s.at.Done += n
	if s.moved = time.Now(); n > 0 {
		s.at.Trouble = ""
	}
	s.mu.Unlock()
	for range n {
		select {
		case <-s.room:
		default:
		}
	}
}

// reconcile looks at every point without a result, when nothing has come for long: its answer may be there though nobody
// told, its task may be dead though nobody said so, or it may be lost, and is asked again.
func (s *Sweep) reconcile(ctx context.Context) error {
	var info *jetstream.ConsumerInfo
	err := s.Farm.persist(ctx, "the queue cannot be read", func(ctx context.Context) error {
		c, err := s.Farm.tasks.Consumer(ctx, workersOf(s.Tables))
		if err == nil {
			info = c.CachedInfo()
		}
		return err
	})
	if err != nil || info.NumPending > 0 || info.NumAckPending > 0 {
		return err
	}
	for from := int64(0); from < s.at.Points; from += window {
		missing, err := s.Results.Missing(ctx, from, min(from+window, s.at.Points))
		if err != nil {
			return err
		}
		for _, i := range missing {
			if err := s.find(ctx, s.task(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// find out about one point.
func (s *Sweep) find(ctx context.Context, t *task) error {
	by, err := s.Farm.answered(ctx, t.key, s.trust.refused)
	if err == nil {
		return s.settle(ctx, []*arrival{{row: studyfile.Row{Index: t.Index, Key: t.key.String()}, point: s.Study.At(t.Index, s.Tables),
			by: by, again: true}})
	}
	if !gone(err) {
		return err
	}
	var raw *jetstream.RawStreamMsg
	err = s.Farm.persist(ctx, "the queue cannot be read", func(ctx context.Context) (err error) {
		raw, err = s.Farm.tasks.GetLastMsgForSubject(ctx, t.subject())
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return s.queue(ctx, t.Index)
	case err != nil:
		return err
	}
	return s.stranded(ctx, t, raw.Sequence)
}

// stranded is a task in the queue that waits for nobody and is with nobody: it was given out as often as it may be, and
// the word of that was lost, or the queue's reader has lost its place. The reader is made anew first, once: then it gives the
// task out, or tells that it is dead. One that came after what the reader was last given only waits.
func (s *Sweep) stranded(ctx context.Context, t *task, seq uint64) error {
	c, err := s.Farm.tasks.Consumer(ctx, workersOf(s.Tables))
	if err != nil {
		return err
	}
	info := c.CachedInfo()
	switch {
	case info.NumPending > 0 || info.NumAckPending > 0 || info.Delivered.Stream < seq:
		return nil
	case !s.renewed:
		s.renewed = true
		s.Farm.say("tasks wait that nobody is given: the queue is read anew")
		return s.Farm.renew(ctx, s.Tables)
	}
	a, err := s.bury(ctx, t, info.Config.MaxDeliver)
	if err != nil {
		return err
	}
	return s.settle(ctx, []*arrival{a})
}

// renew the reader of the queue, which begins with the first task that is there.
func (f *Farm) renew(ctx context.Context, tables string) error {
	err := f.persist(ctx, "the queue cannot be read", func(ctx context.Context) error {
		return f.tasks.DeleteConsumer(ctx, workersOf(tables))
	})
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	_, err = f.workers(ctx, tables)
	return err
}
