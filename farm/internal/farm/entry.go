package farm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/memwall/memwall"
	"github.com/memwall/memwall/internal/study"
)

// States of a study on the servers.
const (
	Running   = "running"
	Finished  = "finished"
	Cancelled = "cancelled"
	// Unreadable is what somebody put where a study should be.
	Unreadable = "unreadable"
)

// Entry is a study as workers read it.
type Entry struct {
	ID     string            `json:"id"`
	Name   string            `json:"name,omitempty"`
	Text   string            `json:"text"`
	Tables string            `json:"tables"`
	Traces map[string]string `json:"traces,omitempty"` // digests by name
	Points int64             `json:"points"`
}

// Progress is how far a study is.
type Progress struct {
	Points int64 `json:"points"`
	Done   int64 `json:"done"`
	// Dead are tasks that no worker came back from; Repeated answers that came more than once, all the same.
	Dead     int64 `json:"dead,omitempty"`
	Repeated int64 `json:"repeated,omitempty"`
	// Reused were there before anybody was asked: of another study, or of a run before.
	Reused int64 `json:"reused,omitempty"`
	// Checked answers were computed by the sweep as well. Liars gave others than it computed; AskedAgain is how often a
	// question was asked again since its answer was not to be believed.
	Checked    int64    `json:"checked,omitempty"`
	AskedAgain int64    `json:"asked_again,omitempty"`
	Liars      []string `json:"liars,omitempty"`
	// Workers that have answered, and Refused, who are of other tables.
	Workers int      `json:"workers,omitempty"`
	Refused []string `json:"refused,omitempty"`
	Trouble string   `json:"trouble,omitempty"`
}

// Status is what the servers know of a study.
type Status struct {
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"`
	State    string    `json:"state"`
	Tables   string    `json:"tables"`
	Progress *Progress `json:"progress,omitempty"`
	// Waiting tasks and those that are with workers, of all studies of the same tables.
	Waiting  uint64 `json:"waiting"`
	InFlight int    `json:"in_flight"`
}

const (
	studyKey    = ".study"
	stateKey    = ".state"
	progressKey = ".progress"
	refusedKey  = ".refused." // and an ID
)

// register a study, or go on with one.
func (f *Farm) register(ctx context.Context, e *Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if room := f.conn.MaxPayload() - 1024; int64(len(text)) > room {
		return &memwall.Error{Code: memwall.Limit, Field: "study",
			Message: fmt.Sprintf("the study file has %d bytes, more than the servers take in one message", len(e.Text)),
			Hint:    "shorter lists: seeds: 1..1000; or max_payload in the servers' configuration"}
	}
	return f.persist(ctx, "the study cannot be registered", func(ctx context.Context) error {
		if _, err := f.studies.Put(ctx, e.ID+studyKey, text); err != nil {
			return err
		}
		_, err := f.studies.PutString(ctx, e.ID+stateKey, Running)
		return err
	})
}

func (f *Farm) setState(ctx context.Context, id, state string) error {
	return f.persist(ctx, "the state of the study cannot be kept", func(ctx context.Context) error {
		_, err := f.studies.PutString(ctx, id+stateKey, state)
		return err
	})
}

// refuse a worker in a study, so that it learns of it.
func (f *Farm) refuse(ctx context.Context, study, id string) error {
	return f.persist(ctx, "the state of the study cannot be kept", func(ctx context.Context) error {
		_, err := f.studies.PutString(ctx, study+refusedKey+id, "another answer than the sweep's own")
		return err
	})
}

// entry of a study; jetstream.ErrKeyNotFound where there is none.
func (f *Farm) entry(ctx context.Context, id string) (*Entry, error) {
	var e Entry
	err := f.persist(ctx, "the study cannot be read", func(ctx context.Context) error {
		v, err := f.studies.Get(ctx, id+studyKey)
		if err != nil {
			return err
		}
		return json.Unmarshal(v.Value(), &e)
	})
	return &e, err
}

// expansion of an entry.
func (e *Entry) expansion() (*study.Study, error) {
	s, err := study.Read("the study", e.Text)
	if err != nil {
		return nil, err
	}
	s = s.Digested(e.Traces)
	if id := s.ID(e.Tables); id != e.ID {
		return nil, fmt.Errorf("study %s is %s here", e.ID, id)
	}
	return s, nil
}

// List gives the studies that the servers know, by their names.
func (f *Farm) List(ctx context.Context) ([]Status, error) {
	keys, err := f.studies.ListKeysFiltered(ctx, "*"+stateKey)
	if err != nil {
		return nil, err
	}
	var out []Status
	for key := range keys.Keys() {
		id := strings.TrimSuffix(key, stateKey)
		s, err := f.status(ctx, id)
		if err != nil && ctx.Err() == nil && !transient(err) { // one that is not a study is no reason to show none
			s, err = &Status{ID: printable(id), State: Unreadable}, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Status) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	return out, nil
}

func (f *Farm) status(ctx context.Context, id string) (*Status, error) {
	e, err := f.entry(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &Status{ID: id, Name: printable(e.Name), Tables: printable(e.Tables)}
	state, err := f.studies.Get(ctx, id+stateKey)
	if err != nil {
		return nil, err
	}
	s.State = printable(string(state.Value()))
	if p, err := f.studies.Get(ctx, id+progressKey); err == nil {
		s.Progress = &Progress{}
		if err := json.Unmarshal(p.Value(), s.Progress); err != nil {
			return nil, err
		}
		s.Progress.Trouble = bounded(s.Progress.Trouble, longWhy)
		for _, names := range [][]string{s.Progress.Refused, s.Progress.Liars} {
			for i := range names {
				names[i] = printable(names[i])
			}
		}
	}
	if c, err := f.tasks.Consumer(ctx, workersOf(e.Tables)); err == nil {
		info := c.CachedInfo()
		s.Waiting, s.InFlight = info.NumPending, info.NumAckPending
	}
	return s, nil
}

// Cancel a study by its ID or name: nobody works on it any more, what it has stays.
func (f *Farm) Cancel(ctx context.Context, which string) (*Status, error) {
	all, err := f.List(ctx)
	if err != nil {
		return nil, err
	}
	var found []Status
	var names []string
	for _, s := range all {
		names = append(names, or2(s.Name, s.ID))
		if s.ID == which || s.Name == which {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		message := "no study is called " + which
		if len(found) > 1 {
			message = fmt.Sprintf("%d studies are called %s", len(found), which)
		}
		return nil, &memwall.Error{Code: memwall.BadField, Field: "study", Value: which, Message: message,
			Hint: "one of: " + strings.Join(names, ", ") + "; or an ID of memwall-farm status"}
	}
	s := &found[0]
	if err := f.setState(ctx, s.ID, Cancelled); err != nil {
		return nil, err
	}
	s.State = Cancelled
	return s, f.drop(ctx, s.Tables, s.ID)
}

func or2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// drop the tasks of a study.
func (f *Farm) drop(ctx context.Context, tables, id string) error {
	return f.persist(ctx, "tasks cannot be dropped", func(ctx context.Context) error {
		return f.tasks.Purge(ctx, jetstream.WithPurgeSubject(taskSubject+tables+"."+id+".>"))
	})
}

// gone: what was looked for is not there.
func gone(err error) bool {
	return errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrKeyDeleted)
}

// Queued is how many tasks of all studies are in the queue, those that are with workers among them.
func (f *Farm) Queued(ctx context.Context) (uint64, error) {
	info, err := f.tasks.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.State.Msgs, nil
}
